/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata of entries by their names: a STATX on a ring for each, many in flight, or statx(2) one
 * by one.
 */
#ifndef RINGWALK_BENCH_STATX_H
#define RINGWALK_BENCH_STATX_H

#include "common.h"

/* STATX requests in flight, at most STATX_DEPTH_MOST; 0 for statx(2). */
enum { STATX_DEPTH_MOST = 1024 };
extern unsigned int statx_depth;

/* Prepares for STATX. With `async` the kernel runs each in a thread and does not try inline. */
void statx_start(bool async);

/* Called for each entry that still exists. `context` is the caller's. */
typedef void (*statx_result)(void *context, const char *name, const struct statx *st);

/* Asks for the metadata of all entries in `bytes` of records of getdents64. */
void statx_records(int fd, const char *records, size_t bytes, statx_result each, void *context);

/*
 * The same in two steps, to ask in the order of inode numbers: keep the records of a whole
 * directory, then ask for all that were kept.
 */
void statx_keep(const char *records, size_t bytes);
void statx_kept(int fd, statx_result each, void *context);

#endif
