// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder whose server lists only "." for ever. Whatever ends other requests ends one that reads
 * it: a signal in its task, a cancel in a thread of io-wq, the end of the ring, SIGKILL. READAHEAD
 * skips these entries, and once did not look for signals before the first other one.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fuse.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

/* Seconds until the end of a request is asked for, and until it must have come. */
#define BEFORE	0.3
#define SOON	5.0

enum { REQUEST = 1 };

static const char *const options[] = { "--dots", "--plus", "never", NULL };
static char buf[1 << 16] __attribute__((aligned(8)));

static struct fuse fuse;

static int open_folder(void)
{
	int fd = open(fuse.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

/* Waits for a child process. One that does not end is killed. */
static void ends_soon(pid_t child, const char *what)
{
	double until = now() + SOON;
	int status;

	for (; now() < until; usleep(2000))
		if (waitpid(child, &status, WNOHANG) == child) {
			CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !WEXITSTATUS(status), "%s: status %d", what,
			      status);
			return;
		}
	CHECK(false, "a request did not end by %s", what);
	kill(child, SIGKILL);
	MUST(waitpid(child, NULL, 0) == child);
}

/* A signal leaves a place to go on from. */
static void check_result(const struct ringwalk_readahead *request, long got, const char *what)
{
	CHECK(got == 0 || got == -EINTR || got == -ECANCELED, "ended by %s: %ld", what, got);
	if (got)
		return;
	CHECK(request->entries == 0 && request->next > 0 && request->done == 0 && !request->result_flags,
	      "ended by %s: %u entries, next %jd, done %u, flags %u", what, request->entries, (intmax_t)request->next,
	      request->done, request->result_flags);
}

/* What a process does with a request that does not end by itself. */
typedef void part_of_test(struct transport *transport, struct ringwalk_readahead *request);

/* Runs a part in a process of its own. */
static pid_t in_child(struct env *env, part_of_test *part)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		struct ringwalk_readahead request = request_readahead(open_folder());
		struct transport transport;

		transport_open(&transport, env->kind, 0);
		request.off = 0;
		part(&transport, &request);
		test_child_exit();
	}
	return child;
}

/* In the task that makes the request. */
static void by_signal(struct transport *transport, struct ringwalk_readahead *request)
{
	long got;

	alarm_after(BEFORE * 1000000);
	got = transport_call(transport, RINGWALK_IOC_READAHEAD, request);
	check_result(request, got, "a signal");
	/* A caller with many signals gets on. */
	CHECK(got == 0, "a signal leaves no place to go on from: %ld", got);
}

static void submit(struct transport *transport, struct ringwalk_readahead *request)
{
	MUST(transport_queue(transport, RINGWALK_IOC_READAHEAD, request, REQUEST));
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(BEFORE * 1000000);
}

/* In a thread of io-wq. */
static void by_cancel(struct transport *transport, struct ringwalk_readahead *request)
{
	struct io_uring_cqe cqe;

	submit(transport, request);
	MUST(ring_cancel_and_wait(&transport->ring, REQUEST, &cqe, NULL) == 0);
	transport_finish(transport, RINGWALK_IOC_READAHEAD, request, &cqe);
	check_result(request, cqe.res, "a cancel");
}

/* The process lives on. Its request is over when the folder is no longer in use. */
static void by_end_of_ring(struct transport *transport, struct ringwalk_readahead *request)
{
	submit(transport, request);
	transport_close(transport);
	close(request->fd);
	CHECK(tree_unmount(fuse.path), "the folder is still in use after the end of the ring");
}

static void until_killed(struct transport *transport, struct ringwalk_readahead *request)
{
	transport_call(transport, RINGWALK_IOC_READAHEAD, request);
	_exit(EXIT_FAIL);
}

static void by_kill(struct env *env)
{
	pid_t child = in_child(env, until_killed);

	usleep(BEFORE * 1000000);
	CHECK(waitpid(child, NULL, WNOHANG) == 0, "the request ended");
	kill(child, SIGKILL);
	ends_soon(child, "SIGKILL");
}

/* Commands that return these entries end when there is no more room. */
static void with_records(struct env *env)
{
	struct ringwalk_getdents names = request_getdents(open_folder(), buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(names.fd, buf, sizeof(buf));
	struct ringwalk_readtree tree = request_readtree(names.fd, buf, sizeof(buf));
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	CHECK(transport_call(&transport, RINGWALK_IOC_GETDENTS, &names) > 0, "getdents");
	if (transport_has(env->kind, OPCODE_READDIRPLUS))
		CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus) > 0, "readdirplus");
	if (!transport_is_opcode(env->kind))
		CHECK(transport_call(&transport, RINGWALK_IOC_READTREE, &tree) > 0, "readtree");
	transport_close(&transport);
	close(names.fd);
}

static void run(struct env *env)
{
	fuse_open(&fuse, env, options);
	with_records(env);
	if (!transport_is_opcode(env->kind)) {
		by_kill(env);
		if (transport_in_task(env->kind)) {
			ends_soon(in_child(env, by_signal), "a signal");
		} else {
			ends_soon(in_child(env, by_cancel), "a cancel");
			ends_soon(in_child(env, by_end_of_ring), "the end of its ring");
		}
	}
	fuse_close(&fuse);
}

const struct test test = {
	.name = "endless_dots",
	.kinds = BY_ALL,
	.run = run,
};
