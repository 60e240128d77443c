// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests on all kinds of rings: other entry sizes, other ways of waiting, a submitting kernel
 * thread, registered files, links and drains.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[65536] __attribute__((aligned(8)));
static struct list names;

/*
 * Opens a transport over a ring with these flags. Prints a message and returns false if this kernel
 * has none.
 */
static bool open_over(struct transport *transport, struct env *env, unsigned int flags, const char *name)
{
	struct ring own;

	transport_open(transport, env->kind, 0);
	if (ring_open(&own, 8, flags)) {
		printf("no rings with %s here\n", name);
		transport_close(transport);
		return false;
	}
	ring_close(&transport->ring);
	transport->ring = own;
	if (transport->args)
		transport->args = realloc(transport->args, own.entries * sizeof(*transport->args));
	return true;
}

/* Compares the folder through a given ring. */
static void read_through(struct transport *transport, int fd, const char *path, const char *what)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, 4096);

	plus.off = 0;
	CHECK_NULL(request_compare_rest(transport, &plus, path, &names, 0), "%s", what);
}

/* Rings with larger entries are in wide_entries(): the library's are of the usual size. */
static void kinds_of_rings(struct env *env, int fd, const char *path)
{
	static const struct {
		const char *name;
		unsigned int flags;
	} kinds[] = {
		{ "plain", 0 },
		{ "cooperative task work", IORING_SETUP_COOP_TASKRUN },
		{ "a single issuer", IORING_SETUP_SINGLE_ISSUER },
		{ "deferred task work", IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN },
		{ "all of a batch submitted", IORING_SETUP_SUBMIT_ALL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct transport transport;

		if (!open_over(&transport, env, kinds[i].flags, kinds[i].name))
			continue;
		read_through(&transport, fd, path, kinds[i].name);
		transport_close(&transport);
	}
}

/*
 * Submission entries of 128 bytes have the payload at the same place as those of 64. They are made
 * by hand, because the library does not support them.
 */
static void wide_entries(struct env *env, int fd)
{
	struct ringwalk_getdents request = request_getdents(fd, buf, sizeof(buf));
	struct transport transport;
	struct io_uring_cqe cqe;
	struct io_uring_sqe *sqe;

	request.off = 0;
	if (open_over(&transport, env, IORING_SETUP_SQE128, "SQE128")) {
		/* The first entry is at the same place in both. */
		transport_fill(&transport, ring_entry(&transport.ring), RINGWALK_IOC_GETDENTS, &request);
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res == (int)names.len, "SQE128: %d", cqe.res);
		transport_close(&transport);
	}
	request.off = 0;
	if (open_over(&transport, env, IORING_SETUP_CQE32, "CQE32")) {
		sqe = ring_entry(&transport.ring);
		transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &request);
		sqe->user_data = 0x1234;
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res == (int)names.len && cqe.user_data == 0x1234, "CQE32: %d", cqe.res);
		transport_close(&transport);
	}
}

/*
 * Wakes the kernel's thread and takes the given number of completions. Returns the smallest of
 * their results.
 */
static int by_thread(struct ring *ring, unsigned int wanted)
{
	double until = now() + 20;
	unsigned int taken = 0;
	struct io_uring_cqe cqe;
	int least = INT_MAX;

	__atomic_store_n(ring->sq_tail, *ring->sq_tail + ring->queued, __ATOMIC_RELEASE);
	ring->queued = 0;
	/* The thread may sleep: it does so after a second without work. */
	for (; taken < wanted && now() < until; usleep(1000)) {
		syscall(__NR_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
		while (ring_take(ring, &cqe)) {
			least = cqe.res < least ? cqe.res : least;
			taken++;
		}
	}
	CHECK(taken == wanted, "SQPOLL: %u of %u done", taken, wanted);
	return least;
}

/*
 * That thread gets notice of completions by a signal that means a cancellation in other threads. It
 * must not cut short requests that are to run inline.
 */
static void inline_by_thread(struct transport *transport, int fd)
{
	enum { OTHERS = 5 };
	static char out[OTHERS][4096] __attribute__((aligned(8)));
	struct ringwalk_getdents whole = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);
	struct ringwalk_getdents others[OTHERS];
	enum transport_kind kind = transport->kind;
	int least;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < OTHERS; i++) {
			others[i] = request_getdents(fd, out[i], sizeof(out[i]));
			others[i].off = 0;
			transport->kind = transport->device < 0 ? kind : TRANSPORT_WORKER;
			MUST(transport_queue(transport, RINGWALK_IOC_GETDENTS, &others[i], i));
		}
		ahead.off = whole.off = 0;
		transport->kind = transport->device < 0 ? kind : TRANSPORT_INLINE;
		MUST(transport_queue(transport, RINGWALK_IOC_READAHEAD, &ahead, OTHERS));
		MUST(transport_queue(transport, RINGWALK_IOC_GETDENTS, &whole, OTHERS + 1));
		least = by_thread(&transport->ring, OTHERS + 2);
		CHECK(least >= 0, "SQPOLL, inline beside others: %d", least);
		CHECK(whole.result_flags & RINGWALK_RESULT_END, "SQPOLL, GETDENTS beside others is cut short");
	}
	transport->kind = kind;
}

/*
 * A kernel thread submits. The request must still run with the caller's files and memory.
 */
static void submission_thread(struct env *env, int fd)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, sizeof(buf));
	struct transport transport;

	if (!open_over(&transport, env, IORING_SETUP_SQPOLL, "SQPOLL"))
		return;
	request.off = 0;
	MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request, 1));
	CHECK(by_thread(&transport.ring, 1) > 0, "SQPOLL: nothing read");
	if (!transport_is_opcode(transport.kind))
		inline_by_thread(&transport, fd);
	transport_close(&transport);
}

