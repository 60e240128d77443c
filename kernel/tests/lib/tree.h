/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folders to read: made, changed and removed.
 */
#ifndef RINGWALK_TREE_H
#define RINGWALK_TREE_H

#include <stdbool.h>

/* Removes a folder and all that is in it; mounts in it are detached first. What is not there is no error. */
void tree_remove(const char *path);

/* Makes an empty folder below @parent and writes its path to @path (512 bytes). Returns a descriptor open for reading. */
int tree_folder(const char *parent, const char *name, char *path);

/* Mounts that this process makes from now on, or takes away, are seen by itself and its children only, and end with them. */
void tree_own_mounts(void);

/* @count empty files, named by @prefix and a number of 6 digits. */
void tree_files(int fd, const char *prefix, unsigned int count);

/*
 * One of every kind of entry that the file system can hold: files of some sizes, modes and owners, links, folders,
 * pipes, sockets, devices, long names, names with odd bytes, extended attributes and access control lists.
 */
void tree_everything(int fd, const char *path);

/* Sets an extended attribute of @name (a link itself is not followed); false if the file system has none of that kind. */
bool tree_xattr(const char *path, const char *name, const char *attribute, const void *value, size_t len);

/* An access control list (what system.posix_acl_access holds) that gives a user and a group rights of their own. */
struct acl_value {
	unsigned char bytes[4 + 6 * 8];
};
struct acl_value tree_acl(unsigned int uid, unsigned int gid);

#endif
