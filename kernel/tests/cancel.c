// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request that runs in a thread of io-wq is cancelled by IORING_OP_ASYNC_CANCEL: it ends within
 * one entry's time, and no entry is lost or comes twice. So is one that has not begun.
 */
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"

/* Time until the cancellation, in seconds: the request waits for the disk by then. */
#define BEFORE_CANCEL	0.3
/* user_data of a request and of its cancellation */
#define REQUEST		1
#define CANCEL		2

static char buf[1 << 18] __attribute__((aligned(8)));
static struct cold cold;

static void running(struct env *env, bool known)
{
	struct ringwalk_readdirplus plus;
	struct transport transport;
	struct io_uring_cqe cqe;
	int cancelled;
	pid_t helper;
	double began;
	long got;

	transport_open(&transport, env->kind, 0);
	plus = cold_request(&cold, buf, sizeof(buf));
	cold_begin(&cold, known);
	helper = cold_end_after(&cold, BEFORE_CANCEL + 1.5 * COLD_SOON);
	MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &plus, REQUEST));
	MUST(ring_submit(&transport.ring, 0) == 1);
	usleep(BEFORE_CANCEL * 1000000);
	CHECK(!ring_take(&transport.ring, &cqe), "the request ended before the cancellation");
	began = now();
	MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, &cancelled) == 0);
	CHECK(now() - began < COLD_SOON, "the request ended %.1f s after the cancellation", now() - began);
	/* EALREADY: it was running, and has got a signal. */
	CHECK(cancelled == 0 || cancelled == -EALREADY, "the cancellation: %d", cancelled);
	transport_finish(&transport, RINGWALK_IOC_READDIRPLUS, &plus, &cqe);
	got = cqe.res;
	CHECK(got >= 0 || got == -EINTR || got == -ECANCELED, "%ld", got);
	CHECK(got < 0 || plus.entries < cold.list.count, "the request was not cut short");
	cold_end(&cold, helper);
	cold_check_rest(&cold, &transport, &plus, got, known ? "known inodes" : "new inodes");
	transport_close(&transport);
}

/* The second request waits in the queue, because the only thread is busy with the first. */
static void queued(struct env *env)
{
	unsigned int workers[2] = { 1, 1 };
	struct ringwalk_readahead requests[2];
	struct transport transport;
	struct io_uring_cqe cqe;
	int got[2] = { 0, 0 };
	pid_t helper;

	transport_open(&transport, env->kind, 0);
	MUST(ring_register(&transport.ring, IORING_REGISTER_IOWQ_MAX_WORKERS, workers, 2) == 0);
	cold_begin(&cold, true);
	helper = cold_end_after(&cold, 2 * BEFORE_CANCEL);
	for (int i = 0; i < 2; i++) {
		requests[i] = request_readahead(cold.fd);
		requests[i].off = 0;
		requests[i].flags = RINGWALK_F_XATTR_BLOCKS;
		MUST(transport_queue(&transport, RINGWALK_IOC_READAHEAD, &requests[i], REQUEST + 2 * i));
	}
	MUST(ring_submit(&transport.ring, 0) == 2);
	usleep(BEFORE_CANCEL * 1000000);
	MUST(ring_cancel(&transport.ring, REQUEST + 2, CANCEL));
	for (int i = 0; i < 3; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		if (cqe.user_data == CANCEL)
			CHECK(cqe.res == 0, "the cancellation: %d", cqe.res);
		else
			got[cqe.user_data / 2] = cqe.res;
	}
	CHECK(got[0] >= 0, "the request in front: %d", got[0]);
	CHECK(got[1] == -ECANCELED, "the request in the queue: %d", got[1]);
	cold_end(&cold, helper);
	transport_close(&transport);
}

static void run(struct env *env)
{
	cold_open(&cold, env);
	running(env, true);
	/* The operation tries in the submitting task first: there is more that can go wrong. */
	if (env->full || env->kind == TRANSPORT_OPCODE)
		running(env, false);
	if (transport_has(env->kind, OPCODE_READAHEAD))
		queued(env);
	cold_close(&cold);
}

const struct test test = {
	.name = "cancel",
	.kinds = 1u << TRANSPORT_WORKER | 1u << TRANSPORT_ASYNC | BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
