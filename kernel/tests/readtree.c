// SPDX-License-Identifier: GPL-2.0-only
/*
 * READTREE gives every directory below a folder once and whole, with the records of READDIRPLUS, or
 * names it as not read. It opens no more than openat(2) would, and stays on its mount.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define BUF_LEN (1 << 18)

static struct transport transport;
static char buf[BUF_LEN] __attribute__((aligned(8)));
/* Directories of the folder, itself included. */
static unsigned int directories;
static struct walk walk = { .transport = &transport };

static struct ringwalk_readtree new_request(uint32_t len)
{
	struct ringwalk_readtree request = request_readtree(-1, buf, len);

	/* Reading a directory may change the time of its last access. */
	request.fields.mask = request_stat_mask(&transport) & ~STATX_ATIME;
	return request;
}

static void make_tree(const char *path, int depth)
{
	char below[512];
	int fd;

	for (int i = 0; i < 3; i++) {
		char name[8] = { 'd', '0' + i };

		fd = tree_folder(path, name, below);
		directories++;
		if (depth)
			make_tree(below, depth - 1);
		tree_files(fd, "file", 1 + 9 * i * i);
		close(fd);
	}
}

/* Walks the folder, and checks that each of its directories came. */
static void walk_whole_tree(const char *folder, const struct ringwalk_readtree *like, const char *by, unsigned int number)
{
	walk_all(&walk, folder, like);
	CHECK(walk.directories == directories, "by %u %s: %u directories, not %u", number, by, walk.directories, directories);
}

static void sizes_and_limits(const struct env *env, const char *folder)
{
	struct ringwalk_readtree request = new_request(BUF_LEN);
	uint64_t entries;

	walk_whole_tree(folder, &request, "request", 1);
	entries = walk.entries;
	/* Names are validated each time they are used there, so the caller opens each directory. */
	CHECK(walk.requests == (env->fs == FS_FUSE ? directories : 1) && !walk.failed, "%u requests, %u directories failed",
	      walk.requests, walk.failed);
	for (uint32_t len = 600; len < 60000; len += env->full ? len / 3 : 3 * len) {
		request.len = len;
		walk_whole_tree(folder, &request, "bytes", len);
		CHECK(walk.entries >= entries, "by %u bytes: %ju entries", len, (uintmax_t)walk.entries);
	}
	request.len = BUF_LEN;
	for (uint32_t depth = 0; depth < 4; depth += env->full ? 1 : 2) {
		request.max_depth = depth;
		walk_whole_tree(folder, &request, "levels", depth);
		CHECK(walk.entries == entries, "by %u levels: %ju entries", depth, (uintmax_t)walk.entries);
		CHECK(depth || walk.requests == directories, "%u requests for directories alone", walk.requests);
	}
	request.max_depth = UINT32_MAX;
	for (uint32_t most = 1; most < 300; most *= env->full ? 3 : 12) {
		request.max_entries = most;
		walk_whole_tree(folder, &request, "entries", most);
	}
	request.max_entries = 0;
	request.max_ms = 1;
	walk_whole_tree(folder, &request, "milliseconds", request.max_ms);
}

/* With attributes, records are moved together after their lookup. */
static void attributes(const char *folder)
{
	struct ringwalk_readtree request = new_request(BUF_LEN);

	request.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&request.fields, NULL, 0, 1000, 700);
	walk_whole_tree(folder, &request, "request with attributes", 1);
	request.fields.mask = 0;
	walk_whole_tree(folder, &request, "request with attributes alone", 1);
}

static void on_alarm(int number)
{
	(void)number;
}

/* A signal ends a request, and loses and doubles no entry. */
static void signals(const char *folder)
{
	struct itimerval timer = { .it_interval.tv_usec = 900, .it_value.tv_usec = 900 };
	struct ringwalk_readtree request = new_request(BUF_LEN);
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	unsigned int requests = 0;
	double until = now() + 0.3;

	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	do {
		MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
		walk_whole_tree(folder, &request, "requests before, with signals", requests);
		requests += walk.requests;
	} while (now() < until);
	MUST(setitimer(ITIMER_REAL, &(struct itimerval){ }, NULL) == 0);
	if (transport.kind == TRANSPORT_IOCTL)
		CHECK(requests > 1, "no request was ended");
}

