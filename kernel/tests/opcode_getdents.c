// SPDX-License-Identifier: GPL-2.0-only
/*
 * IORING_OP_GETDENTS as a request: registered files, links, fields that must be zero, many in
 * flight. getdents.c compares its output with getdents64(2).
 */
#include <fcntl.h>
#include <unistd.h>

/* @ours */
#include "lib/disks.h"
/* @end */
#include "lib/names.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT	400
#define FLIGHT	16
#define LEN	2048

static char buf[FLIGHT][LEN] __attribute__((aligned(8)));

static struct io_uring_sqe *queue(struct transport *transport, struct ringwalk_getdents *request,
				  uint64_t user_data)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	MUST(sqe);
	transport_fill(transport, sqe, RINGWALK_IOC_GETDENTS, request);
	sqe->user_data = user_data;
	return sqe;
}

static long complete(struct transport *transport, struct io_uring_cqe *cqe)
{
	MUST(ring_wait(&transport->ring, cqe) == 0);
	return cqe->res;
}

/*
 * A registered file is read to the end after its descriptor was closed. Its reference count is one
 * with any number of requests.
 */
static void registered(struct transport *transport, const char *path, struct list *list)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct list got = { };
	struct io_uring_cqe cqe;
	bool end = false;

	MUST(ring_register(&transport->ring, IORING_REGISTER_FILES, &fd, 1) == 0);
	close(fd);
	while (!end) {
		for (int i = 0; i < 2; i++) {
			struct ringwalk_getdents request = request_getdents(0, buf[i], LEN);

			queue(transport, &request, i)->flags |= IOSQE_FIXED_FILE |
								(i ? 0 : IOSQE_IO_LINK);
		}
		for (int i = 0; i < 2; i++) {
			long bytes = complete(transport, &cqe);

			CHECK(bytes >= 0 && cqe.user_data == (unsigned int)i,
			      "request %d: %ld of %llu", i, bytes,
			      (unsigned long long)cqe.user_data);
			if (bytes < 0)
				return;
			list_append(&got, buf[i], bytes);
			end |= cqe.flags & IORING_CQE_F_DIR_END;
		}
	}
	CHECK_NULL(list_differs(&got, list, 0), "a registered file");
	list_free(&got);
	MUST(ring_register(&transport->ring, IORING_UNREGISTER_FILES, NULL, 0) == 0);
}

/*
 * Requests on one open file with the current position get pieces of it in any order of completion,
 * and no entry twice.
 */
static void many_in_flight(struct transport *transport, const char *path, struct list *list)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	bool seen[COUNT + 2] = { }, end = false;
	struct io_uring_cqe cqe;
	size_t total = 0;

	while (!end && !test_failures()) {
		for (int i = 0; i < FLIGHT; i++) {
			struct ringwalk_getdents request = request_getdents(fd, buf[i], LEN);

			queue(transport, &request, i);
		}
		for (int i = 0; i < FLIGHT; i++) {
			struct list piece = { };
			long bytes = complete(transport, &cqe);

			CHECK(bytes >= 0, "%ld", bytes);
			if (bytes < 0)
				continue;
			list_append(&piece, buf[cqe.user_data], bytes);
			for (size_t j = 0; j < piece.count; j++) {
				long at = list_find(list, piece.at[j]->d_name);

				CHECK(at >= 0 && !seen[at], "%s was there %s", piece.at[j]->d_name,
				      at < 0 ? "never" : "twice");
				if (at >= 0)
					seen[at] = true;
			}
			total += piece.count;
			end |= cqe.flags & IORING_CQE_F_DIR_END;
			list_free(&piece);
		}
	}
	CHECK(total == list->count, "%zu entries, not %zu", total, list->count);
	close(fd);
}

