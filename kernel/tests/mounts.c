// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mount point shows the mounted root, as with statx(2). Automounts are not triggered.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[1 << 16] __attribute__((aligned(8)));

/* Returns the device number of an entry from READDIRPLUS. It shows that a mount was crossed. */
static uint64_t device_of(struct transport *transport, int fd, const char *name)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct record record;
	const char *at;
	long got;

	plus.off = 0;
	got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &plus);
	for (at = buf; at < buf + got; at = record.next) {
		if (record_parse(at, buf + got - at, &plus.fields, &record))
			break;
		if (!strcmp(record.name, name) && record.stat)
			return (uint64_t)record.stat->dev_major << 32 | record.stat->dev_minor;
	}
	return 0;
}

static void mount_points(struct env *env)
{
	struct transport transport;
	struct statx_record before;
	char path[512], below[600], file[600];
	int fd;

	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	fd = tree_folder(env->path, "mounts", path);
	MUST(mkdirat(fd, "mount", 0755) == 0 && mkdirat(fd, "bind", 0755) == 0 && mkdirat(fd, "plain", 0755) == 0);
	tree_files(fd, "file", 5);
	request_check_all(&transport, fd, path, "no mounts");
	MUST(sys_statx(fd, "mount", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &before) == 0);
	snprintf(below, sizeof(below), "%s/mount", path);
	MUST(mount("one", below, "tmpfs", 0, "mode=0700") == 0);
	request_check_all(&transport, fd, path, "a mount");
	CHECK(device_of(&transport, fd, "mount") != ((uint64_t)before.dev_major << 32 | before.dev_minor),
	      "the entry is not the mounted root");
	MUST(mount("two", below, "tmpfs", 0, "mode=0711") == 0);
	request_check_all(&transport, fd, path, "two mounts on each other");
	snprintf(file, sizeof(file), "%s/file000002", path);
	MUST(mount("/proc/version", file, NULL, MS_BIND, NULL) == 0);
	request_check_all(&transport, fd, path, "a file over a file");
	snprintf(below, sizeof(below), "%s/bind", path);
	MUST(mount(path, below, NULL, MS_BIND, NULL) == 0);
	request_check_all(&transport, fd, path, "a folder within itself");
	MUST(umount2(below, MNT_DETACH) == 0);
	/* A covered folder, read through a descriptor from before. */
	MUST(mount("three", path, "tmpfs", 0, NULL) == 0);
	CHECK(device_of(&transport, fd, ".") == ((uint64_t)before.dev_major << 32 | before.dev_minor), "'.' crossed a mount");
	MUST(umount2(path, MNT_DETACH) == 0);
	close(fd);
	transport_close(&transport);
}

static bool is_mounted(const char *path)
{
	static char mounts[65536];

	MUST(read_text("/proc/self/mounts", mounts, sizeof(mounts)) > 0);
	return strstr(mounts, path);
}

/* debugfs has a folder on which tracefs is mounted as soon as a path walk enters it. */
static void automounts(struct env *env)
{
	struct transport transport;
	char path[600];
	int fd;

	tree_own_mounts();
	/* A mount of this test, which no path walk has entered yet. */
	if (mount("debugfs", env->path, "debugfs", 0, NULL)) {
		printf("no debugfs: %s\n", strerror(errno));
		return;
	}
	fd = open(env->path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	if (faccessat(fd, "tracing", F_OK, AT_SYMLINK_NOFOLLOW)) {
		printf("a kernel without anything to mount automatically\n");
		return;
	}
	transport_open(&transport, env->kind, 0);
	snprintf(path, sizeof(path), "%s/tracing ", env->path);
	CHECK(!is_mounted(path), "mounted from the start");
	request_check_all(&transport, fd, env->path, "automounts");
	CHECK(!is_mounted(path), "an automount was triggered");
	/* An entered one looks like this. */
	MUST(openat(fd, "tracing/.", O_RDONLY | O_DIRECTORY) >= 0);
	CHECK(is_mounted(path), "nothing mounts automatically");
	request_check_all(&transport, fd, env->path, "automounts that were triggered");
	transport_close(&transport);
	close(fd);
}

static void run(struct env *env)
{
	IN_CHILD(mount_points, env);
	IN_CHILD(automounts, env);
}

const struct test test = {
	.name = "mounts",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
