// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sys.h"
#include "test.h"
#include "tree.h"

void tree_remove(const char *path)
{
	struct dirent *entry;
	char below[PATH_MAX];
	DIR *dir;

	if (unlink(path) == 0)
		return;
	if (errno == EBUSY || errno == EISDIR || errno == EPERM) {
		/* Several mounts may be stacked. EINVAL: there is none. */
		while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			;
	}
	if (unlink(path) == 0)
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
		    (int)sizeof(below))
			tree_remove(below);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

int tree_folder(const char *parent, const char *name, char *path)
{
	int fd;

	MUST(snprintf(path, 512, "%s/%s", parent, name) < 512);
	MUST(mkdir(path, 0755) == 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	return fd;
}

void tree_own_mounts(void)
{
	MUST(unshare(CLONE_NEWNS) == 0);
	MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
}

bool tree_unmount(const char *path)
{
	for (double until = now() + 10; now() < until; usleep(10000))
		if (umount2(path, 0) == 0)
			return true;
	return false;
}

void tree_file(int fd, const char *name, mode_t mode)
{
	int file = openat(fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

	MUST(file >= 0);
	close(file);
}

void tree_files(int fd, const char *prefix, unsigned int count)
{
	char name[256];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%06u", prefix, i);
		tree_file(fd, name, 0644);
	}
}

bool tree_xattr(const char *path, const char *name, const char *attribute, const void *value,
		size_t len)
{
	char full[PATH_MAX];

	MUST(snprintf(full, sizeof(full), "%s/%s", path, name) < (int)sizeof(full));
	if (lsetxattr(full, attribute, value, len, 0) == 0)
		return true;
	MUST(errno == EOPNOTSUPP || errno == EPERM || errno == ENOSPC || errno == ERANGE ||
	     errno == E2BIG);
	return false;
}
