// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals while a request waits for a slow disk at each entry. After SIGKILL the task is gone
 * within one entry's time. The handler of another signal runs within the same time. No entry is
 * lost or comes twice.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"

/* Time until the signal, in seconds: the request waits for the disk by then. */
#define BEFORE_SIGNAL	0.3

static char buf[1 << 19] __attribute__((aligned(8)));
static struct cold cold;

enum work { READDIRPLUS, STAT_BATCH, READTREE, READAHEAD };
static const char *const work_names[] = { "readdirplus", "stat_batch", "readtree", "readahead" };

/* Makes the request that waits. Returns its result. */
static long wait_for_disk(struct transport *transport, enum work work, struct ringwalk_readdirplus *plus)
{
	struct ringwalk_stat_batch batch = request_stat_batch(cold.fd, cold.list.bytes, cold.list.len, buf, sizeof(buf));
	struct ringwalk_readtree tree = request_readtree(cold.fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(cold.fd);

	switch (work) {
	case READDIRPLUS:
		*plus = cold_request(&cold, buf, sizeof(buf));
		return transport_call(transport, RINGWALK_IOC_READDIRPLUS, plus);
	case STAT_BATCH:
		*plus = cold_request(&cold, buf, sizeof(buf));
		batch.flags = plus->flags;
		batch.fields = plus->fields;
		return transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
	case READTREE:
		*plus = cold_request(&cold, buf, sizeof(buf));
		tree.flags = plus->flags;
		tree.fields = plus->fields;
		return transport_call(transport, RINGWALK_IOC_READTREE, &tree);
	case READAHEAD:
		ahead.off = 0;
		ahead.flags = RINGWALK_F_XATTR_BLOCKS;
		return transport_call(transport, RINGWALK_IOC_READAHEAD, &ahead);
	}
	return 0;
}

static void killed(struct env *env, enum work work, bool known)
{
	double killed_at;
	pid_t child;
	int status;

	cold_begin(&cold, known);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		struct ringwalk_readdirplus plus;
		struct transport transport;

		transport_open(&transport, env->kind, 0);
		wait_for_disk(&transport, work, &plus);
		_exit(0);
	}
	usleep(BEFORE_SIGNAL * 1000000);
	CHECK(waitpid(child, &status, WNOHANG) == 0, "%s ended before the signal", work_names[work]);
	kill(child, SIGKILL);
	killed_at = now();
	while (waitpid(child, &status, WNOHANG) == 0) {
		usleep(2000);
		if (now() - killed_at < COLD_SOON)
			continue;
		CHECK(false, "%s%s: killed, and still there after %.1f s", work_names[work], known ? " of known inodes" : "",
		      now() - killed_at);
		break;
	}
	cold_end(&cold, 0);
	waitpid(child, &status, 0);
}

static volatile double alarm_at;

static void on_alarm(int number)
{
	(void)number;
	alarm_at = now();
}

/* The position is checked by the entries that come afterwards. */
static void interrupted(struct env *env, enum work work, bool known)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value.tv_usec = BEFORE_SIGNAL * 1000000 };
	struct ringwalk_readdirplus plus;
	struct transport transport;
	double began;
	pid_t helper;
	long got;

	transport_open(&transport, env->kind, 0);
	cold_begin(&cold, known);
	helper = cold_end_after(&cold, BEFORE_SIGNAL + 1.5 * COLD_SOON);
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	alarm_at = 0;
	began = now();
	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
	got = wait_for_disk(&transport, work, &plus);
	CHECK(alarm_at && alarm_at - began - BEFORE_SIGNAL < COLD_SOON, "%s%s: the handler ran %.1f s after the signal",
	      work_names[work], known ? " of known inodes" : "", alarm_at - began - BEFORE_SIGNAL);
	CHECK(got >= 0 || got == -EINTR, "%s: %ld", work_names[work], got);
	cold_end(&cold, helper);
	if (work == READDIRPLUS)
		cold_check_rest(&cold, &transport, &plus, got, known ? "known inodes" : "new inodes");
	transport_close(&transport);
}

/*
 * A request that ends early, and then cannot write its records, leaves the position where it began.
 * It sets the position back twice.
 */
static void unwritable(struct env *env)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value.tv_usec = BEFORE_SIGNAL * 1000000 };
	void *memory = mmap(NULL, sizeof(buf), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ringwalk_readdirplus request;
	struct transport transport;
	double began;
	pid_t helper;
	long got;

	MUST(memory != MAP_FAILED);
	transport_open(&transport, env->kind, 0);
	cold_begin(&cold, true);
	helper = cold_end_after(&cold, BEFORE_SIGNAL + 1.5 * COLD_SOON);
	request = cold_request(&cold, memory, sizeof(buf));
	MUST(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0);
	began = now();
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(now() - began < BEFORE_SIGNAL + COLD_SOON, "the signal did not end the request early");
	CHECK(got == -EFAULT, "records written to read-only memory: %ld", got);
	CHECK(lseek(cold.fd, 0, SEEK_CUR) == 0, "the position is behind records that were not written");
	cold_end(&cold, helper);
	transport_close(&transport);
	munmap(memory, sizeof(buf));
}

static void each(struct env *env, enum work work, bool known)
{
	killed(env, work, known);
	interrupted(env, work, known);
}

static void run(struct env *env)
{
	cold_open(&cold, env);
	each(env, READDIRPLUS, true);
	/* A signal ends no request of another thread. */
	if (env->kind == TRANSPORT_IOCTL)
		unwritable(env);
	/* The others differ in what they do, and not in how they are submitted. */
	if (env->full || env->kind == TRANSPORT_IOCTL || env->kind == TRANSPORT_OPCODE) {
		each(env, READDIRPLUS, false);
		if (!transport_is_opcode(env->kind))
			each(env, READTREE, true);
		if (!transport_is_opcode(env->kind))
			each(env, READAHEAD, false);
		if (!transport_is_opcode(env->kind))
			each(env, STAT_BATCH, true);
	}
	cold_close(&cold);
}

const struct test test = {
	.name = "cold_signals",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
