// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task work of a ring does not end a system call that reads a directory. A completion comes while
 * the call waits for the first page of its output.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/faults.h"
#include "lib/list.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FILES	300
#define LEN	(64 << 10)
/* How often the giver of pages looks whether it is to stop, in milliseconds. */
#define STOP_MS	50

struct giver {
	struct faults faults;
	int pipe;
	bool stop;
};

/* At the first access, completes the request of the ring. */
static void *give_pages(void *arg)
{
	struct giver *giver = arg;
	bool first = true;

	while (!__atomic_load_n(&giver->stop, __ATOMIC_RELAXED)) {
		char *page = faults_wait(&giver->faults, STOP_MS);

		if (!page)
			continue;
		if (first)
			MUST(write(giver->pipe, "", 1) == 1);
		first = false;
		/* Others may want to run here, too. */
		usleep(1000);
		faults_give(&giver->faults, page);
	}
	return NULL;
}

/* Counts records by their length, which is at @at_reclen. */
static size_t count_records(const char *at, long len, size_t at_reclen)
{
	size_t count = 0;
	uint16_t reclen;

	for (const char *end = at + len; at < end; at += reclen, count++) {
		memcpy(&reclen, at + at_reclen, sizeof(reclen));
		MUST(reclen);
	}
	return count;
}

static void read_by(long number, const char *name, int fd, const struct list *list)
{
	struct giver giver = { };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;
	pthread_t thread;
	struct ring ring;
	int pipe_fd[2];
	size_t count;
	long got;

	MUST(pipe(pipe_fd) == 0 && ring_open(&ring, 4, 0) == 0);
	giver.pipe = pipe_fd[1];
	sqe = ring_entry(&ring);
	MUST(sqe);
	sqe->opcode = IORING_OP_POLL_ADD;
	sqe->fd = pipe_fd[0];
	sqe->poll32_events = POLLIN;
	MUST(ring_submit(&ring, 0) == 1);
	faults_open(&giver.faults, LEN);
	MUST(pthread_create(&thread, NULL, give_pages, &giver) == 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = syscall(number, fd, giver.faults.memory, LEN);
	MUST(got > 0);
	/* Both kinds of records begin with two words of 8 bytes. */
	count = count_records(giver.faults.memory, got, 16);
	CHECK(count == list->count, "%s: %zu entries of %zu", name, count, list->count);
	MUST(ring_take(&ring, &cqe));
	__atomic_store_n(&giver.stop, true, __ATOMIC_RELAXED);
	MUST(pthread_join(thread, NULL) == 0);
	faults_close(&giver.faults);
	ring_close(&ring);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);
	struct list list;

	tree_files(fd, "file", FILES);
	list_read(&list, fd);
	read_by(__NR_getdents64, "getdents64", fd, &list);
#ifdef __NR_getdents
	read_by(__NR_getdents, "getdents", fd, &list);
#endif
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "opcode_task_work",
	.kinds = BY_OPCODE,
/* @ours */
	.needs = OPCODE_READDIRPLUS,
/* @end */
	.one_kind = true,
	.run = run,
};
