// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
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
		if (snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) < (int)sizeof(below))
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

static void make_file(int fd, const char *name, mode_t mode)
{
	int file = openat(fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

	MUST(file >= 0);
	close(file);
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

void tree_files(int fd, const char *prefix, unsigned int count)
{
	char name[256];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%06u", prefix, i);
		make_file(fd, name, 0644);
	}
}

bool tree_xattr(const char *path, const char *name, const char *attribute, const void *value, size_t len)
{
	char full[PATH_MAX];

	MUST(snprintf(full, sizeof(full), "%s/%s", path, name) < (int)sizeof(full));
	if (lsetxattr(full, attribute, value, len, 0) == 0)
		return true;
	MUST(errno == EOPNOTSUPP || errno == EPERM || errno == ENOSPC || errno == ERANGE || errno == E2BIG);
	return false;
}

static void put32(unsigned char *at, unsigned int value)
{
	for (int i = 0; i < 4; i++)
		at[i] = value >> (8 * i);
}

/*
 * As in linux/posix_acl_xattr.h: a version, then entries of tag, permissions and id, in order of
 * the tags.
 */
struct acl_value tree_acl(unsigned int uid, unsigned int gid)
{
	static const unsigned char entries[6][2] = {
		{ 0x01, 6 }, { 0x02, 4 }, { 0x04, 4 }, { 0x08, 6 }, { 0x10, 6 }, { 0x20, 4 },
	};
	struct acl_value acl = { };

	put32(acl.bytes, 2);
	for (int i = 0; i < 6; i++) {
		unsigned char *at = acl.bytes + 4 + 8 * i;
		unsigned int id = entries[i][0] == 0x02 ? uid : entries[i][0] == 0x08 ? gid : ~0u;

		at[0] = entries[i][0];
		at[2] = entries[i][1];
		put32(at + 4, id);
	}
	return acl;
}

static void odd_names(int fd)
{
	char name[256];

	for (unsigned int len = 1; len < 256; len += len < 20 ? 1 : 47) {
		memset(name, 'n', len);
		name[len] = 0;
		make_file(fd, name, 0644);
	}
	memset(name, 'm', 255);
	name[255] = 0;
	make_file(fd, name, 0644);
	make_file(fd, "...", 0644);
	make_file(fd, " ", 0644);
	make_file(fd, "line\nend", 0644);
	make_file(fd, "\xff\xfe", 0644);
	make_file(fd, "\xc3\xa4", 0644);
}

static void special_files(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(symlinkat("nowhere", fd, "link-to-nothing") == 0);
	MUST(symlinkat("file", fd, "link-to-file") == 0);
	MUST(symlinkat(".", fd, "link-to-folder") == 0);
	MUST(mkfifoat(fd, "pipe", 0600) == 0);
	MUST(mknodat(fd, "null", S_IFCHR | 0666, makedev(1, 3)) == 0);
	MUST(mknodat(fd, "disk", S_IFBLK | 0600, makedev(259, 70000)) == 0);
	/* A socket's path has at most 108 bytes, so it goes through the descriptor. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", fd);
	MUST(sock >= 0);
	MUST(bind(sock, (struct sockaddr *)&address, sizeof(address)) == 0);
	close(sock);
}

static void attributes(const char *path)
{
	struct acl_value acl = tree_acl(1234, 4321);
	char value[1500];

	memset(value, 'v', sizeof(value));
	tree_xattr(path, "file", "user.one", "1", 1);
	tree_xattr(path, "file", "user.empty", "", 0);
	tree_xattr(path, "file", "user.binary", "\0\xff\0", 3);
	tree_xattr(path, "file", "trusted.two", "two", 3);
	tree_xattr(path, "file", "security.three", "three", 5);
	tree_xattr(path, "folder", "user.one", "of a folder", 11);
	tree_xattr(path, "folder", "trusted.large", value, sizeof(value));
	tree_xattr(path, "link-to-file", "trusted.link", "of the link", 11);
	tree_xattr(path, "list", "system.posix_acl_access", acl.bytes, sizeof(acl.bytes));
	tree_xattr(path, "folder", "system.posix_acl_default", acl.bytes, sizeof(acl.bytes));
	tree_xattr(path, ".", "user.self", "self", 4);
}

void tree_everything(int fd, const char *path)
{
	int file;

	make_file(fd, "file", 0644);
	make_file(fd, "list", 0640);
	make_file(fd, "setuid", 0755);
	MUST(fchmodat(fd, "setuid", 04711, 0) == 0);
	make_file(fd, "owned", 0600);
	MUST(fchownat(fd, "owned", 1000, 2000, 0) == 0);
	MUST(linkat(fd, "owned", fd, "owned-again", 0) == 0);
	file = openat(fd, "data", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
	MUST(file >= 0);
	MUST(write(file, "0123456789", 10) == 10);
	MUST(ftruncate(file, 123456) == 0);
	/* Delayed allocation would change st_blocks while it is compared. */
	MUST(fsync(file) == 0);
	close(file);
	MUST(utimensat(fd, "data", (struct timespec[]){ { 1, 999999999 }, { -5, 7 } }, 0) == 0);
	MUST(mkdirat(fd, "folder", 0700) == 0);
	MUST(mkdirat(fd, "sticky", 0700) == 0);
	MUST(fchmodat(fd, "sticky", 01777, 0) == 0);
	special_files(fd);
	odd_names(fd);
	attributes(path);
}
