/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder with every kind of entry. */
#ifndef RINGWALK_EVERYTHING_H
#define RINGWALK_EVERYTHING_H

/*
 * Makes one of every kind of entry that the file system can hold: files of some sizes, modes and
 * owners, links, folders, pipes, sockets, devices, long names, names with odd bytes, extended
 * attributes and access control lists.
 */
void tree_everything(int fd, const char *path);

/*
 * Makes an access control list (the value of system.posix_acl_access) with entries for a user and a
 * group.
 */
struct acl_value {
	unsigned char bytes[4 + 6 * 8];
};
struct acl_value tree_acl(unsigned int uid, unsigned int gid);

#endif
