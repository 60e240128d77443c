/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways to read a directory that rwbench compares, behind one interface.
 */
#ifndef RINGWALK_BENCH_READERS_H
#define RINGWALK_BENCH_READERS_H

#include "common.h"

/* What was read of a directory: `bytes` of records at `buffer`, none at the end; nothing is behind them if `end` is set. */
struct batch {
	const char *buffer;
	size_t bytes;
	bool end;
};

/*
 * A way to read. `plus` tells records with metadata (struct ringwalk_entry) from those of getdents64. `fill` reads on in an open
 * directory; `start` is called once before.
 */
struct reader {
	const char *what;
	const char *how;
	bool plus;
	void (*start)(void);
	struct batch (*fill)(int fd);
};

/* Bytes of the buffer, BUFFER unless set before the first call; at most BUFFER_MOST. */
extern uint32_t buffer_size;

/* The way of this name; null if there is none. */
const struct reader *find_reader(const char *what, const char *how);

/* For a list of what there is: ends at a null `what`. */
extern const struct reader readers[];

#endif
