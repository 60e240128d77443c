// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "everything.h"
#include "test.h"
#include "tree.h"

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
		tree_file(fd, name, 0644);
	}
	memset(name, 'm', 255);
	name[255] = 0;
	tree_file(fd, name, 0644);
	tree_file(fd, "...", 0644);
	tree_file(fd, " ", 0644);
	tree_file(fd, "line\nend", 0644);
	tree_file(fd, "\xff\xfe", 0644);
	tree_file(fd, "\xc3\xa4", 0644);
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

	tree_file(fd, "file", 0644);
	tree_file(fd, "list", 0640);
	tree_file(fd, "setuid", 0755);
	MUST(fchmodat(fd, "setuid", 04711, 0) == 0);
	tree_file(fd, "owned", 0600);
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