/*
 * A ring that polls for completions takes no operation that cannot be polled, and no such command;
 * but Linux 7.3 completes commands without polling.
 */
static void polled(struct env *env, int fd)
{
	struct ringwalk_getdents request = request_getdents(fd, buf, sizeof(buf));
	struct transport transport;
	struct io_uring_cqe cqe;

	if (!open_over(&transport, env, IORING_SETUP_IOPOLL, "IOPOLL"))
		return;
	request.off = 0;
	MUST(transport_queue(&transport, RINGWALK_IOC_GETDENTS, &request, 1));
	MUST(ring_wait(&transport.ring, &cqe) == 0);
	if (transport_is_opcode(env->kind))
		CHECK(cqe.res == -EINVAL, "IOPOLL: %d", cqe.res);
	else
		CHECK(cqe.res == -EOPNOTSUPP || cqe.res == (int)names.len, "IOPOLL: %d", cqe.res);
	transport_close(&transport);
}

/* The device as a registered file, its intended use. */
static void registered_device(struct env *env, int fd)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, sizeof(buf));
	struct transport transport;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;

	if (transport_is_opcode(env->kind))
		return;
	transport_open(&transport, env->kind, 0);
	MUST(ring_register(&transport.ring, IORING_REGISTER_FILES, &transport.device, 1) == 0);
	for (int round = 0; round < 4; round++) {
		request.off = 0;
		sqe = ring_entry(&transport.ring);
		transport_fill(&transport, sqe, RINGWALK_IOC_READDIRPLUS, &request);
		sqe->fd = 0;
		sqe->flags |= IOSQE_FIXED_FILE;
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res > 0 && request.entries == names.count, "a registered device: %d, %u entries", cqe.res, request.entries);
	}
	transport_close(&transport);
}

/* A linked request begins when the previous one has ended, and not if that failed. */
static void linked(struct env *env, int fd)
{
	enum { CHAIN = 6 };
	static char out[CHAIN][256] __attribute__((aligned(8)));
	struct ringwalk_getdents requests[CHAIN];
	struct transport transport;
	struct io_uring_cqe cqe;
	struct list got = { };

	transport_open(&transport, env->kind, 16);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	for (int i = 0; i < CHAIN; i++) {
		struct io_uring_sqe *sqe = ring_entry(&transport.ring);

		requests[i] = request_getdents(fd, out[i], sizeof(out[i]));
		transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &requests[i]);
		sqe->user_data = i;
		sqe->flags |= i < CHAIN - 1 ? IOSQE_IO_LINK : 0;
	}
	for (int i = 0; i < CHAIN; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res > 0 && cqe.user_data == (unsigned int)i, "link %d: request %ju, %d", i, (uintmax_t)cqe.user_data,
		      cqe.res);
		if (cqe.res > 0)
			list_append(&got, out[cqe.user_data], cqe.res);
	}
	for (size_t i = 0; i < got.count; i++)
		CHECK(!strcmp(got.at[i]->d_name, names.at[i]->d_name), "%s instead of %s", got.at[i]->d_name, names.at[i]->d_name);
	list_free(&got);
	/* The first fails. */
	for (int i = 0; i < 3; i++) {
		struct io_uring_sqe *sqe = ring_entry(&transport.ring);

		requests[i] = request_getdents(i ? fd : -1, out[i], sizeof(out[i]));
		transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &requests[i]);
		sqe->user_data = i;
		sqe->flags |= i < 2 ? IOSQE_IO_LINK : 0;
	}
	for (int i = 0; i < 3; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res == (cqe.user_data ? -ECANCELED : -EBADF), "broken link %ju: %d", (uintmax_t)cqe.user_data, cqe.res);
	}
	transport_close(&transport);
}

/* A drained request begins after all others: with the current position it gets the rest. */
static void drained(struct env *env, int fd)
{
	enum { BEFORE = 4 };
	static char out[BEFORE][256] __attribute__((aligned(8)));
	struct ringwalk_getdents requests[BEFORE + 1];
	struct transport transport;
	struct io_uring_cqe cqe = { };
	struct io_uring_sqe *sqe;
	size_t bytes = 0;

	transport_open(&transport, env->kind, 16);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	for (int i = 0; i < BEFORE; i++) {
		requests[i] = request_getdents(fd, out[i], sizeof(out[i]));
		MUST(transport_queue(&transport, RINGWALK_IOC_GETDENTS, &requests[i], i));
	}
	requests[BEFORE] = request_getdents(fd, buf, sizeof(buf));
	sqe = ring_entry(&transport.ring);
	transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &requests[BEFORE]);
	sqe->user_data = BEFORE;
	sqe->flags |= IOSQE_IO_DRAIN;
	for (int i = 0; i <= BEFORE; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res > 0, "request %ju: %d", (uintmax_t)cqe.user_data, cqe.res);
		bytes += cqe.res;
	}
	CHECK(cqe.user_data == BEFORE, "the drained request was not the last one");
	CHECK(bytes == names.len, "%zu bytes, not %zu", bytes, names.len);
	transport_close(&transport);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	tree_files(fd, "file", 100);
	list_read(&names, fd);
	kinds_of_rings(env, fd, path);
	wide_entries(env, fd);
	submission_thread(env, fd);
	polled(env, fd);
	registered_device(env, fd);
	linked(env, fd);
	drained(env, fd);
	list_free(&names);
	close(fd);
}

const struct test test = {
	.name = "rings",
	.kinds = BY_RING | BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
