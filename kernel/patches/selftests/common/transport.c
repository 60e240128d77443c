// SPDX-License-Identifier: GPL-2.0-only
#include "names.h"
/* @readdirplus */
#include "plus.h"
/* @end */
#include "test.h"
#include "transport.h"

const char *transport_name(enum transport_kind kind)
{
	return kind == TRANSPORT_ASYNC ? "async" : "inline";
}

bool transport_has(enum transport_kind kind, unsigned int opcode)
{
	struct {
		struct io_uring_probe probe;
		struct io_uring_probe_op ops[256];
	} probe = { };
	struct ring ring;
	bool found;

	(void)kind;
	if (ring_open(&ring, 4, 0))
		return false;
	found = ring_register(&ring, IORING_REGISTER_PROBE, &probe, 256) >= 0 &&
		probe.ops[opcode].flags & IO_URING_OP_SUPPORTED;
	ring_close(&ring);
	return found;
}

void transport_open(struct transport *transport, enum transport_kind kind, unsigned int entries)
{
	int error = ring_open(&transport->ring, entries ? entries : 8, 0);

	if (error)
		test_skip("no io_uring: %s", strerror(-error));
	transport->kind = kind;
/* @readdirplus */
	transport->args = calloc(transport->ring.entries, sizeof(*transport->args));
	MUST(transport->args);
/* @end */
}

void transport_close(struct transport *transport)
{
	ring_close(&transport->ring);
/* @readdirplus */
	free(transport->args);
	transport->args = NULL;
/* @end */
}

struct getdents_request request_getdents(int fd, void *buf, uint32_t len)
{
	return (struct getdents_request){
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.off = OFF_CURRENT,
	};
}

static void fill_getdents(struct io_uring_sqe *sqe, const struct getdents_request *request)
{
	io_uring_prep_getdents(sqe, request->fd, (void *)(uintptr_t)request->buf, request->len,
			       request->off);
}

/* @readdirplus */
struct readdirplus_request request_readdirplus(int fd, void *buf, uint32_t len)
{
	return (struct readdirplus_request){
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.off = OFF_CURRENT,
		.fields.mask = STATX_BASIC_STATS,
	};
}

static void fill_readdirplus(struct transport *transport, struct io_uring_sqe *sqe,
			     const struct readdirplus_request *request)
{
	struct readdirplus_args *args = &transport->args[ring_index(&transport->ring, sqe)];

	*args = request->fields;
	args->flags = request->flags;
	args->max_entries = request->max_entries;
	io_uring_prep_readdirplus(sqe, request->fd, (void *)(uintptr_t)request->buf, request->len,
				  request->off, args);
}

/* Returns the number of records in the output. */
static uint32_t count_records(const struct readdirplus_request *request, int bytes)
{
	const char *at = (const char *)(uintptr_t)request->buf, *end = at + bytes;
	uint32_t count = 0;

	while (at < end) {
		uint32_t reclen = ((const struct readdirplus_entry *)at)->reclen;

		if (reclen < sizeof(struct readdirplus_entry) || reclen > end - at)
			return UINT32_MAX;
		at += reclen;
		count++;
	}
	return count;
}

/* @end */
void transport_fill(struct transport *transport, struct io_uring_sqe *sqe, unsigned int opcode,
		    void *request)
{
	switch (opcode) {
	case IORING_OP_GETDENTS:
		fill_getdents(sqe, request);
		break;
/* @readdirplus */
	case IORING_OP_READDIRPLUS:
		fill_readdirplus(transport, sqe, request);
		break;
/* @end */
	default:
		test_stop(__FILE__, __LINE__, "operation %u reads no directories", opcode);
	}
	if (transport->kind == TRANSPORT_ASYNC)
		sqe->flags |= IOSQE_ASYNC;
}

void transport_finish(struct transport *transport, unsigned int opcode, void *request,
		      const struct io_uring_cqe *cqe)
{
	struct getdents_request *names = request;
/* @readdirplus */
	struct readdirplus_request *plus = request;
/* @end */

	(void)transport;
	if (cqe->res < 0)
		return;
/* @readdirplus */
	if (opcode == IORING_OP_READDIRPLUS) {
		plus->result_flags = cqe->flags;
		plus->entries = count_records(plus, cqe->res);
	}
/* @end */
	if (opcode == IORING_OP_GETDENTS)
		names->result_flags = cqe->flags;
}

bool transport_queue(struct transport *transport, unsigned int opcode, void *request,
		     uint64_t user_data)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	if (!sqe)
		return false;
	transport_fill(transport, sqe, opcode, request);
	sqe->user_data = user_data;
	return true;
}

long transport_call(struct transport *transport, unsigned int opcode, void *request)
{
	struct io_uring_cqe cqe;
	int error;

	MUST(transport_queue(transport, opcode, request, 1));
	error = ring_wait(&transport->ring, &cqe);
	if (error)
		test_stop(__FILE__, __LINE__, "io_uring_enter: %s", strerror(-error));
	transport_finish(transport, opcode, request, &cqe);
	return cqe.res;
}
