// SPDX-License-Identifier: GPL-2.0-only
/*
 * READTREE gives every directory below a folder once and whole, with the records of READDIRPLUS, or
 * names it as not read. It opens no more than openat(2) would, and stays on its mount.
 */
#include <dirent.h>
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

#define BUF_LEN (1 << 18)

static struct transport transport;
static char buf[BUF_LEN] __attribute__((aligned(8)));
/* Directories of the folder, itself included. */
static unsigned int directories;

/* Directories that a walk has still to read, by path. */
struct pending {
	char paths[400][512];
	unsigned int count;
};

/* What a walk has seen. */
struct seen {
	unsigned int directories;
	unsigned int requests;
	unsigned int failed;
	uint64_t entries;
};

static const struct ringwalk_group *group_at(uint32_t at)
{
	return (void *)(buf + at);
}

/* Writes the path of a group's directory, below @path. */
static void path_of(const struct ringwalk_readtree *request, const char *path, const struct ringwalk_group *group, char *out)
{
	const struct ringwalk_group *above;
	struct record record;
	char parent[512];
	uint32_t at = 0;

	if (!group->parent) {
		snprintf(out, 512, "%s", path);
		return;
	}
	/* The group that has the record of the directory. */
	while (at + group_at(at)->reclen <= group->parent)
		at += group_at(at)->reclen;
	above = group_at(at);
	MUST(above < group && above->depth + 1 == group->depth);
	CHECK_NULL(record_parse(buf + group->parent, at + above->reclen - group->parent, &request->fields, &record),
		   "the record of a group's directory");
	CHECK(record.entry->flags & RINGWALK_ENTRY_READ, "%s is read and not marked", record.name);
	path_of(request, path, above, parent);
	snprintf(out, 512, "%s/%s", parent, record.name);
}

/* Directories that were not read come later. */
static void collect_unread(const struct ringwalk_readtree *request, const char *path, const struct ringwalk_group *group,
			   struct pending *pending)
{
	const char *at = (char *)(group + 1), *end = (char *)group + group->reclen;
	struct record record = { .next = at };

	while (record.next < end) {
		CHECK_NULL(record_parse(record.next, end - record.next, &request->fields, &record), "a record in %s", path);
		if (record.entry->d_type != DT_DIR || record.entry->flags & RINGWALK_ENTRY_READ || record.entry->error ||
		    !strcmp(record.name, ".") || !strcmp(record.name, ".."))
			continue;
		MUST(pending->count < ARRAY_SIZE(pending->paths));
		snprintf(pending->paths[pending->count++], 512, "%s/%s", path, record.name);
	}
}

/* Compares a group with the system calls. The first may begin at an entry @first. */
static void check_group(const struct ringwalk_readtree *request, const struct ringwalk_group *group, const char *path,
			size_t first, struct seen *seen)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct compare compare = request_compare(&transport, fd, path, &request->fields, request->flags, true);
	struct list list;

	CHECK(!group->reserved, "reserved bytes of %s", path);
	if (group->error) {
		CHECK(group->error == (fd < 0 ? -errno : 0), "%s: %s", path, strerror(-group->error));
		CHECK(group->reclen == sizeof(*group) && !group->entries && !group->flags, "%s has an error and entries", path);
		seen->failed++;
		return;
	}
	MUST(fd >= 0);
	list_read(&list, fd);
	CHECK_NULL(compare_batch(&compare, group + 1, group->reclen - sizeof(*group), group->entries, &list, first), "%s", path);
	if (group->flags & RINGWALK_RESULT_END)
		CHECK(first + group->entries == list.count, "%s: %zu entries, not %zu", path, first + group->entries, list.count);
	else
		CHECK(!group->parent, "%s is given in part", path);
	list_free(&list);
	close(fd);
}

/* Makes one request for @fd, and checks its groups. Returns its result. */
static long one_request(struct ringwalk_readtree *request, const char *path, size_t *first, struct pending *pending,
			struct seen *seen)
{
	long got = transport_call(&transport, RINGWALK_IOC_READTREE, request);
	uint32_t groups = 0, entries = 0;

	seen->requests++;
	for (uint32_t at = 0; at < got;) {
		const struct ringwalk_group *group = group_at(at);
		char directory[512];

		MUST(group->reclen >= sizeof(*group) && group->reclen % 8 == 0 && group->reclen <= got - at);
		MUST(!at == !group->parent && group->depth <= request->max_depth);
		path_of(request, path, group, directory);
		check_group(request, group, directory, at ? 0 : *first, seen);
		collect_unread(request, directory, group, pending);
		if (!at)
			*first += group->entries;
		if (group->flags & RINGWALK_RESULT_END || group->error)
			seen->directories++;
		groups++;
		entries += group->entries;
		at += group->reclen;
	}
	seen->entries += entries;
	if (got >= 0) {
		CHECK(groups == request->groups && entries == request->entries, "%u groups of %u, %u entries of %u", groups,
		      request->groups, entries, request->entries);
		CHECK(!request->max_entries || entries <= request->max_entries, "%u entries, not %u", entries, request->max_entries);
		CHECK((request->result_flags ^ group_at(0)->flags) == 0, "flags 0x%x", request->result_flags);
	}
	return got;
}

