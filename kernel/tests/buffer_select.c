// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests name their own buffers. With IOSQE_BUFFER_SELECT, which asks the kernel to choose one of
 * a group, they are refused and write nothing.
 */
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define GROUP	7

static char buf[4096] __attribute__((aligned(8)));
static char group[4][4096] __attribute__((aligned(8)));

static void provide(struct transport *transport)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);
	struct io_uring_cqe cqe;

	MUST(sqe);
	sqe->opcode = IORING_OP_PROVIDE_BUFFERS;
	sqe->fd = ARRAY_SIZE(group);
	sqe->addr = (uintptr_t)group;
	sqe->len = sizeof(group[0]);
	sqe->buf_group = GROUP;
	MUST(ring_wait(&transport->ring, &cqe) == 0 && cqe.res >= 0);
}

static bool is_filled_with(const char *memory, size_t len, char byte)
{
	for (size_t i = 0; i < len; i++)
		if (memory[i] != byte)
			return false;
	return true;
}

static void refused(struct transport *transport, unsigned int command, void *request, const char *name)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);
	struct io_uring_cqe cqe;

	MUST(sqe);
	memset(buf, 'x', sizeof(buf));
	memset(group, 'x', sizeof(group));
	transport_fill(transport, sqe, command, request);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	MUST(ring_wait(&transport->ring, &cqe) == 0);
	/* A command of a driver has another error on Linux 7.3. */
	CHECK(cqe.res == -EOPNOTSUPP || (!transport_is_opcode(transport->kind) && cqe.res == -EINVAL), "%s: %d", name, cqe.res);
	CHECK(!(cqe.flags & IORING_CQE_F_BUFFER), "%s has taken a buffer", name);
	CHECK(is_filled_with(buf, sizeof(buf), 'x') && is_filled_with(group[0], sizeof(group), 'x'), "%s has written", name);
}

static void run(struct env *env)
{
	struct ringwalk_getdents dents = request_getdents(env->fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(env->fd, buf, sizeof(buf));
	struct ringwalk_readtree tree = request_readtree(env->fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(env->fd);
	struct transport transport;

	tree_files(env->fd, "file", 5);
	transport_open(&transport, env->kind, 0);
	provide(&transport);
	refused(&transport, RINGWALK_IOC_GETDENTS, &dents, "getdents");
	if (transport_has(transport.kind, OPCODE_READDIRPLUS))
		refused(&transport, RINGWALK_IOC_READDIRPLUS, &plus, "readdirplus");
	if (!transport_is_opcode(transport.kind))
		refused(&transport, RINGWALK_IOC_READTREE, &tree, "readtree");
	if (!transport_is_opcode(transport.kind))
		refused(&transport, RINGWALK_IOC_READAHEAD, &ahead, "readahead");
	CHECK(lseek(env->fd, 0, SEEK_CUR) == 0, "the position moved");
	transport_close(&transport);
}

const struct test test = {
	.name = "buffer_select",
	.kinds = BY_RING | BY_OPCODE,
	.run = run,
};
