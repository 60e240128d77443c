// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4 and XFS are shut down, as after an error of their journal, while requests run. Requests fail
 * as the system calls do, and the file system can be unmounted afterwards.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

/* fs/xfs/libxfs/xfs_fs.h, fs/ext4/ext4.h: the same number; 2: what is not written yet is lost. */
#define GOINGDOWN	_IOR('X', 125, uint32_t)
#define NO_LOG_FLUSH	2

#define WORKERS		3

static char buf[65536] __attribute__((aligned(8)));
static char source[256], type[32];

/* Reads where the file system at @root comes from. */
static bool find_mount(const char *root)
{
	static char text[65536];
	char *line, *rest, at[512];

	MUST(read_text("/proc/self/mounts", text, sizeof(text)) > 0);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%255s %511s %31s", source, at, type) == 3 && !strcmp(at, root))
			return true;
	return false;
}

/*
 * Makes requests until it is killed. Errors are right; a hang or a complaint of the kernel is not.
 */
static void worker(struct env *env, const char *path, int ready)
{
	struct transport transport;
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	transport_open(&transport, env->kind, 0);
	MUST(fd >= 0);
	for (unsigned int round = 0;; round++) {
		struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
		struct ringwalk_readahead ahead = request_readahead(fd);
		struct ringwalk_readtree tree = request_readtree(fd, buf, sizeof(buf));

		plus.off = ahead.off = tree.off = 0;
		plus.flags = RINGWALK_F_XATTR_ALL;
		ahead.flags = RINGWALK_F_XATTR_BLOCKS;
		request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
		transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
		if (!transport_is_opcode(env->kind))
			transport_call(&transport, RINGWALK_IOC_READTREE, &tree);
		if (!transport_is_opcode(env->kind))
			transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
		if (round == 2)
			MUST(write(ready, "", 1) == 1);
	}
}

/* Without caches neither names nor inodes can be had. */
static void compare(struct env *env, const char *path)
{
	struct transport transport;
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	/* The folder's inode is in memory or not. */
	if (fd < 0)
		return;
	transport_open(&transport, env->kind, 0);
	for (int round = 0; round < 2; round++) {
		request_check_error(&transport, fd);
		MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
	}
	transport_close(&transport);
	close(fd);
}

static void shut_down(struct env *env, const char *path)
{
	uint32_t how = NO_LOG_FLUSH;
	pid_t workers[WORKERS];
	int ready[2], root;
	char byte;

	MUST(pipe(ready) == 0);
	fflush(stdout);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		MUST(workers[i] >= 0);
		if (!workers[i])
			worker(env, path, ready[1]);
	}
	for (int i = 0; i < WORKERS; i++)
		MUST(read(ready[0], &byte, 1) == 1);
	root = open(env->root, O_RDONLY | O_DIRECTORY);
	MUST(root >= 0);
	MUST(ioctl(root, GOINGDOWN, &how) == 0);
	close(root);
	/* From now on they read from a file system that has gone, also without its caches. */
	usleep(100000);
	MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
	usleep(100000);
	for (int i = 0; i < WORKERS; i++) {
		int status;

		CHECK(waitpid(workers[i], &status, WNOHANG) == 0, "a task ended by itself");
		kill(workers[i], SIGKILL);
		waitpid(workers[i], &status, 0);
	}
	close(ready[0]);
	close(ready[1]);
	compare(env, path);
}

static void run(struct env *env)
{
	char path[512], below[512], name[32], value[700], console[64] = "";
	struct transport transport;
	int fd;

	if (env->fs != FS_EXT && env->fs != FS_XFS)
		test_skip("no ioctl shuts this file system down");
	if (!find_mount(env->root))
		test_skip("%s is not a mount point", env->root);
	if (!strcmp(type, "ext2"))
		test_skip("ext2 has no journal");
	transport_open(&transport, env->kind, 0);
	transport_close(&transport);
	/* Nothing else may hold the file system: it must be mounted anew afterwards. */
	close(env->fd);
	if (!tree_unmount(env->root))
		test_skip("%s is in use", env->root);
	MUST(mount(source, env->root, type, 0, NULL) == 0);

	fd = tree_folder(env->path, "folder", path);
	tree_files(fd, "file", 300);
	close(tree_folder(path, "below", below));
	memset(value, 'x', sizeof(value));
	for (int i = 0; i < 300; i += 5) {
		snprintf(name, sizeof(name), "file%06u", i);
		tree_xattr(path, name, "user.long", value, sizeof(value));
	}
	MUST(syncfs(fd) == 0);
	close(fd);
	/* SELinux reports each inode that cannot be read; a serial console is slow. */
	read_text("/proc/sys/kernel/printk", console, sizeof(console));
	write_text("/proc/sys/kernel/printk", "1");
	shut_down(env, path);
	write_text("/proc/sys/kernel/printk", console);
	CHECK(tree_unmount(env->root), "the file system is still in use");
	/* The journal is replayed, and the files are there. */
	MUST(mount(source, env->root, type, 0, NULL) == 0);
	transport_open(&transport, env->kind, 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	request_check_all(&transport, fd, path, "mounted anew");
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "shutdown",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
