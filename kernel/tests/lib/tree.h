/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes, changes and removes folders for the tests. */
#ifndef RINGWALK_TREE_H
#define RINGWALK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Removes a folder with its contents. Mounts in it are detached first. A missing folder is no
 * error.
 */
void tree_remove(const char *path);

/*
 * Makes an empty folder below @parent and writes its path to @path (512 bytes). Returns a
 * descriptor open for reading.
 */
int tree_folder(const char *parent, const char *name, char *path);

/*
 * Gives this process its own mount namespace. Only the process and its children see later mounts,
 * which end with them.
 */
void tree_own_mounts(void);

/*
 * Unmounts @path; false if it stays in use. io_uring lets go of a file some time after the request
 * that used it, and after the end of the task.
 */
bool tree_unmount(const char *path);

/* Makes an empty file, which must not be there yet. */
void tree_file(int fd, const char *name, mode_t mode);
/* Makes @count empty files, named by @prefix and a number of 6 digits. */
void tree_files(int fd, const char *prefix, unsigned int count);

/*
 * Sets an extended attribute of @name (a link itself is not followed); false if the file system has
 * none of that kind.
 */
bool tree_xattr(const char *path, const char *name, const char *attribute, const void *value,
		size_t len);

#endif
