/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of liburing for one thread. Handles full rings and interrupted waits; any other failure is
 * an errno for the test.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>

#include "liburing.h"

/**
 * struct ring - an io_uring.
 * @uring: the ring
 * @entries: submission entries
 */
struct ring {
	struct io_uring uring;
	unsigned int entries;
};

/* Returns 0 or a negative errno; @flags are IORING_SETUP_ bits. */
int ring_open(struct ring *ring, unsigned int entries, unsigned int flags);
void ring_close(struct ring *ring);

/* Returns the next submission entry, zeroed, or NULL if the queue is full. */
struct io_uring_sqe *ring_entry(struct ring *ring);
/* Returns the position of @sqe in the queue. */
unsigned int ring_index(const struct ring *ring, const struct io_uring_sqe *sqe);
/*
 * Submits the queued entries and waits for @wait completions. Returns the number of submitted
 * entries, or a negative errno.
 */
int ring_submit(struct ring *ring, unsigned int wait);
/* Takes a completion, if there is one. */
bool ring_take(struct ring *ring, struct io_uring_cqe *cqe);
/* Waits for a completion and takes it. Returns 0 or a negative errno. */
int ring_wait(struct ring *ring, struct io_uring_cqe *cqe);

/*
 * Cancels the only request in flight, which has this user_data, and waits for both completions.
 * @request gets that of the request, @cancelled (if not NULL) the result of the cancellation.
 * Returns 0 or a negative errno.
 */
int ring_cancel_and_wait(struct ring *ring, uint64_t user_data, struct io_uring_cqe *request,
			 int *cancelled);

int ring_register(struct ring *ring, unsigned int opcode, const void *arg, unsigned int nr_args);

#endif
