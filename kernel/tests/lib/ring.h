/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small io_uring implementation by system calls, so that no library stands between a test and the
 * kernel.
 *
 * A ring belongs to one thread. It handles full rings and interrupted waits; any other failure is
 * an errno for the test.
 */
#ifndef RINGWALK_RING_H
#define RINGWALK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/io_uring.h>

/**
 * struct ring - an io_uring.
 * @fd: its descriptor, -1 if there is none
 * @features: IORING_FEAT_ bits
 * @entries: submission entries
 * @queued: entries got by ring_entry() and not submitted yet
 */
struct ring {
	int fd;
	unsigned int features;
	unsigned int entries;
	unsigned int queued;
	unsigned int *sq_head, *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	void *rings;
	size_t rings_len, sqes_len;
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
 * Queues the cancellation of the request with this user_data; false if the queue is full. @own is
 * the user_data of the cancellation itself.
 */
bool ring_cancel(struct ring *ring, uint64_t user_data, uint64_t own);
/*
 * Cancels the only request in flight, which has this user_data, and waits for both completions.
 * @request gets that of the request, @cancelled (if not NULL) the result of the cancellation.
 * Returns 0 or a negative errno.
 */
int ring_cancel_and_wait(struct ring *ring, uint64_t user_data, struct io_uring_cqe *request,
			 int *cancelled);

int ring_register(struct ring *ring, unsigned int opcode, const void *arg, unsigned int nr_args);

#endif
