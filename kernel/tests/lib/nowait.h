/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of reading by the submitting task, without a thread of io-wq. */
#ifndef RINGWALK_NOWAIT_H
#define RINGWALK_NOWAIT_H

#include "list.h"
#include "test.h"

/* The names of its files begin so; a number of 6 digits follows. */
#define NOWAIT_PREFIX	"a-file-with-some-name-"

/*
 * Makes the folder with @count files. Writes its path to @path (512 bytes), and returns a
 * descriptor open for reading. Skips the test on file systems that only threads read.
 */
int nowait_folder(const struct env *env, unsigned int count, char *path);

/*
 * Lists the folder, so that reading it again updates no access time, which would need a thread:
 * with relatime the first reading after a change does.
 */
void nowait_list(int fd, struct list *list);

/* Opens a ring. It starts its first thread with the first request that needs one. */
struct transport nowait_ring(const struct env *env);

/* Empties the caches: "2" of names and inodes, "3" of blocks too. Skips the test if it may not. */
void nowait_drop_caches(const char *what);

/*
 * Removes the blocks of a folder from memory, except the index and one block, by looking up a
 * missing name. Each @round keeps another block.
 */
void nowait_evict(const char *path, unsigned int round);

#endif
