/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways to read a directory that rwbench compares, behind one interface.
 */
#ifndef RINGWALK_BENCH_READERS_H
#define RINGWALK_BENCH_READERS_H

#include "common.h"

/*
 * The result of a read: `bytes` of records at `buffer`, 0 at the end of the directory. `end` is set
 * if no records follow.
 */
struct batch {
	const char *buffer;
	size_t bytes;
	bool end;
};

/*
 * A way to read. `fill` reads on in an open directory; NULL for whole trees (trees.h). `start` is
 * called once before.
 */
struct reader {
	const char *what;
	const char *how;
	enum {
		/* Records of getdents64, and a statx(2) for each where metadata is wanted. */
		NAMES,
		/* Records of getdents64, and statx.h for their metadata. */
		NAMES_STATX,
		/* The same for a whole directory at a time, in the order of inode numbers. */
		NAMES_STATX_SORTED,
		/* Records with metadata (struct ringwalk_entry). */
		PLUS,
	} records;
	void (*start)(void);
	struct batch (*fill)(int fd);
};

/* Bytes of the buffer, BUFFER unless set before the first call; at most BUFFER_MOST. */
extern uint32_t buffer_size;

/* True if all extended attributes are wanted; set before the first call. */
extern bool with_xattrs;

/* Returns the way of this name, or null. */
const struct reader *find_reader(const char *what, const char *how);

/* Lists all ways; ends at a null `what`. */
extern const struct reader readers[];

#endif
