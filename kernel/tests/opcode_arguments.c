// SPDX-License-Identifier: GPL-2.0-only
/*
 * IORING_OP_READDIRPLUS refuses invalid entries and arguments. Larger arguments than the kernel
 * knows are valid if they ask for nothing new.
 */
#include <unistd.h>

#include "lib/names.h"
#include "lib/plus.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT	20
#define LEN	8192

static char buf[LEN] __attribute__((aligned(8)));

/* Queues a request for one folder. */
static struct io_uring_sqe *queue(struct transport *transport, int fd)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	MUST(sqe);
	transport_fill(transport, sqe, RINGWALK_IOC_READDIRPLUS, &request);
	return sqe;
}

static long complete(struct transport *transport, struct io_uring_cqe *cqe)
{
	MUST(ring_wait(&transport->ring, cqe) == 0);
	return cqe->res;
}

static struct opcode_readdirplus_args *args_of(struct io_uring_sqe *sqe)
{
	return (void *)(uintptr_t)sqe->addr3;
}

static void args_xattrs(struct opcode_readdirplus_args *args, const char *names, uint32_t len,
			uint32_t value_max, uint32_t entry_max)
{
	args->xattr_names = (uintptr_t)names;
	args->xattr_names_len = len;
	args->xattr_value_max = value_max;
	args->xattr_entry_max = entry_max;
}

/* Fields of the entry and arguments with invalid values, one at a time. */
static void values_refused(struct transport *transport, int fd)
{
	static const char *const names[] = { "rw_flags",
					     "buf_index",
					     "splice_fd_in",
					     "pad2",
					     "off -2",
					     "buffer not aligned",
					     "unknown flag",
					     "another unknown flag",
					     "reserved",
					     "unknown mask",
					     "both syncs",
					     "names without length",
					     "length without names",
					     "names and all",
					     "entry_max of the buffer",
					     "entry_max too large",
					     "names not ended",
					     "no room for a record" };
	struct io_uring_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct io_uring_sqe *sqe = queue(transport, fd);
		struct opcode_readdirplus_args *args = args_of(sqe);

		switch (i) {
		case 0:
			sqe->rw_flags = 1;
			break;
		case 1:
			sqe->buf_index = 1;
			break;
		case 2:
			sqe->splice_fd_in = 1;
			break;
		case 3:
			sqe->__pad2[0] = 1;
			break;
		case 4:
			sqe->off = -2;
			break;
		case 5:
			sqe->addr += 4;
			break;
		case 6:
			args->flags = 1 << 1;
			break;
		case 7:
			args->flags = 1u << 31;
			break;
		case 8:
			args->reserved = 1;
			break;
		case 9:
			args->mask |= 1 << 30;
			break;
		case 10:
			args->stat_flags = AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC;
			break;
		case 11:
			args->xattr_names = (uintptr_t)"user.a";
			break;
		case 12:
			args->xattr_names_len = 7;
			break;
		case 13:
			args->flags = OPCODE_XATTR_ALL;
			args_xattrs(args, "user.a", 7, 100, 100);
			break;
		case 14:
			args_xattrs(args, "user.a", 7, 100, LEN);
			break;
		case 15:
			sqe->len = 1 << 20;
			args_xattrs(args, "user.a", 7, 100, (128 << 10) + 1);
			break;
		case 16:
			args_xattrs(args, "user.a", 6, 100, 100);
			break;
		/* The record of ".." is shorter than others: it has no metadata. */
		case 17:
			sqe->len = sizeof(struct ringwalk_entry);
			break;
		}
		CHECK(complete(transport, &cqe) == -EINVAL, "%s: %d", names[i], cqe.res);
	}
	queue(transport, fd)->flags |= IOSQE_BUFFER_SELECT;
	CHECK(complete(transport, &cqe) == -EOPNOTSUPP, "a provided buffer: %d", cqe.res);
	queue(transport, fd)->addr3 = 8;
	CHECK(complete(transport, &cqe) == -EFAULT, "arguments nowhere: %d", cqe.res);
}

/*
 * The entry may have the size of the arguments. Larger arguments are valid if the fields that this
 * kernel does not know are zero.
 */
static void sizes(struct transport *transport, int fd)
{
	static const struct {
		uint32_t size;
		unsigned char byte;
		int error;
	} tried[] = {
		{ 0, 1, 0 },	   { 40, 1, 0 },	{ 41, 0, 0 },	    { 64, 0, 0 },
		{ 4096, 0, 0 },	   { 1, 0, -EINVAL },	{ 39, 0, -EINVAL }, { 41, 1, -E2BIG },
		{ 64, 1, -E2BIG }, { 4097, 0, -E2BIG },
	};
	static unsigned char args[4097] __attribute__((aligned(8)));
	struct io_uring_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
		struct io_uring_sqe *sqe = queue(transport, fd);

		memset(args, 0, sizeof(args));
		memcpy(args, args_of(sqe), sizeof(struct opcode_readdirplus_args));
		args[tried[i].size < 42 ? 40 : tried[i].size - 1] = tried[i].byte;
		sqe->addr3 = (uintptr_t)args;
		sqe->file_index = tried[i].size;
		sqe->off = 0;
		complete(transport, &cqe);
		CHECK(tried[i].error ? cqe.res == tried[i].error : cqe.res > 0,
		      "%u bytes, the next one %u: %d", tried[i].size, tried[i].byte, cqe.res);
	}
}

static void run(struct env *env)
{
	struct transport transport;
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	transport_open(&transport, env->kind, 0);
	tree_files(fd, "file", COUNT);
	list_read(&list, fd);
	sizes(&transport, fd);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	values_refused(&transport, fd);
	/* Nothing was read by these. */
	request_check_names(&transport, fd, LEN, &list, 0, "after requests that were refused");
	list_free(&list);
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_arguments",
	.kinds = BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
