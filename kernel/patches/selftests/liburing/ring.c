// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "ring.h"

/* Submissions without memory for the requests before it counts as an error. */
#define RING_TRIES	100

int ring_open(struct ring *ring, unsigned int entries, unsigned int flags)
{
	int error = io_uring_queue_init(entries, &ring->uring, flags);

	if (!error)
		ring->entries = ring->uring.sq.ring_entries;
	return error;
}

void ring_close(struct ring *ring)
{
	io_uring_queue_exit(&ring->uring);
}

struct io_uring_sqe *ring_entry(struct ring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);

	if (sqe)
		memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

unsigned int ring_index(const struct ring *ring, const struct io_uring_sqe *sqe)
{
	return sqe - ring->uring.sq.sqes;
}

int ring_submit(struct ring *ring, unsigned int wait)
{
	int done = 0, tries = 0, ret;

	do {
		ret = io_uring_submit_and_wait(&ring->uring, wait);
		if (ret > 0)
			done += ret;
	} while (ret == -EINTR || (ret == -EAGAIN && ++tries < RING_TRIES));
	return ret < 0 ? ret : done;
}

bool ring_take(struct ring *ring, struct io_uring_cqe *cqe)
{
	struct io_uring_cqe *got;

	if (io_uring_peek_cqe(&ring->uring, &got))
		return false;
	*cqe = *got;
	io_uring_cqe_seen(&ring->uring, got);
	return true;
}

int ring_wait(struct ring *ring, struct io_uring_cqe *cqe)
{
	while (!ring_take(ring, cqe)) {
		int ret = ring_submit(ring, 1);

		if (ret < 0)
			return ret;
	}
	return 0;
}

int ring_cancel_and_wait(struct ring *ring, uint64_t user_data, struct io_uring_cqe *request,
			 int *cancelled)
{
	struct io_uring_sqe *sqe = ring_entry(ring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_cancel64(sqe, user_data, 0);
	sqe->user_data = ~user_data;
	for (int i = 0; i < 2; i++) {
		struct io_uring_cqe cqe;
		int error = ring_wait(ring, &cqe);

		if (error)
			return error;
		if (cqe.user_data == user_data)
			*request = cqe;
		else if (cancelled)
			*cancelled = cqe.res;
	}
	return 0;
}

int ring_register(struct ring *ring, unsigned int opcode, const void *arg, unsigned int nr_args)
{
	return io_uring_register(ring->uring.ring_fd, opcode, arg, nr_args);
}
