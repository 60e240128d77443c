/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random requests for random_calls.c: mostly plausible ones, with boundary values.
 */
#ifndef RINGWALK_RANDOM_H
#define RINGWALK_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest request. */
#define RANDOM_REQUEST 88

/**
 * struct random_shared - the data that requests use
 * @memory: the memory of buffers and names
 * @len: bytes there
 * @fds: descriptors of folders and others
 * @fd_count: how many
 */
struct random_shared {
	char *memory;
	size_t len;
	const int *fds;
	unsigned int fd_count;
};

/* Writes a request of RANDOM_REQUEST bytes, and returns its command. */
unsigned int random_request(const struct random_shared *shared, uint64_t *seed, void *request);

/* Overwrites a field, or a bit, or nothing, of a request or other arguments. */
void random_spoil(uint64_t *seed, void *memory, size_t len);

/* Returns an address in the memory, sometimes at its end, rarely an arbitrary one. */
uint64_t random_address(const struct random_shared *shared, uint64_t *seed);

#endif
