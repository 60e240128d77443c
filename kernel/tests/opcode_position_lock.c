// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request waits for the position lock of an open folder, which another process holds as long as
 * it likes. A cancel ends the request, and so does the end of its ring or of its process.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/faults.h"
#include "lib/names.h"
/* @readdirplus */
#include "lib/plus.h"
/* @end */
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FILES	50
#define LEN	4096
/* user_data of the only request */
#define REQUEST	1
/* How long an access may take to come, in milliseconds. */
#define FAULT_MS	20000
/* Time until a request waits for the lock, in microseconds. */
#define UNTIL_IT_WAITS	200000
/* What ends a request ends it within this time, in seconds. */
#define SOON	10

static int fd;
static unsigned int command;
static char *buf;

/* Who holds the lock: a process that waits for a page of its output. */
struct holder {
	pid_t pid;
	struct faults faults;
	int ready;
};

static void *report_access(void *arg)
{
	struct holder *holder = arg;

	MUST(faults_wait(&holder->faults, FAULT_MS));
	MUST(write(holder->ready, "", 1) == 1);
	return NULL;
}

/* Returns when the lock is held. */
static void hold(struct holder *holder)
{
	pthread_t thread;
	int ready[2];
	char byte;

	MUST(pipe(ready) == 0);
	fflush(stdout);
	holder->pid = fork();
	MUST(holder->pid >= 0);
	if (!holder->pid) {
		holder->ready = ready[1];
		faults_open(&holder->faults, FAULTS_PAGE);
		MUST(pthread_create(&thread, NULL, report_access, holder) == 0);
		sys_getdents64(fd, holder->faults.memory, FAULTS_PAGE);
		_exit(0);
	}
	close(ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
}

static void release(struct holder *holder)
{
	MUST(kill(holder->pid, SIGKILL) == 0);
	MUST(waitpid(holder->pid, NULL, 0) == holder->pid);
}

/* Submits the request, which @to is the output of. */
static void submit(struct transport *transport, char *to, bool async)
{
	static struct ringwalk_getdents dents;
/* @readdirplus */
	static struct ringwalk_readdirplus plus;
/* @end */
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	if (command == RINGWALK_IOC_GETDENTS) {
		dents = request_getdents(fd, to, LEN);
		transport_fill(transport, sqe, command, &dents);
	}
/* @readdirplus */
	if (command == RINGWALK_IOC_READDIRPLUS) {
		plus = request_readdirplus(fd, to, LEN);
		transport_fill(transport, sqe, command, &plus);
	}
/* @end */
	sqe->user_data = REQUEST;
	if (async)
		sqe->flags |= IOSQE_ASYNC;
	MUST(ring_submit(&transport->ring, 0) == 1);
}

/* The ways of ending a request. Each runs in a process of its own. */

static void by_cancel(struct env *env)
{
	struct transport transport;
	struct io_uring_cqe cqe;

	transport_open(&transport, env->kind, 0);
	submit(&transport, buf, false);
	usleep(UNTIL_IT_WAITS);
	MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, NULL) == 0);
	CHECK(cqe.res == -EINTR, "the cancelled request: %d", cqe.res);
	transport_close(&transport);
}

/* The process goes on without the ring. */
static void by_end_of_ring(struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	submit(&transport, buf, false);
	usleep(UNTIL_IT_WAITS);
	transport_close(&transport);
	sleep(1);
}

static void by_end_of_process(struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	submit(&transport, buf, false);
	usleep(UNTIL_IT_WAITS);
}

static void by_signal(struct env *env)
{
	by_end_of_process(env);
	kill(getpid(), SIGKILL);
}

/* @readdirplus */
/*
 * The request has read names and cannot write them, so it is to set the position back when somebody
 * else has the lock.
 */
static void by_cancel_on_the_way_back(struct env *env)
{
	struct transport transport;
	struct io_uring_cqe cqe;
	struct holder holder;
	struct faults faults;
	char *page;

	transport_open(&transport, env->kind, 0);
	faults_open(&faults, LEN);
	submit(&transport, faults.memory, true);
	page = faults_wait(&faults, FAULT_MS);
	MUST(page);
	hold(&holder);
	faults_unmap(&faults, page);
	usleep(UNTIL_IT_WAITS);
	CHECK(!ring_take(&transport.ring, &cqe), "the request did not wait: %d", cqe.res);
	MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, NULL) == 0);
	CHECK(cqe.res == -EFAULT, "the request that cannot write: %d", cqe.res);
	release(&holder);
	transport_close(&transport);
}

/* @end */
/* Runs the process, and checks that it ends soon. */
static void ends_soon(struct env *env, const char *what, void (*run)(struct env *env))
{
	double until = now() + SOON;
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		MUST(setpgid(0, 0) == 0);
		run(env);
		test_child_exit();
	}
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (now() < until) {
			usleep(2000);
			continue;
		}
		CHECK(false, "%s: the request still waits for the lock after %d s", what, SOON);
		kill(-child, SIGKILL);
		return;
	}
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_PASS, "%s: status 0x%x", what,
	      status);
}

/* While the lock is held by another process. What was ended has read nothing. */
static void waits(struct env *env, const char *what, void (*run)(struct env *env))
{
	struct holder holder;
	off_t alone;

	/* On XFS the process that holds the lock moves the position, although it reads nothing. */
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	hold(&holder);
	release(&holder);
	alone = lseek(fd, 0, SEEK_CUR);

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	memset(buf, 0, LEN);
	hold(&holder);
	ends_soon(env, what, run);
	release(&holder);
	/* A request that still waits would now read. */
	usleep(UNTIL_IT_WAITS);
	CHECK(lseek(fd, 0, SEEK_CUR) == alone, "%s: the position has moved", what);
	for (int i = 0; i < LEN && !test_failures(); i++)
		CHECK(!buf[i], "%s: the request has read", what);
}

/* All ways, for one operation. */
static void each_way(struct env *env, unsigned int operation)
{
	command = operation;
	waits(env, "a cancel", by_cancel);
	waits(env, "the end of the ring", by_end_of_ring);
	waits(env, "the end of the process", by_end_of_process);
	waits(env, "SIGKILL", by_signal);
}

static void run(struct env *env)
{
	char path[512];

	fd = tree_folder(env->path, "folder", path);
	tree_files(fd, "file", FILES);
	buf = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(buf != MAP_FAILED);
	each_way(env, RINGWALK_IOC_GETDENTS);
/* @readdirplus */
	if (transport_has(env->kind, OPCODE_READDIRPLUS) && !test_failures()) {
		each_way(env, RINGWALK_IOC_READDIRPLUS);
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		ends_soon(env, "a cancel on the way back", by_cancel_on_the_way_back);
	}
/* @end */
	close(fd);
}

const struct test test = {
	.name = "opcode_position_lock",
	.kinds = BY_OPCODE,
	.run = run,
};
