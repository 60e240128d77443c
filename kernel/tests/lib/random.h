/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests made up for random_calls.c: mostly what a program could ask for, with numbers at which something changes.
 */
#ifndef RINGWALK_RANDOM_H
#define RINGWALK_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest request. */
#define RANDOM_REQUEST 80

/**
 * struct random_shared - what requests are made of
 * @memory: where buffers and names lie
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

/* Makes a request in RANDOM_REQUEST bytes, and returns its command. */
unsigned int random_request(const struct random_shared *shared, uint64_t *seed, void *request);

/* Overwrites a field, or a bit, or nothing. */
void random_spoil(uint64_t *seed, char *request);

/* An address in the memory, sometimes at its end, seldom anywhere. */
uint64_t random_address(const struct random_shared *shared, uint64_t *seed);

#endif