static struct ringwalk_readtree new_request(uint32_t len)
{
	return (struct ringwalk_readtree){
		.size = sizeof(struct ringwalk_readtree),
		.buf = (uintptr_t)buf,
		.len = len,
		.off = RINGWALK_OFF_CURRENT,
		.max_depth = UINT32_MAX,
		/* Reading a directory may change the time of its last access. */
		.fields.mask = request_stat_mask(&transport) & ~STATX_ATIME,
	};
}

/* Walks a folder with requests like @like, as a program would. */
static struct seen walk(const char *folder, const struct ringwalk_readtree *like)
{
	static struct pending pending;
	struct seen seen = { };

	pending.count = 1;
	snprintf(pending.paths[0], 512, "%s", folder);
	while (pending.count) {
		struct ringwalk_readtree request;
		size_t first = 0;
		char path[512];
		int fd;

		snprintf(path, sizeof(path), "%s", pending.paths[--pending.count]);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		if (fd < 0) {
			seen.failed++;
			seen.directories++;
			continue;
		}
		do {
			long got;

			request = *like;
			request.fd = fd;
			got = one_request(&request, path, &first, &pending, &seen);
			CHECK(got > 0 || got == -EINTR, "%s: %ld", path, got);
			if (got <= 0 && got != -EINTR)
				break;
		} while (!(request.result_flags & RINGWALK_RESULT_END));
		close(fd);
	}
	return seen;
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

static void sizes_and_limits(const char *folder)
{
	struct ringwalk_readtree request = new_request(BUF_LEN);
	struct seen all = walk(folder, &request), seen;

	CHECK(all.directories == directories && !all.failed, "%u directories, not %u", all.directories, directories);
	CHECK(all.requests == 1, "%u requests", all.requests);
	for (uint32_t len = 600; len < 60000; len += len / 3) {
		request.len = len;
		seen = walk(folder, &request);
		CHECK(seen.directories == directories && seen.entries >= all.entries, "by %u bytes: %u directories, %ju entries", len,
		      seen.directories, (uintmax_t)seen.entries);
	}
	request.len = BUF_LEN;
	for (uint32_t depth = 0; depth < 4; depth++) {
		request.max_depth = depth;
		seen = walk(folder, &request);
		CHECK(seen.directories == directories && seen.entries == all.entries, "by %u levels: %u directories", depth,
		      seen.directories);
		CHECK(depth || seen.requests == directories, "%u requests for directories alone", seen.requests);
	}
	request.max_depth = UINT32_MAX;
	for (uint32_t entries = 1; entries < 300; entries *= 3) {
		request.max_entries = entries;
		seen = walk(folder, &request);
		CHECK(seen.directories == directories, "by %u entries: %u directories", entries, seen.directories);
	}
	request.max_entries = 0;
	request.max_ms = 1;
	seen = walk(folder, &request);
	CHECK(seen.directories == directories, "by milliseconds: %u directories", seen.directories);
}

/* With attributes, records are moved together after their lookup. */
static void attributes(const char *folder)
{
	struct ringwalk_readtree request = new_request(BUF_LEN);
	struct seen seen;

	request.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&request.fields, NULL, 0, 1000, 700);
	seen = walk(folder, &request);
	CHECK(seen.directories == directories, "with attributes: %u directories", seen.directories);
	request.fields.mask = 0;
	seen = walk(folder, &request);
	CHECK(seen.directories == directories, "with attributes alone: %u directories", seen.directories);
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
	double until = now() + 0.5;

	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	do {
		struct seen seen;

		MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
		seen = walk(folder, &request);
		CHECK(seen.directories == directories, "with signals: %u directories", seen.directories);
		requests += seen.requests;
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
	struct seen seen;

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
	seen = walk(path, &request);
	CHECK(seen.failed == 1, "%u directories failed", seen.failed);
	CHECK(seen.directories < directories, "all directories were read");
	transport_close(&transport);
}

/* A mounted file system is left to the caller. */
static void mounted(struct env *env)
{
	char folder[512], path[512];
	struct ringwalk_readtree request;
	struct seen seen = { };
	static struct pending pending;
	size_t first = 0;

	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	snprintf(folder, sizeof(folder), "%s/folder", env->path);
	snprintf(path, sizeof(path), "%s/d1", folder);
	if (mount("none", path, "tmpfs", 0, NULL))
		test_skip("tmpfs: %s", strerror(errno));
	request = new_request(BUF_LEN);
	request.fd = open(folder, O_RDONLY | O_DIRECTORY);
	CHECK(one_request(&request, folder, &first, &pending, &seen) > 0, "with a mount below it");
	CHECK(pending.count == 1 && !strcmp(pending.paths[0], path), "%u directories are left", pending.count);
	CHECK(seen.directories == directories - (directories - 1) / 3, "%u directories were read", seen.directories);
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
	sizes_and_limits(folder);
	attributes(folder);
	signals(folder);
	if (env->fs != FS_FUSE)
		watched(folder);
	transport_close(&transport);
	IN_CHILD(mounted, env);
	if (env->fs != FS_FUSE)
		IN_CHILD(rights, env);
}

const struct test test = {
	.name = "readtree",
	.each_fs = true,
	.kinds = BY_MODULE,
	.run = run,
};