/* Fields that no request may set, one at a time. */
static void fields_refused(struct transport *transport, int fd)
{
	static const char *const names[] = { "rw_flags", "buf_index", "splice_fd_in",	  "addr3",
					     "pad2",	 "off -2",    "a provided buffer" };
	struct ringwalk_getdents request = request_getdents(fd, buf[0], LEN);
	struct io_uring_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct io_uring_sqe *sqe = queue(transport, &request, i);

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
			sqe->addr3 = 8;
			break;
		case 4:
			sqe->__pad2[0] = 1;
			break;
		case 5:
			sqe->off = -2;
			break;
		case 6:
			sqe->flags |= IOSQE_BUFFER_SELECT;
			break;
		}
		complete(transport, &cqe);
		CHECK(cqe.res == (i == 6 ? -EOPNOTSUPP : -EINVAL), "%s: %d", names[i], cqe.res);
	}
}

/*
 * Errors are those of getdents64(2), and do not move the position. A failure ends a chain.
 */
static void not_directories(struct env *env, struct transport *transport)
{
	int file = openat(env->fd, "file", O_RDWR | O_CREAT, 0644), pipe_fd[2],
	    path_fd = open(env->path, O_PATH);
	struct ringwalk_getdents request = request_getdents(file, buf[0], LEN),
				 next = request_getdents(env->fd, buf[1], LEN);
	struct io_uring_cqe cqe;

	MUST(file >= 0 && path_fd >= 0 && pipe(pipe_fd) == 0 && write(file, "12345", 5) == 5);
	for (int off = -1; off <= 0; off++) {
		request.off = off;
		queue(transport, &request, 1)->flags |= IOSQE_IO_LINK;
		queue(transport, &next, 2);
		CHECK(complete(transport, &cqe) == -ENOTDIR, "a file: %d", cqe.res);
		CHECK(complete(transport, &cqe) == -ECANCELED, "the next in the chain: %d",
		      cqe.res);
		CHECK(lseek(file, 0, SEEK_CUR) == 5, "the position of a file was moved");
	}
	request.off = -1;
	request.fd = pipe_fd[0];
	CHECK(transport_call(transport, RINGWALK_IOC_GETDENTS, &request) == -ENOTDIR, "a pipe");
	request.fd = path_fd;
	CHECK(transport_call(transport, RINGWALK_IOC_GETDENTS, &request) == -EBADF, "O_PATH");
	request.fd = 9999;
	CHECK(transport_call(transport, RINGWALK_IOC_GETDENTS, &request) == -EBADF,
	      "no descriptor");
	close(file);
	close(path_fd);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/*
 * Pending task work of the ring must not cut a running request short. Without
 * IORING_SETUP_COOP_TASKRUN workers announce completions by task work.
 */
static void task_work(struct transport *transport, const char *path, struct list *list)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_getdents request = request_getdents(fd, buf[0], LEN), whole;
	char *all = malloc(list->len);
	struct io_uring_cqe cqe;

/* @ours */
	/*
	 * An attempt without waiting also ends at a block that XFS has locked to write it back. The
	 * freeze that prevents this is for guests only.
	 */
	disks_write_home(fd);
/* @end */
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 3; i++) {
			request.off = 0;
			queue(transport, &request, 1)->flags |= IOSQE_ASYNC;
		}
		whole = request_getdents(fd, all, list->len);
		whole.off = 0;
		queue(transport, &whole, 2);
		for (int i = 0; i < 4; i++) {
			complete(transport, &cqe);
			if (cqe.user_data == 2)
				CHECK(cqe.res == (long)list->len, "%d bytes of %zu in round %d",
				      cqe.res, list->len, round);
		}
	}
	free(all);
	close(fd);
}

static void run(struct env *env)
{
	struct transport transport;
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	transport_open(&transport, env->kind, 2 * FLIGHT);
	tree_files(fd, "a-file-with-some-name-", COUNT);
	list_read(&list, fd);
	registered(&transport, path, &list);
	many_in_flight(&transport, path, &list);
	fields_refused(&transport, fd);
	not_directories(env, &transport);
	task_work(&transport, path, &list);
	list_free(&list);
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_getdents",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.run = run,
};
