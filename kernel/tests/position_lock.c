// SPDX-License-Identifier: GPL-2.0-only
/*
 * The readers of an open directory share its position lock, and one of them waits for a slow server
 * while it holds the lock. A request that waits for the lock ends at once by a signal in its task,
 * and by a cancel in a thread of io-wq: before it has read names, and where it ends early and sets
 * the position back.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fuse.h"
#include "lib/records.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"

/* The time of the server for names after the first ones, and for a lookup, in seconds. */
#define NAMES	6.0
#define LOOKUP	(NAMES / 10)
/* Until the end of a request is asked for, and until it must have come: a lookup is completed. */
#define BEFORE	(LOOKUP / 2)
#define SOON	(NAMES / 3)

enum { REQUEST = 1 };

static const char *const options[] = { "--late", "--delay-us", "6000000", "--plus", "never", "--entries", "100", NULL };
static char buf[1 << 16] __attribute__((aligned(8)));

/* Starts a process that reads on in the directory, so that the lock is held for NAMES. */
static pid_t hold_lock(int fd)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		syscall(SYS_getdents64, fd, buf, sizeof(buf));
		_exit(0);
	}
	return child;
}

/* Makes a request that is ended after BEFORE. Returns its result. */
static long call_and_end(struct env *env, unsigned int command, void *request)
{
	struct transport transport;
	struct io_uring_cqe cqe;

	transport_open(&transport, env->kind, 0);
	if (transport_in_task(env->kind)) {
		alarm_after(BEFORE * 1000000);
		return transport_call(&transport, command, request);
	}
	MUST(transport_queue(&transport, command, request, REQUEST));
	MUST(ring_submit(&transport.ring, 0) == 1);
	usleep(BEFORE * 1000000);
	MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, NULL) == 0);
	transport_finish(&transport, command, request, &cqe);
	return cqe.res;
}

/* The lock is held before the request, which returns nothing. */
static void before_names(struct env *env, const char *what, unsigned int command, void *request)
{
	long got = call_and_end(env, command, request);

	CHECK(got == -EINTR || got == -ECANCELED, "%s: %ld", what, got);
}

/* The lock is held when the request ends early. It returns all names, the rest without metadata. */
static void after_names(struct env *env, const char *what, unsigned int command, void *any)
{
	struct ringwalk_readdirplus *request = any;
	long got = call_and_end(env, command, request);
	struct record record = { .next = buf };
	unsigned int unfinished = 0;

	CHECK(got > 0 && request->entries == request->max_entries, "%s: %ld, %u entries", what, got, request->entries);
	while (record.next < buf + got) {
		MUST(!record_parse(record.next, buf + got - record.next, &request->fields, &record));
		CHECK(!record.entry->error || record.entry->error == -EINTR, "%s: %d", record.name, record.entry->error);
		unfinished += record.entry->error == -EINTR;
	}
	CHECK(unfinished > 0 && unfinished < request->entries, "%u entries are unfinished", unfinished);
}

/* Has a process make a request while another one holds the lock. @fd: number of the directory */
static void ends_soon(struct env *env, const char *what, unsigned int command, void *request, int fd, bool after)
{
	pid_t holder = -1, child;
	struct fuse fuse;
	double until;
	int status;

	fuse_open(&fuse, env, options);
	MUST(dup3(open(fuse.path, O_RDONLY | O_DIRECTORY), fd, O_CLOEXEC) == fd);
	if (!after) {
		MUST(lseek(fd, 1, SEEK_SET) == 1);
		holder = hold_lock(fd);
		usleep(BEFORE * 1000000);
	}
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		(after ? after_names : before_names)(env, what, command, request);
		test_child_exit();
	}
	until = now() + BEFORE + SOON;
	if (after) {
		usleep(BEFORE / 2 * 1000000);
		holder = hold_lock(fd);
	}
	while (waitpid(child, &status, WNOHANG) == 0 && now() < until)
		usleep(2000);
	if (now() < until) {
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%s: status %d", what, status);
	} else {
		CHECK(false, "%s has not ended", what);
		kill(child, SIGKILL);
	}
	CHECK(waitpid(holder, NULL, WNOHANG) == 0, "%s: the lock was not held all the time", what);
	fuse_abort(&fuse);
	MUST(waitpid(holder, NULL, 0) == holder || errno == ECHILD);
	MUST(waitpid(child, NULL, 0) == child || errno == ECHILD);
}

static void run(struct env *env)
{
	int fd = dup(env->fd);
	struct ringwalk_getdents names = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);

	ends_soon(env, "getdents", RINGWALK_IOC_GETDENTS, &names, fd, false);
	if (transport_has(env->kind, OPCODE_READDIRPLUS)) {
		plus.max_entries = 6;
		ends_soon(env, "readdirplus", RINGWALK_IOC_READDIRPLUS, &plus, fd, false);
		ends_soon(env, "readdirplus that sets the position back", RINGWALK_IOC_READDIRPLUS, &plus, fd, true);
	}
	if (!transport_is_opcode(env->kind))
		ends_soon(env, "readahead", RINGWALK_IOC_READAHEAD, &ahead, fd, false);
	close(fd);
}

const struct test test = {
	.name = "position_lock",
	.kinds = BY_ALL,
	.run = run,
};
