// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control group with a running request is frozen within one entry's time, although the request
 * would run for long. After the thaw no entry is lost or comes twice.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"

#define ROOT		"/sys/fs/cgroup"
/* Time until the group is frozen, in seconds: the request waits for the disk by then. */
#define BEFORE_FREEZE	0.3

static char buf[1 << 18] __attribute__((aligned(8)));
static struct cold cold;
static char group[128];

static int write_group(const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return write_text(path, text);
}

static bool is_frozen(void)
{
	char path[200], events[256];

	snprintf(path, sizeof(path), "%s/cgroup.events", group);
	MUST(read_text(path, events, sizeof(events)) > 0);
	return strstr(events, "frozen 1");
}

static void make_group(void)
{
	snprintf(group, sizeof(group), ROOT "/ringwalk-freezer.%d", (int)getpid());
	if (mkdir(group, 0755))
		test_skip("%s: %s", group, strerror(errno));
	if (write_group("cgroup.freeze", "0")) {
		rmdir(group);
		test_skip("no freezer for control groups");
	}
}

/* The task to freeze; what it got is checked after the thaw. */
static void requests(struct env *env)
{
	struct ringwalk_readdirplus plus = cold_request(&cold, buf, sizeof(buf));
	struct transport transport;
	long got;

	MUST(write_group("cgroup.procs", "0") == 0);
	transport_open(&transport, env->kind, 0);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	CHECK(got >= 0 || got == -EINTR, "%ld", got);
	cold_check_rest(&cold, &transport, &plus, got, "after the thaw");
	transport_close(&transport);
}

static void run(struct env *env)
{
	pid_t child, helper;
	double began, until;

	make_group();
	cold_open(&cold, env);
	cold_begin(&cold, true);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		requests(env);
		test_child_exit();
	}
	usleep(BEFORE_FREEZE * 1000000);
	helper = cold_end_after(&cold, 1.5 * COLD_SOON);
	began = now();
	MUST(write_group("cgroup.freeze", "1") == 0);
	for (until = began + 10; !is_frozen() && now() < until;)
		usleep(2000);
	CHECK(is_frozen() && now() - began < COLD_SOON, "the group was frozen after %.1f s", now() - began);
	CHECK(waitpid(child, NULL, WNOHANG) == 0, "the request ended before");
	cold_end(&cold, helper);
	MUST(write_group("cgroup.freeze", "0") == 0);
	WAIT_CHILD(child);
	cold_close(&cold);
	/* io_uring ends after the process. */
	for (until = now() + 10; rmdir(group) && now() < until;)
		usleep(10000);
}

const struct test test = {
	.name = "freezer",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
