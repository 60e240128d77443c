// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners are those that the caller sees: through mounts with mapped ids, and in user namespaces,
 * where foreign owners are the overflow id.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/mount.h>

#include "lib/everything.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[1 << 16] __attribute__((aligned(8)));

/*
 * Starts a process in its own user namespace with these maps, and returns its id. The caller kills
 * it.
 */
static pid_t namespace_with(const char *map)
{
	int ready[2];
	char path[64], byte;
	pid_t child;

	MUST(pipe(ready) == 0);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		if (unshare(CLONE_NEWUSER))
			_exit(EXIT_SKIP);
		MUST(write(ready[1], "", 1) == 1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		test_skip("no user namespaces");
	close(ready[0]);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)child);
	MUST(write_text(path, map) == 0);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)child);
	MUST(write_text(path, map) == 0);
	return child;
}

static void end_process(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Compares the whole folder. Returns the owner of "owned" from READDIRPLUS. */
static uint32_t compare_owner(struct env *env, const char *path, const char *what)
{
	struct ringwalk_readdirplus plus;
	struct transport transport;
	struct record record;
	struct list list;
	uint32_t owner = UINT32_MAX;
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	long got;

	MUST(fd >= 0);
	transport_open(&transport, env->kind, 0);
	list_read(&list, fd);
	plus = request_readdirplus(fd, buf, sizeof(buf));
	plus.off = 0;
	plus.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "%s", what);
	plus.flags = 0;
	request_xattrs(&plus.fields, NULL, 0, 0, 0);
	/* An operation may return less than there is, as it does not wait for a device file. */
	do {
		got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
		for (const char *at = buf; at < buf + got; at = record.next) {
			if (record_parse(at, buf + got - at, &plus.fields, &record))
				break;
			if (!strcmp(record.name, "owned") && record.stat)
				owner = record.stat->uid;
		}
		plus.off = RINGWALK_OFF_CURRENT;
	} while (got > 0);
	list_free(&list);
	transport_close(&transport);
	close(fd);
	return owner;
}

static void mapped_mount(struct env *env)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP };
	char path[64], target[600];
	pid_t holder = namespace_with("0 100000 65536");
	uint32_t owner;
	int tree;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)holder);
	attr.userns_fd = open(path, O_RDONLY);
	tree = syscall(__NR_open_tree, AT_FDCWD, env->path, 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
	MUST(tree >= 0);
	if (syscall(__NR_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr))) {
		printf("no mapped mounts of this file system: %s\n", strerror(errno));
		end_process(holder);
		return;
	}
	tree_own_mounts();
	snprintf(target, sizeof(target), "/tmp/mapped.%d", (int)getpid());
	MUST(mkdir(target, 0755) == 0);
	MUST(syscall(__NR_move_mount, tree, "", AT_FDCWD, target,
		     4 /* MOVE_MOUNT_F_EMPTY_PATH */) == 0);
	strcat(target, "/folder");
	owner = compare_owner(env, target, "a mount with mapped ids");
	CHECK(owner == 101000, "the owner 1000 is %u through a mount that adds 100000", owner);
	target[strlen(target) - strlen("/folder")] = 0;
	MUST(umount2(target, MNT_DETACH) == 0);
	rmdir(target);
	end_process(holder);
}

/*
 * An attribute whose value depends on the reader: capabilities of a file for the root of one
 * namespace (capability.h).
 */
static void give_capability(const char *path)
{
	struct vfs_ns_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_3, .data[0].permitted = 1 << CAP_NET_RAW, .rootid = 1000,
	};

	tree_xattr(path, "file", "security.capability", &data, sizeof(data));
}

static void enter_namespace(const char *map)
{
	pid_t parent = getpid(), child;
	char path[64];
	int go[2];
	char byte;

	MUST(pipe(go) == 0);
	fflush(stdout);
	/* Only a process outside may write a map of foreign ids. */
	child = fork();
	MUST(child >= 0);
	if (!child) {
		MUST(read(go[0], &byte, 1) == 1);
		snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)parent);
		MUST(write_text(path, map) == 0);
		snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)parent);
		MUST(write_text(path, map) == 0);
		_exit(0);
	}
	if (unshare(CLONE_NEWUSER)) {
		end_process(child);
		test_skip("no user namespaces: %s", strerror(errno));
	}
	MUST(write(go[1], "", 1) == 1);
	WAIT_CHILD(child);
	MUST(setresgid(0, 0, 0) == 0);
	MUST(setresuid(0, 0, 0) == 0);
}

static void other_root(struct env *env)
{
	char path[600];
	uint32_t owner;

	snprintf(path, sizeof(path), "%s/folder", env->path);
	/* Its root is 1000 outside: the owner of "owned". */
	enter_namespace("0 1000 1");
	owner = compare_owner(env, path, "a namespace with one id");
	CHECK(owner == 0, "the owner is %u", owner);
}

static void others(struct env *env)
{
	char path[600];
	uint32_t owner;

	snprintf(path, sizeof(path), "%s/folder", env->path);
	enter_namespace("0 0 1");
	owner = compare_owner(env, path, "a namespace without the owner");
	CHECK(owner == 65534, "the owner is %u, not the overflow id", owner);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	tree_everything(fd, path);
	give_capability(path);
	MUST(chmod(path, 0755) == 0);
	transport_keep_device();
	IN_CHILD(others, env);
	IN_CHILD(other_root, env);
	IN_CHILD(mapped_mount, env);
	close(fd);
}

const struct test test = {
	.name = "ids",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
