// SPDX-License-Identifier: GPL-2.0-only
/*
 * IORING_OP_READDIRPLUS as a request: registered files, arguments copied when it is submitted,
 * values that are refused, many in flight, output that cannot be written. readdirplus.c compares
 * its output with the system calls.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT	600
#define FLIGHT	8
#define LEN	8192

static char buf[FLIGHT][LEN] __attribute__((aligned(8)));

static struct io_uring_sqe *queue(struct transport *transport, struct ringwalk_readdirplus *request, uint64_t user_data)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	MUST(sqe);
	transport_fill(transport, sqe, RINGWALK_IOC_READDIRPLUS, request);
	sqe->user_data = user_data;
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

static void args_xattrs(struct opcode_readdirplus_args *args, const char *names, uint32_t len, uint32_t value_max, uint32_t entry_max)
{
	args->xattr_names = (uintptr_t)names;
	args->xattr_names_len = len;
	args->xattr_value_max = value_max;
	args->xattr_entry_max = entry_max;
}

/*
 * Several in flight on one open file, registered or not: each gets a piece, no entry is given
 * twice, metadata is that of the entry.
 */
static void pieces(struct transport *transport, const char *path, const struct list *list, bool fixed)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	bool seen[COUNT + 2] = { }, end = false;
	struct io_uring_cqe cqe;
	size_t total = 0;

	if (fixed)
		MUST(ring_register(&transport->ring, IORING_REGISTER_FILES, &fd, 1) == 0);
	while (!end && !test_failures()) {
		for (int i = 0; i < FLIGHT; i++) {
			struct ringwalk_readdirplus request = request_readdirplus(fixed ? 0 : fd, buf[i], LEN);

			queue(transport, &request, i)->flags |= fixed ? IOSQE_FIXED_FILE : 0;
		}
		for (int i = 0; i < FLIGHT; i++) {
			struct ringwalk_fields fields = { .mask = STATX_BASIC_STATS };
			struct compare compare = request_compare(transport, fd, path, &fields, 0, true);
			long bytes = complete(transport, &cqe);
			const char *at = buf[cqe.user_data];
			struct record record;

			CHECK(bytes >= 0, "%ld", bytes);
			for (const char *stop = at + (bytes > 0 ? bytes : 0); at < stop; at = record.next, total++) {
				const char *bad = record_parse(at, stop - at, &fields, &record);
				long number;

				CHECK(!bad, "%s", bad);
				if (bad)
					return;
				number = list_find(list, record.name);
				CHECK(number >= 0 && !seen[number], "%s was there %s", record.name, number < 0 ? "never" : "twice");
				if (number < 0)
					continue;
				seen[number] = true;
				CHECK_NULL(compare_record(&compare, &record, list->at[number]), "%s", record.name);
			}
			end |= cqe.flags & IORING_CQE_F_DIR_END;
		}
	}
	CHECK(total == list->count, "%zu entries, not %zu", total, list->count);
	if (fixed)
		MUST(ring_register(&transport->ring, IORING_UNREGISTER_FILES, NULL, 0) == 0);
	close(fd);
}

/* IORING_FEAT_SUBMIT_STABLE: after submission the kernel does not read the arguments again. */
static void copied_when_submitted(struct transport *transport, int fd, const char *path, const struct list *list)
{
	char names[] = "user.one\0user.two";
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf[0], LEN), kept;
	struct compare compare;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;

	for (int round = 0; round < 20; round++) {
		request.off = 0;
		request_xattrs(&request.fields, names, sizeof(names), 100, 128);
		kept = request;
		sqe = queue(transport, &request, 1);
		sqe->flags |= IOSQE_ASYNC;
		MUST(ring_submit(&transport->ring, 0) == 1);
		memset(args_of(sqe), 0xff, sizeof(struct opcode_readdirplus_args));
		memset(names, 'x', sizeof(names));
		memset(sqe, 0xff, sizeof(*sqe));
		complete(transport, &cqe);
		memcpy(names, "user.one\0user.two", sizeof(names));
		CHECK(cqe.res > 0, "%d", cqe.res);
		if (cqe.res <= 0)
			return;
		transport_finish(transport, RINGWALK_IOC_READDIRPLUS, &kept, &cqe);
		compare = request_compare(transport, fd, path, &kept.fields, 0, true);
		CHECK_NULL(compare_batch(&compare, buf[0], cqe.res, kept.entries, list, 0), "round %d", round);
	}
}