/* What the caller may not open is a group with that error; what it may not search has errors. */
static void rights(struct env *env)
{
	static const char *const modes[] = { "/d1", "/d1/d0", "/d2" };
	struct ringwalk_readtree request;
	char path[512];

	transport_keep_device();
	snprintf(path, sizeof(path), "%s/folder%s", env->path, modes[1]);
	MUST(chmod(path, 0) == 0);
	snprintf(path, sizeof(path), "%s/folder%s", env->path, modes[2]);
	MUST(chmod(path, 0744) == 0);
	MUST(chmod(env->path, 0755) == 0);
	MUST(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	transport_open(&transport, env->kind, 0);
	request = new_request(BUF_LEN);
	snprintf(path, sizeof(path), "%s/folder", env->path);
	walk_all(&walk, path, &request);
	CHECK(walk.failed == 1, "%u directories failed", walk.failed);
	CHECK(walk.directories < directories, "all directories were read");
	transport_close(&transport);
}

/* A mounted file system is left to the caller. */
static void mounted(struct env *env)
{
	char folder[512], path[512];
	struct ringwalk_readtree request;

	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	snprintf(folder, sizeof(folder), "%s/folder", env->path);
	snprintf(path, sizeof(path), "%s/d1", folder);
	if (mount("none", path, "tmpfs", 0, NULL))
		test_skip("tmpfs: %s", strerror(errno));
	request = new_request(BUF_LEN);
	request.fd = open(folder, O_RDONLY | O_DIRECTORY);
	walk_begin(&walk);
	CHECK(walk_request(&walk, &request, folder) > 0, "with a mount below it");
	CHECK(walk.pending_count == 1 && !strcmp(walk.pending[0], path), "%u directories are left", walk.pending_count);
	CHECK(walk.directories == directories - (directories - 1) / 3, "%u directories were read", walk.directories);
	close(request.fd);
	transport_close(&transport);
}

/* Counts the events of these kinds in every directory that a watch was set for. */
static unsigned int events(int watch)
{
	static char text[1 << 16] __attribute__((aligned(8)));
	unsigned int count = 0;
	ssize_t len;

	while ((len = read(watch, text, sizeof(text))) > 0)
		for (ssize_t at = 0; at < len; count++)
			at += sizeof(struct inotify_event) + ((struct inotify_event *)(text + at))->len;
	return count;
}

/* Watchers see a directory opened, read and closed. */
static void watched(const char *folder)
{
	struct ringwalk_readtree request = new_request(BUF_LEN);
	int watch = inotify_init1(IN_NONBLOCK), fd, by_calls, by_request;
	struct list list;
	char path[512];

	snprintf(path, sizeof(path), "%s/d1", folder);
	MUST(inotify_add_watch(watch, path, IN_OPEN | IN_CLOSE) >= 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	list_read(&list, fd);
	list_free(&list);
	close(fd);
	by_calls = events(watch);
	request.fd = open(folder, O_RDONLY | O_DIRECTORY);
	request.max_depth = 1;
	MUST(transport_call(&transport, RINGWALK_IOC_READTREE, &request) > 0);
	close(request.fd);
	by_request = events(watch);
	/* One event for its open, one for its close. */
	CHECK(by_calls == 2 && by_request == 2, "%d events by system calls, %d by a request", by_calls, by_request);
	close(watch);
}

static void run(struct env *env)
{
	int fd = tree_folder(env->path, "folder", buf);
	char folder[512];

	snprintf(folder, sizeof(folder), "%s", buf);
	directories = 1;
	make_tree(folder, env->fs == FS_FUSE ? 0 : 2);
	tree_files(fd, "file", 5);
	close(fd);
	transport_open(&transport, env->kind, 0);
	sizes_and_limits(env, folder);
	attributes(folder);
	signals(folder);
	if (env->fs != FS_FUSE)
		watched(folder);
	transport_close(&transport);
	if (env->fs != FS_FUSE) {
		IN_CHILD(mounted, env);
		IN_CHILD(rights, env);
	}
}

const struct test test = {
	.name = "readtree",
	.each_fs = true,
	.kinds = BY_MODULE,
	.run = run,
};
