// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request that runs in a thread of io-wq is cancelled by IORING_OP_ASYNC_CANCEL: it ends within
 * the time of one entry, or of one block of names, and no entry is lost or comes twice. So is one
 * that has not begun.
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

/* Makes a request that waits for the disk, and cancels it. Returns its result. */
static long cancelled_call(struct transport *transport, unsigned int command, void *request, bool known)
{
	struct io_uring_cqe cqe;
	int cancelled;
	pid_t helper;
	double began;

	cold_begin(&cold, known);
	helper = cold_end_after(&cold, BEFORE_CANCEL + 1.5 * COLD_SOON);
	MUST(transport_queue(transport, command, request, REQUEST));
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(BEFORE_CANCEL * 1000000);
	CHECK(!ring_take(&transport->ring, &cqe), "the request ended before the cancellation");
	began = now();
	MUST(ring_cancel_and_wait(&transport->ring, REQUEST, &cqe, &cancelled) == 0);
	CHECK(now() - began < COLD_SOON, "the request ended %.1f s after the cancellation", now() - began);
	cold_end(&cold, helper);
	/* EALREADY: it was running, and has got a signal. */
	CHECK(cancelled == 0 || cancelled == -EALREADY, "the cancellation: %d", cancelled);
	CHECK(cqe.res >= 0 || cqe.res == -EINTR || cqe.res == -ECANCELED, "%d", cqe.res);
	transport_finish(transport, command, request, &cqe);
	return cqe.res;
}

static void running(struct env *env, bool known)
{
	struct ringwalk_readdirplus plus;
	struct transport transport;
	long got;

	transport_open(&transport, env->kind, 0);
	plus = cold_request(&cold, buf, sizeof(buf));
	got = cancelled_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus, known);
	CHECK(got < 0 || plus.entries < cold.list.count, "the request was not cut short");
	cold_check_rest(&cold, &transport, &plus, got, known ? "known inodes" : "new inodes");
	transport_close(&transport);
}

/*
 * Names alone, of a folder with many blocks. Their cookies may differ from those of getdents64(2):
 * an attempt that ends where a block is not in memory has the position of the block.
 */
static void names(struct env *env)
{
	struct ringwalk_getdents request;
	struct transport transport;
	struct list all = { }, rest;
	long got;

	transport_open(&transport, env->kind, 0);
	request = request_getdents(cold.fd, buf, sizeof(buf));
	got = cancelled_call(&transport, RINGWALK_IOC_GETDENTS, &request, false);
	if (got > 0)
		list_append(&all, buf, got);
	CHECK(all.count < cold.list.count && !(request.result_flags & RINGWALK_RESULT_END), "getdents was not cut short");
	MUST(request_all_names(&transport, cold.fd, sizeof(buf), &rest) == 0);
	list_append(&all, rest.bytes, rest.len);
	CHECK(all.count == cold.list.count, "%zu names by getdents, not %zu", all.count, cold.list.count);
	for (size_t i = 0; i < all.count && i < cold.list.count; i++)
		CHECK(!strcmp(all.at[i]->d_name, cold.list.at[i]->d_name), "name %zu: %s, not %s", i, all.at[i]->d_name,
		      cold.list.at[i]->d_name);
	list_free(&rest);
	list_free(&all);
	transport_close(&transport);
}

/*
 * The second request waits in the queue, because the only thread is busy with the first. All three
 * are submitted together, and the first waits for the slow disk. So the second is still in the
 * queue when it is cancelled.
 */
static void queued(struct env *env)
{
	unsigned int workers[2] = { 1, 1 };
	struct ringwalk_readahead requests[2];
	struct transport transport;
	struct io_uring_cqe cqe;
	int got[2] = { 0, 0 };

	transport_open(&transport, env->kind, 0);
	MUST(ring_register(&transport.ring, IORING_REGISTER_IOWQ_MAX_WORKERS, workers, 2) == 0);
	cold_begin(&cold, true);
	for (int i = 0; i < 2; i++) {
		requests[i] = request_readahead(cold.fd);
		requests[i].off = 0;
		requests[i].flags = RINGWALK_F_XATTR_BLOCKS;
		MUST(transport_queue(&transport, RINGWALK_IOC_READAHEAD, &requests[i], REQUEST + 2 * i));
	}
	MUST(ring_cancel(&transport.ring, REQUEST + 2, CANCEL));
	MUST(ring_submit(&transport.ring, 0) == 3);
	cold_end(&cold, 0);
	for (int i = 0; i < 3; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		if (cqe.user_data == CANCEL)
			CHECK(cqe.res == 0, "the cancellation: %d", cqe.res);
		else
			got[cqe.user_data / 2] = cqe.res;
	}
	CHECK(got[0] >= 0, "the request in front: %d", got[0]);
	CHECK(got[1] == -ECANCELED, "the request in the queue: %d", got[1]);
	transport_close(&transport);
}

static void run(struct env *env)
{
	cold_open_names(&cold, env);
	names(env);
	cold_close(&cold);
	if (!transport_has(env->kind, OPCODE_READDIRPLUS))
		return;
	cold_open(&cold, env);
	running(env, true);
	/* The operation tries in the submitting task first: there is more that can go wrong. */
	if (env->full || env->kind == TRANSPORT_OPCODE)
		running(env, false);
	if (!transport_is_opcode(env->kind))
		queued(env);
	cold_close(&cold);
}

const struct test test = {
	.name = "cancel",
	.kinds = 1u << TRANSPORT_WORKER | 1u << TRANSPORT_ASYNC | BY_OPCODE,
	.run = run,
};
