// SPDX-License-Identifier: GPL-2.0-only
/*
 * IORING_OP_READDIRPLUS as a request: registered files, arguments copied when it is submitted, many
 * in flight, output that cannot be written. readdirplus.c compares its output with the system
 * calls, opcode_arguments.c has the values that are refused.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/plus.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT	600
#define FLIGHT	8
#define LEN	8192

static char buf[FLIGHT][LEN] __attribute__((aligned(8)));

static struct io_uring_sqe *queue(struct transport *transport, struct ringwalk_readdirplus *request,
				  uint64_t user_data)
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

/*
 * Several in flight on one open file, registered or not: each gets a piece, no entry is given
 * twice, metadata is that of the entry.
 */
static void pieces(struct transport *transport, const char *path, struct list *list, bool fixed)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	bool seen[COUNT + 2] = { }, end = false;
	struct io_uring_cqe cqe;
	size_t total = 0;

	if (fixed)
		MUST(ring_register(&transport->ring, IORING_REGISTER_FILES, &fd, 1) == 0);
	while (!end && !test_failures()) {
		for (int i = 0; i < FLIGHT; i++) {
			struct ringwalk_readdirplus request =
				request_readdirplus(fixed ? 0 : fd, buf[i], LEN);

			queue(transport, &request, i)->flags |= fixed ? IOSQE_FIXED_FILE : 0;
		}
		for (int i = 0; i < FLIGHT; i++) {
			struct ringwalk_fields fields = { .mask = STATX_BASIC_STATS };
			struct compare compare = request_compare(transport, fd, path, &fields, 0);
			long bytes = complete(transport, &cqe);
			const char *at = buf[cqe.user_data];
			struct record record;

			CHECK(bytes >= 0, "%ld", bytes);
			for (const char *stop = at + (bytes > 0 ? bytes : 0); at < stop;
			     at = record.next, total++) {
				const char *bad = record_parse(at, stop - at, &fields, &record);
				long number;

				CHECK(!bad, "%s", bad);
				if (bad)
					return;
				number = list_find(list, record.name);
				CHECK(number >= 0 && !seen[number], "%s was there %s", record.name,
				      number < 0 ? "never" : "twice");
				if (number < 0)
					continue;
				seen[number] = true;
				CHECK_NULL(compare_record(&compare, &record, list->at[number]),
					   "%s", record.name);
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
static void copied_when_submitted(struct transport *transport, int fd, const char *path,
				  struct list *list)
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
		compare = request_compare(transport, fd, path, &kept.fields, 0);
		CHECK_NULL(compare_batch(&compare, buf[0], cqe.res, kept.entries, list, 0),
			   "round %d", round);
	}
}

/*
 * Output that cannot be written is an error, and loses nothing: the next request returns the same
 * entries.
 */
static void bad_output(struct transport *transport, int fd, const char *path, struct list *list)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, (void *)8, LEN);
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) == -EFAULT,
	      "an address that is none");
	CHECK(lseek(fd, 0, SEEK_CUR) == 0, "the position was moved");

	request.buf = (uintptr_t)buf[0];
	request.max_entries = 100;
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) > 0, "the first part");
	request.max_entries = 0;
	request.buf = (uintptr_t)pages;
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request) == -EFAULT,
	      "memory that ends before the output does");
	request.buf = (uintptr_t)buf[0];
	CHECK_NULL(request_compare_rest(transport, &request, path, list, request.entries),
		   "after the failures");
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
	bad_output(&transport, fd, path, &list);
	list_free(&list);
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_readdirplus",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
