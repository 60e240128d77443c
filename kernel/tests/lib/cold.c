// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cold.h"
#include "disks.h"
#include "request.h"
#include "sys.h"
#include "tree.h"

void cold_attribute(const char *path, const char *name)
{
	/* Files with the same attributes would share the block. */
	static unsigned int number;
	/* Too long for the inode, so that it has a block. */
	char value[700];

	memset(value, 'x', sizeof(value));
	snprintf(value, sizeof(value), "%u", number++);
	MUST(tree_xattr(path, name, "user.cold", value, sizeof(value)));
}

static void add_files(const char *path, int fd, unsigned int count)
{
	char name[32];

	tree_files(fd, "file", count);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "file%06u", i);
		cold_attribute(path, name);
	}
}

void cold_open(struct cold *cold, const struct env *env)
{
	scratch_open(&cold->scratch, env, SCRATCH_PLAIN, NULL);
	cold->fd = tree_folder(cold->scratch.path, "cold", cold->path);
	add_files(cold->path, cold->fd, COLD_FILES);
	list_read(&cold->list, cold->fd);
	MUST(cold->list.count == COLD_FILES + 2);
}

void cold_open_tree(struct cold *cold, const struct env *env, unsigned int folders)
{
	scratch_open(&cold->scratch, env, SCRATCH_PLAIN, NULL);
	cold->fd = tree_folder(cold->scratch.path, "cold", cold->path);
	for (unsigned int i = 0; i < folders; i++) {
		char name[32], path[512];
		int fd;

		snprintf(name, sizeof(name), "folder%06u", i);
		fd = tree_folder(cold->path, name, path);
		add_files(path, fd, COLD_FILES / folders);
		close(fd);
	}
	list_read(&cold->list, cold->fd);
	MUST(cold->list.count == folders + 2);
}

void cold_open_names(struct cold *cold, const struct env *env)
{
	char name[256];

	scratch_open(&cold->scratch, env, SCRATCH_PLAIN, NULL);
	cold->fd = tree_folder(cold->scratch.path, "cold", cold->path);
	memset(name, 'n', sizeof(name));
	/* Links of one file: the image has fewer inodes than the folder has names. */
	MUST(mknodat(cold->fd, "first", S_IFREG | 0644, 0) == 0);
	for (unsigned int i = 1; i < COLD_NAMES; i++) {
		snprintf(name + 230, sizeof(name) - 230, "%06u", i);
		MUST(linkat(cold->fd, "first", cold->fd, name, 0) == 0);
	}
	MUST(syncfs(cold->fd) == 0);
	list_read(&cold->list, cold->fd);
	MUST(cold->list.count == COLD_NAMES + 2);
}

void cold_close(struct cold *cold)
{
	list_free(&cold->list);
	close(cold->fd);
	scratch_close(&cold->scratch);
}

/* Brings the inodes of a folder and of those below it into memory. */
static void stat_all(int fd, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct dirent_record *entry = list->at[i];
		struct statx_record stat;
		struct list below;
		int folder;

		MUST(sys_statx(fd, entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stat) == 0);
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		folder = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY);
		MUST(folder >= 0);
		list_read(&below, folder);
		stat_all(folder, &below);
		list_free(&below);
		close(folder);
	}
}

void cold_begin(struct cold *cold, bool known)
{
	disks_drop_caches(cold->fd);
	if (known)
		stat_all(cold->fd, &cold->list);
	/* Blocks alone: a security module may have read attributes with the inodes. */
	if (known)
		MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
	MUST(lseek(cold->fd, 0, SEEK_SET) == 0);
	scratch_slow(&cold->scratch, COLD_MS);
}

off_t cold_wait_moved(const struct cold *cold, off_t position)
{
	double until = now() + 20;
	off_t moved;

	while ((moved = lseek(cold->fd, 0, SEEK_CUR)) == position) {
		MUST(now() < until);
		usleep(2000);
	}
	MUST(moved >= 0);
	return moved;
}

pid_t cold_end_after(struct cold *cold, double seconds)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (child)
		return child;
	usleep(seconds * 1000000);
	scratch_works(&cold->scratch);
	test_child_exit();
}

void cold_end(struct cold *cold, pid_t helper)
{
	if (helper) {
		kill(helper, SIGKILL);
		waitpid(helper, NULL, 0);
	}
	scratch_works(&cold->scratch);
}

struct ringwalk_readdirplus cold_request(const struct cold *cold, void *buf, uint32_t len)
{
	struct ringwalk_readdirplus request = request_readdirplus(cold->fd, buf, len);

	request.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&request.fields, NULL, 0, 1000, 1024);
	return request;
}

/* Compares the entries that came; returns their number. */
static size_t check_first(struct cold *cold, struct transport *transport, const struct ringwalk_readdirplus *request, long len,
			  const char *what)
{
	struct compare compare = request_compare(transport, cold->fd, cold->path, &request->fields, request->flags);

	if (len < 0)
		return 0;
	CHECK_NULL(compare_batch(&compare, (void *)(uintptr_t)request->buf, len, request->entries, &cold->list, 0), "%s: first entries",
		   what);
	return request->entries;
}

void cold_check_rest(struct cold *cold, struct transport *transport, const struct ringwalk_readdirplus *request, long len,
		     const char *what)
{
	struct ringwalk_readdirplus rest = *request;
	size_t first = check_first(cold, transport, request, len, what);

	rest.off = RINGWALK_OFF_CURRENT;
	CHECK_NULL(request_compare_rest(transport, &rest, cold->path, &cold->list, first), "%s: entries after the first %zu", what,
		   first);
}
