/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * READAHEAD beside the reading of a directory, a piece ahead of it.
 *
 *   READAHEAD of piece   1 |--------| 2 |--------| 3 |-----|
 *   entries of piece                  1 ----->  ...   2 ----->  3 -->
 *
 * The first entry of a piece is read after the READAHEAD of that piece has completed. The READAHEAD
 * of the next piece is in flight then. Without readahead_start() these functions do nothing.
 */
#ifndef RINGWALK_BENCH_READAHEAD_H
#define RINGWALK_BENCH_READAHEAD_H

#include <stdbool.h>

/*
 * Chooses "module", or "blocks+module": root has the blocks of the directory itself read
 * from the device first. Or "fadvise": POSIX_FADV_WILLNEED on the directory, which brings in its
 * blocks and no inodes. Returns false for another word.
 */
bool readahead_start(const char *how);

/* Requests the first piece of an open directory. */
void readahead_begin(int fd);

/* Waits until the next entry (not "." or "..") was brought in. */
void readahead_before_entry(void);

/* Ends the readahead of a directory. */
void readahead_end(void);

#endif
