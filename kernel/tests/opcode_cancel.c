// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests are cancelled, or end by a linked timeout, while they wait for a slow disk, in the cases
 * that only the operations have: a whole folder without positions, a request that another one has
 * overtaken, and READTREE. No entry is lost or comes twice. cancel.c has the other cases.
 */
#include <time.h>
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/walk.h"

#define LEN	(1 << 18)
/* Time until the cancellation, in seconds: the requests wait for the disk by then. */
#define BEFORE_CANCEL	0.3
/* Time until READTREE ends: that of two folders, as each of its files takes COLD_MS. */
#define FOLDERS		10
#define BEFORE_TREE	(2.2 * COLD_FILES / FOLDERS * COLD_MS / 1000)
/* user_data of the only request, and of a cancellation */
#define REQUEST		1
#define CANCEL		100

static char buf[2][LEN] __attribute__((aligned(8)));
static struct cold cold;
static struct transport transport;
/* How often each entry came. */
static unsigned int seen[COLD_FILES + 2];

/*
 * Counts the entries of a batch. Returns how many have no metadata, because their request ended
 * before their turn.
 */
static unsigned int count_batch(const char *at, long bytes)
{
	struct ringwalk_fields fields = cold_request(&cold, NULL, 0).fields;
	unsigned int unfinished = 0;
	struct record record;

	for (const char *stop = at + bytes; at < stop; at = record.next) {
		const char *bad = record_parse(at, stop - at, &fields, &record);
		long number;

		CHECK(!bad, "%s", bad);
		if (bad)
			break;
		number = list_find(&cold.list, record.name);
		MUST(number >= 0);
		seen[number]++;
		CHECK(record.entry->error == 0 || record.entry->error == -EINTR, "%s: %d", record.name, record.entry->error);
		unfinished += record.entry->error == -EINTR;
	}
	return unfinished;
}

/* Reads the rest of the folder, and checks that every entry came once. */
static void count_rest(const char *what)
{
	bool end = false;

	while (!end) {
		struct ringwalk_readdirplus request = cold_request(&cold, buf[0], LEN);
		long got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);

		MUST(got >= 0);
		CHECK(count_batch(buf[0], got) == 0, "%s: entries of the rest without metadata", what);
		end = !got || request.result_flags & RINGWALK_RESULT_END;
	}
	for (size_t i = 0; i < cold.list.count; i++)
		CHECK(seen[i] == 1, "%s: %s came %u times", what, cold.list.at[i]->d_name, seen[i]);
}

/*
 * A request for the whole folder without positions, which ends early, is one with positions. The
 * others go on behind its entries.
 */
static void whole(bool known)
{
	const char *what = known ? "whole, known inodes" : "whole, new inodes";
	struct ringwalk_readdirplus request = cold_request(&cold, buf[0], LEN);
	struct io_uring_cqe cqe;
	pid_t helper;
	double began;

	memset(seen, 0, sizeof(seen));
	cold_begin(&cold, known);
	helper = cold_end_after(&cold, BEFORE_CANCEL + 1.5 * COLD_SOON);
	transport.whole = true;
	MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request, REQUEST));
	transport.whole = false;
	MUST(ring_submit(&transport.ring, 0) == 1);
	usleep(BEFORE_CANCEL * 1000000);
	began = now();
	MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, NULL) == 0);
	CHECK(now() - began < COLD_SOON, "%s: ended %.1f s after the cancellation", what, now() - began);
	cold_end(&cold, helper);
	CHECK(cqe.res > 0 || cqe.res == -EINTR || cqe.res == -ECANCELED, "%s: %d", what, cqe.res);
	CHECK(!(cqe.flags & IORING_CQE_F_DIR_END), "%s: the request was not cut short", what);
	if (cqe.res > 0)
		CHECK(count_batch(buf[0], cqe.res) == 0, "%s: entries without metadata", what);
	count_rest(what);
}

/*
 * Of two requests on one open folder, the first is cancelled after the second has read on. Its
 * position is no longer its own to set back, so it gives all its names. The disk stays slow until
 * the first has ended, so it has not looked up all of them.
 */
static void overtaken(void)
{
	struct ringwalk_readdirplus requests[2];
	unsigned int unfinished = 0;
	struct io_uring_cqe cqe;
	off_t position = 0;

	memset(seen, 0, sizeof(seen));
	cold_begin(&cold, true);
	for (int i = 0; i < 2; i++) {
		requests[i] = cold_request(&cold, buf[i], LEN);
		requests[i].max_entries = COLD_FILES / 2 - 10;
		MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i], i));
		MUST(ring_submit(&transport.ring, 0) == 1);
		position = cold_wait_moved(&cold, position);
	}
	MUST(ring_cancel(&transport.ring, 0, CANCEL));
	for (int i = 0; i < 3; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		if (cqe.user_data == CANCEL)
			continue;
		if (cqe.user_data == 0)
			cold_end(&cold, 0);
		CHECK(cqe.res > 0, "overtaken: request %ju: %d", (uintmax_t)cqe.user_data, cqe.res);
		if (cqe.res > 0)
			unfinished += count_batch(buf[cqe.user_data], cqe.res);
	}
	CHECK(unfinished > 0, "overtaken: all entries have metadata");
	count_rest("overtaken");
}

