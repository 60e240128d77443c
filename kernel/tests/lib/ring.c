// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"

/* Submissions without memory for the requests before it counts as an error. */
#define RING_TRIES	100

static int map_ring(struct ring *ring, const struct io_uring_params *params)
{
	size_t sq_len = params->sq_off.array + params->sq_entries * sizeof(unsigned int);
	size_t cq_len = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
	char *base;

	/* IORING_FEAT_SINGLE_MMAP: since 5.4, older than uring_cmd. */
	ring->rings_len = sq_len > cq_len ? sq_len : cq_len;
	ring->rings = mmap(NULL, ring->rings_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			   ring->fd, IORING_OFF_SQ_RING);
	if (ring->rings == MAP_FAILED)
		return -errno;
	ring->sqes_len = params->sq_entries * sizeof(struct io_uring_sqe);
	ring->sqes = mmap(NULL, ring->sqes_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  ring->fd, IORING_OFF_SQES);
	if (ring->sqes == MAP_FAILED) {
		munmap(ring->rings, ring->rings_len);
		return -errno;
	}
	base = ring->rings;
	ring->sq_head = (unsigned int *)(base + params->sq_off.head);
	ring->sq_tail = (unsigned int *)(base + params->sq_off.tail);
	ring->sq_mask = (unsigned int *)(base + params->sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(base + params->sq_off.array);
	ring->cq_head = (unsigned int *)(base + params->cq_off.head);
	ring->cq_tail = (unsigned int *)(base + params->cq_off.tail);
	ring->cq_mask = (unsigned int *)(base + params->cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(base + params->cq_off.cqes);
	return 0;
}

int ring_open(struct ring *ring, unsigned int entries, unsigned int flags)
{
	struct io_uring_params params = { .flags = flags };
	int error;

	memset(ring, 0, sizeof(*ring));
	ring->fd = syscall(__NR_io_uring_setup, entries, &params);
	if (ring->fd < 0)
		return -errno;
	ring->features = params.features;
	ring->entries = params.sq_entries;
	error = map_ring(ring, &params);
	if (error) {
		close(ring->fd);
		ring->fd = -1;
		return error;
	}
	for (unsigned int i = 0; i < ring->entries; i++)
		ring->sq_array[i] = i;
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->fd < 0)
		return;
	munmap(ring->sqes, ring->sqes_len);
	munmap(ring->rings, ring->rings_len);
	close(ring->fd);
	ring->fd = -1;
}

struct io_uring_sqe *ring_entry(struct ring *ring)
{
	unsigned int tail = *ring->sq_tail + ring->queued;
	struct io_uring_sqe *sqe;

	if (tail - __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE) >= ring->entries)
		return NULL;
	sqe = &ring->sqes[tail & *ring->sq_mask];
	memset(sqe, 0, sizeof(*sqe));
	ring->queued++;
	return sqe;
}

unsigned int ring_index(const struct ring *ring, const struct io_uring_sqe *sqe)
{
	return sqe - ring->sqes;
}

int ring_submit(struct ring *ring, unsigned int wait)
{
	unsigned int flags = wait ? IORING_ENTER_GETEVENTS : 0;
	unsigned int left;
	int done = 0, tries = 0;

	/* The release makes the entries visible before the tail is. */
	__atomic_store_n(ring->sq_tail, *ring->sq_tail + ring->queued, __ATOMIC_RELEASE);
	ring->queued = 0;
	for (;;) {
		int ret;

		left = *ring->sq_tail - __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE);
		ret = syscall(__NR_io_uring_enter, ring->fd, left, wait, flags, NULL, 0);
		if (ret >= 0)
			done += ret;
		/* EAGAIN: no memory for a request. */
		else if (errno != EINTR && (errno != EAGAIN || ++tries == RING_TRIES))
			return -errno;
		if (ret >= 0 && (unsigned int)ret == left)
			return done;
		if (!ret)
			return done;
	}
}

bool ring_take(struct ring *ring, struct io_uring_cqe *cqe)
{
	unsigned int head = *ring->cq_head;

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*cqe = ring->cqes[head & *ring->cq_mask];
	/* The entry is copied before the kernel may use its place again. */
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
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

bool ring_cancel(struct ring *ring, uint64_t user_data, uint64_t own)
{
	struct io_uring_sqe *sqe = ring_entry(ring);

	if (!sqe)
		return false;
	sqe->opcode = IORING_OP_ASYNC_CANCEL;
	sqe->fd = -1;
	sqe->addr = user_data;
	sqe->user_data = own;
	return true;
}

int ring_cancel_and_wait(struct ring *ring, uint64_t user_data, struct io_uring_cqe *request,
			 int *cancelled)
{
	if (!ring_cancel(ring, user_data, ~user_data))
		return -EBUSY;
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
	int ret = syscall(__NR_io_uring_register, ring->fd, opcode, arg, nr_args);

	return ret < 0 ? -errno : ret;
}
