/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * READAHEAD beside the reading of a directory, a piece ahead of it.
 *
 *   READAHEAD of piece   1 |--------| 2 |--------| 3 |-----|
 *   entries of piece                  1 ----->  ...   2 ----->  3 -->
 *
 * The first entry of a piece is looked at when the READAHEAD of that piece has completed; then that of the next piece is on its
 * way. Without readahead_start() all these do nothing.
 */
#ifndef RINGWALK_BENCH_READAHEAD_H
#define RINGWALK_BENCH_READAHEAD_H

#include <stdbool.h>

/* By "module" or "opcode"; false for another word. */
bool readahead_start(const char *how);

/* Asks for the first piece of an open directory. */
void readahead_begin(int fd);

/* Waits until the next entry (not "." or "..") was brought in. */
void readahead_before_entry(void);

/* The directory was read. */
void readahead_end(void);

#endif