/* Queues a timeout that ends the request before it. */
static void queue_timeout(const struct timespec *time)
{
	struct io_uring_sqe *sqe = ring_entry(&transport.ring);

	MUST(sqe);
	sqe->opcode = IORING_OP_LINK_TIMEOUT;
	sqe->fd = -1;
	sqe->addr = (uintptr_t)time;
	sqe->len = 1;
	sqe->user_data = CANCEL;
}

/* Makes a request that ends early. Returns its result. */
static long ended_early(struct ringwalk_readtree *request, double seconds, bool by_timeout)
{
	/* struct __kernel_timespec has the same layout. */
	struct timespec time = { .tv_sec = seconds, .tv_nsec = (seconds - (long)seconds) * 1e9 };
	struct io_uring_sqe *sqe = ring_entry(&transport.ring);
	struct io_uring_cqe cqe, result = { };

	MUST(sqe);
	transport_fill(&transport, sqe, RINGWALK_IOC_READTREE, request);
	sqe->user_data = REQUEST;
	if (!by_timeout) {
		MUST(ring_submit(&transport.ring, 0) == 1);
		usleep(seconds * 1000000);
		MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &result, NULL) == 0);
	} else {
		sqe->flags |= IOSQE_IO_LINK;
		queue_timeout(&time);
		for (int i = 0; i < 2; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			if (cqe.user_data == REQUEST)
				result = cqe;
			else
				/* ENOENT: the request was running, and has got a signal. */
				CHECK(cqe.res == -ETIME || cqe.res == -ENOENT, "the timeout: %d", cqe.res);
		}
	}
	transport_finish(&transport, RINGWALK_IOC_READTREE, request, &result);
	return result.res;
}

/*
 * READTREE that ends early has whole folders, with those that it was to read next. The rest is read
 * by other requests. Returns false if the request, which got so many seconds, has read one folder
 * only, as on a busy machine.
 */
static bool tree_in(bool known, bool by_timeout, double seconds)
{
	static struct walk walk = { .transport = &transport };
	struct ringwalk_readdirplus like = cold_request(&cold, NULL, 0);
	struct ringwalk_readtree request = request_readtree(cold.fd, buf[0], LEN);
	double began;
	pid_t helper;
	bool enough;
	long got;

	request.flags = like.flags;
	request.fields = like.fields;
	cold_begin(&cold, known);
	helper = cold_end_after(&cold, seconds + 1.5 * COLD_SOON);
	began = now();
	got = ended_early(&request, seconds, by_timeout);
	CHECK(now() - began - seconds < COLD_SOON, "readtree ended after %.1f s", now() - began);
	cold_end(&cold, helper);
	CHECK(got > 0 || got == -EINTR || got == -ECANCELED, "readtree: %ld", got);
	walk_begin(&walk);
	walk_output(&walk, &request, cold.path, got);
	CHECK(got < 0 || walk.directories < FOLDERS + 1, "all folders were read");
	enough = walk.directories > 1;
	if (got < 0 || !(request.result_flags & RINGWALK_RESULT_END))
		walk_on(&walk, &request, cold.path);
	walk_rest(&walk, &request);
	CHECK(walk.directories == FOLDERS + 1 && !walk.failed, "%u folders, %u failed", walk.directories, walk.failed);
	CHECK(walk.entries == COLD_FILES + FOLDERS + 2 * (FOLDERS + 1), "%ju entries", (uintmax_t)walk.entries);
	return enough;
}

/* With its entries @known, the first folder takes no time, so a request reads more than that. */
static void tree(bool known, bool by_timeout)
{
	double seconds = BEFORE_TREE;

	while (!tree_in(known, by_timeout, seconds) && known) {
		seconds *= 2;
		CHECK(seconds < 4 * BEFORE_TREE, "one folder was read in %.1f s", seconds / 2);
		if (test_failures())
			break;
	}
}

static void trees(struct env *env)
{
	cold_open_tree(&cold, env, FOLDERS);
	transport_open(&transport, env->kind, 0);
	tree(true, false);
	tree(false, false);
	/*
	 * Linux (6.12.117, and from 6.15 on) sets up a linked timeout after the first attempt to
	 * run the request. With IOSQE_ASYNC that is the whole request.
	 */
	if (env->kind == TRANSPORT_OPCODE) {
		tree(true, true);
		tree(false, true);
	}
	transport_close(&transport);
	cold_close(&cold);
}

static void run(struct env *env)
{
	cold_open(&cold, env);
	transport_open(&transport, env->kind, 0);
	if (transport_has(env->kind, OPCODE_READTREE)) {
		whole(true);
		whole(false);
	}
	overtaken();
	transport_close(&transport);
	cold_close(&cold);
	if (transport_has(env->kind, OPCODE_READTREE))
		trees(env);
}

const struct test test = {
	.name = "opcode_cancel",
	.kinds = BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
