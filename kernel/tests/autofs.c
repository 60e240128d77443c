// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places where autofs would mount something are shown as statx(2) with AT_NO_AUTOMOUNT shows them,
 * and nothing is asked to be mounted. READTREE leaves them to the caller.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

/*
 * Mounts autofs of this kind for a process group that is not this one: for its own group the kernel
 * asks for no mount. Returns the end of the pipe from which requests for mounts are read.
 */
static int mount_autofs(const char *path, const char *kind, pid_t group)
{
	char options[128];
	int ends[2];

	MUST(pipe2(ends, O_CLOEXEC | O_DIRECT) == 0);
	snprintf(options, sizeof(options), "fd=%d,pgrp=%d,minproto=5,maxproto=5,%s", ends[1], (int)group, kind);
	if (mount("ringwalk", path, "autofs", 0, options))
		test_skip("autofs: %s", strerror(errno));
	close(ends[1]);
	return ends[0];
}

static bool is_asked(int pipe, int milliseconds)
{
	struct pollfd event = { .fd = pipe, .events = POLLIN };

	return poll(&event, 1, milliseconds) == 1 && event.revents & POLLIN;
}

/* The owner of the mounts makes folders in one of them when it gets a byte. */
static pid_t start_owner(const char *path, int *go, int *done)
{
	int start[2], made[2];
	pid_t owner;
	char byte;

	MUST(pipe(start) == 0 && pipe(made) == 0);
	fflush(stdout);
	owner = fork();
	MUST(owner >= 0);
	if (!owner) {
		int fd;

		MUST(setpgid(0, 0) == 0);
		MUST(write(made[1], "", 1) == 1);
		MUST(read(start[0], &byte, 1) == 1);
		fd = open(path, O_RDONLY | O_DIRECTORY);
		MUST(fd >= 0);
		MUST(mkdirat(fd, "one", 0755) == 0 && mkdirat(fd, "two", 0755) == 0);
		close(fd);
		MUST(write(made[1], "", 1) == 1);
		pause();
		_exit(0);
	}
	*go = start[1];
	*done = made[0];
	MUST(read(*done, &byte, 1) == 1);
	return owner;
}

/* Entering the place does ask, so the test would see it. */
static void check_that_it_asks(int pipe, const char *path)
{
	pid_t child = fork();

	MUST(child >= 0);
	if (!child) {
		char below[600];

		snprintf(below, sizeof(below), "%s/.", path);
		open(below, O_RDONLY | O_DIRECTORY);
		_exit(0);
	}
	MUST(is_asked(pipe, 5000));
	kill(child, SIGKILL);
	MUST(waitpid(child, NULL, 0) == child);
}

/*
 * Compares a folder of such places with the system calls. READTREE alone comes first, because the
 * comparison of a place that it has read would wait for a mount.
 */
static void check_places(struct transport *transport, int fd, const char *path, const char *what)
{
	static char buf[16384] __attribute__((aligned(8)));
	struct ringwalk_readtree request = request_readtree(fd, buf, sizeof(buf));
	long got;

	if (!transport_is_opcode(transport->kind)) {
		request.off = 0;
		got = transport_call(transport, RINGWALK_IOC_READTREE, &request);
		CHECK(got > 0 && request.groups == 1, "readtree of %s: %ld, %u folders", what, got, request.groups);
		if (got <= 0 || request.groups != 1)
			return;
	}
	request_check_all(transport, fd, path, what);
}

static void in_own_mounts(struct env *env)
{
	char path[512], direct[600], indirect[600], one[700], byte = 0;
	struct transport transport;
	int fd, inner, direct_pipe, indirect_pipe, go, done;
	pid_t owner;

	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	fd = tree_folder(env->path, "autofs", path);
	tree_files(fd, "file", 4);
	MUST(mkdirat(fd, "direct", 0755) == 0 && mkdirat(fd, "indirect", 0755) == 0);
	snprintf(direct, sizeof(direct), "%s/direct", path);
	snprintf(indirect, sizeof(indirect), "%s/indirect", path);
	snprintf(one, sizeof(one), "%s/one", indirect);
	owner = start_owner(indirect, &go, &done);
	direct_pipe = mount_autofs(direct, "direct", owner);
	indirect_pipe = mount_autofs(indirect, "indirect", owner);
	MUST(write(go, &byte, 1) == 1 && read(done, &byte, 1) == 1);

	check_places(&transport, fd, path, "a folder with places for mounts");
	CHECK(!is_asked(direct_pipe, 0), "a mount was asked for, of a direct place");
	inner = open(indirect, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(inner >= 0);
	check_places(&transport, inner, indirect, "places of an indirect mount");
	CHECK(!is_asked(indirect_pipe, 0), "a mount was asked for, of an indirect place");
	check_that_it_asks(direct_pipe, direct);
	check_that_it_asks(indirect_pipe, one);
	close(inner);
	kill(owner, SIGKILL);
	MUST(waitpid(owner, NULL, 0) == owner);
	MUST(umount2(direct, MNT_DETACH) == 0 && umount2(indirect, MNT_DETACH) == 0);
	close(fd);
	transport_close(&transport);
}

static void run(struct env *env)
{
	IN_CHILD(in_own_mounts, env);
}

const struct test test = {
	.name = "autofs",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