/* Fields of the entry and arguments with invalid values, one at a time. */
static void values_refused(struct transport *transport, int fd)
{
	static const char *const names[] = {
		"rw_flags", "buf_index", "splice_fd_in", "pad2", "off -2", "buffer not aligned", "unknown flag", "another unknown flag",
		"unknown mask", "both syncs", "reserved", "names without length", "length without names", "names and all",
		"entry_max of the buffer", "entry_max too large", "names not ended"
	};
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf[0], LEN);
	struct io_uring_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct io_uring_sqe *sqe = queue(transport, &request, i);
		struct opcode_readdirplus_args *args = args_of(sqe);

		switch (i) {
		case 0: sqe->rw_flags = 1; break;
		case 1: sqe->buf_index = 1; break;
		case 2: sqe->splice_fd_in = 1; break;
		case 3: sqe->__pad2[0] = 1; break;
		case 4: sqe->off = -2; break;
		case 5: sqe->addr += 4; break;
		case 6: args->flags = 1 << 2; break;
		case 7: args->flags = 1u << 31; break;
		case 8: args->mask |= 1 << 30; break;
		case 9: args->stat_flags = AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC; break;
		case 10: args->reserved = 1; break;
		case 11: args->xattr_names = (uintptr_t)"user.a"; break;
		case 12: args->xattr_names_len = 7; break;
		case 13:
			args->flags = OPCODE_XATTR_ALL;
			args_xattrs(args, "user.a", 7, 100, 100);
			break;
		case 14: args_xattrs(args, "user.a", 7, 100, LEN); break;
		case 15:
			sqe->len = 1 << 20;
			args_xattrs(args, "user.a", 7, 100, (128 << 10) + 1);
			break;
		case 16: args_xattrs(args, "user.a", 6, 100, 100); break;
		}
		CHECK(complete(transport, &cqe) == -EINVAL, "%s: %d", names[i], cqe.res);
	}
	queue(transport, &request, 1)->flags |= IOSQE_BUFFER_SELECT;
	CHECK(complete(transport, &cqe) == -EOPNOTSUPP, "a provided buffer: %d", cqe.res);
	queue(transport, &request, 1)->addr3 = 8;
	CHECK(complete(transport, &cqe) == -EFAULT, "arguments nowhere: %d", cqe.res);
}

/*
 * The entry may have the size of the arguments. Larger arguments are valid if the fields that this
 * kernel does not know are zero.
 */
static void sizes(struct transport *transport, int fd)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf[0], LEN);
	static const struct {
		uint32_t size;
		unsigned char byte;
		int error;
	} tried[] = {
		{ 0, 1, 0 }, { 40, 1, 0 }, { 41, 0, 0 }, { 64, 0, 0 }, { 4096, 0, 0 },
		{ 1, 0, -EINVAL }, { 39, 0, -EINVAL }, { 41, 1, -E2BIG }, { 64, 1, -E2BIG }, { 4097, 0, -E2BIG },
	};
	static unsigned char args[4097] __attribute__((aligned(8)));
	struct io_uring_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
		struct io_uring_sqe *sqe = queue(transport, &request, i);

		memset(args, 0, sizeof(args));
		memcpy(args, args_of(sqe), sizeof(struct opcode_readdirplus_args));
		args[tried[i].size < 42 ? 40 : tried[i].size - 1] = tried[i].byte;
		sqe->addr3 = (uintptr_t)args;
		sqe->file_index = tried[i].size;
		sqe->off = 0;
		complete(transport, &cqe);
		CHECK(tried[i].error ? cqe.res == tried[i].error : cqe.res > 0, "%u bytes, the next one %u: %d", tried[i].size, tried[i].byte, cqe.res);
	}
}

/*
 * Output that cannot be written is an error, and loses nothing: the next request returns the same
 * entries.
 */
static void bad_output(struct transport *transport, int fd, const char *path, const struct list *list)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, (void *)8, LEN);
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) == -EFAULT, "an address that is none");
	CHECK(lseek(fd, 0, SEEK_CUR) == 0, "the position was moved");

	request.buf = (uintptr_t)buf[0];
	request.max_entries = 100;
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) > 0, "the first part");
	request.max_entries = 0;
	request.buf = (uintptr_t)pages;
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) == -EFAULT, "memory that ends before the output does");
	request.buf = (uintptr_t)buf[0];
	CHECK_NULL(request_compare_rest(transport, &request, path, list, request.entries), "after the failures");
	munmap(pages, 8192);
}

static void run(struct env *env)
{
	struct transport transport;
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	transport_open(&transport, env->kind, 2 * FLIGHT);
	tree_files(fd, "a-file-with-some-name-", COUNT);
	for (unsigned int i = 0; i < COUNT; i += 3) {
		char name[600];

		snprintf(name, sizeof(name), "%s/a-file-with-some-name-%06u", path, i);
		if (!tree_xattr(path, name + strlen(path) + 1, "user.one", &i, sizeof(i)))
			break;
	}
	list_read(&list, fd);
	pieces(&transport, path, &list, false);
	pieces(&transport, path, &list, true);
	copied_when_submitted(&transport, fd, path, &list);
	values_refused(&transport, fd);
	sizes(&transport, fd);
	bad_output(&transport, fd, path, &list);
	list_free(&list);
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_readdirplus",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.run = run,
};
