// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request is cancelled while it waits for a slow disk, and another one has overtaken it. No entry
 * is lost or comes twice. cancel.c has the other cases.
 */

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"

#define LEN	(1 << 18)
/* user_data of the cancellation; that of the requests is their number */
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

static void run(struct env *env)
{
	cold_open(&cold, env);
	transport_open(&transport, env->kind, 0);
	overtaken();
	transport_close(&transport);
	cold_close(&cold);
}

const struct test test = {
	.name = "opcode_cancel",
	.kinds = BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
