// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of ext4 with the same hash, which have the same position. A request stops between two of
 * them because it has room for the first one only, and then ends early before that one is done. No
 * name is lost: ext4 goes on with the second name, and does not notice that the position is set to
 * the same value.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

/* The names among which pairs are looked for, and the other files. */
#define CANDIDATES	200000
#define PAIRS		3
#define OTHERS		40
/* The request is ended while it waits for the first file, in microseconds. */
#define END_US		(COLD_MS * 1000 / 2)
#define REQUEST		1

static struct cold cold;
static char buf[65536] __attribute__((aligned(8)));

struct candidate {
	uint32_t hash;
	uint32_t number;
};

static void name_of(char *name, uint32_t number)
{
	sprintf(name, "pair-%06u", number);
}

/* dx_hack_hash_unsigned() of fs/ext4/hash.c, the hash that is called legacy. */
static uint32_t legacy_hash(const char *name)
{
	uint32_t hash0 = 0x12a3fe2d, hash1 = 0x37abe8f9;

	for (; *name; name++) {
		uint32_t hash = hash1 + (hash0 ^ (*name * 7152373));

		if (hash & 0x80000000)
			hash -= 0x7fffffff;
		hash1 = hash0;
		hash0 = hash;
	}
	return hash0 << 1;
}

static int by_hash(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

static void add_file(const char *name)
{
	MUST(mknodat(cold.fd, name, S_IFREG | 0644, 0) == 0);
	cold_attribute(cold.path, name);
}

static void add_files(void)
{
	struct candidate *all = calloc(CANDIDATES, sizeof(*all));
	unsigned int pairs = 0;
	char name[32];

	MUST(all);
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		name_of(name, i);
		all[i] = (struct candidate){ .hash = legacy_hash(name), .number = i };
	}
	qsort(all, CANDIDATES, sizeof(*all), by_hash);
	for (uint32_t i = 1; i < CANDIDATES && pairs < PAIRS; i++) {
		if (all[i].hash != all[i - 1].hash)
			continue;
		for (int j = 0; j < 2; j++) {
			name_of(name, all[i - j].number);
			add_file(name);
		}
		pairs++;
		/* Other files lie between the pairs. */
		i += CANDIDATES / (PAIRS + 2);
	}
	MUST(pairs == PAIRS);
	free(all);
	for (uint32_t i = 0; i < OTHERS; i++) {
		sprintf(name, "other-%u", i);
		add_file(name);
	}
}

/* Makes a request that is ended early. */
static long ended_early(struct transport *transport, struct ringwalk_readdirplus *request)
{
	struct io_uring_cqe cqe;

	if (transport_in_task(transport->kind)) {
		alarm_after(END_US);
		return transport_call(transport, RINGWALK_IOC_READDIRPLUS, request);
	}
	MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, request, REQUEST));
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(END_US);
	MUST(ring_cancel_and_wait(&transport->ring, REQUEST, &cqe, NULL) == 0);
	transport_finish(transport, RINGWALK_IOC_READDIRPLUS, request, &cqe);
	return cqe.res;
}

/*
 * The entry at @first is the first one of a pair. The request is for it and the one before, which
 * has a position of its own.
 */
static void stop_between(struct transport *transport, size_t first)
{
	struct ringwalk_readdirplus request = cold_request(&cold, buf, sizeof(buf)), rest = request;
	struct compare compare = request_compare(transport, cold.fd, cold.path, &request.fields, request.flags);
	const char *name = cold.list.at[first]->d_name;
	struct list names;
	size_t given = 0;
	pid_t helper;
	long got;

	request.off = first > 1 ? (int64_t)cold.list.at[first - 2]->d_off : 0;
	request.max_entries = 2;
	cold_begin(&cold, true);
	/* The names are in memory, and only attributes are not. */
	list_read_apart(&names, cold.fd);
	list_free(&names);
	helper = cold_end_after(&cold, 20 * COLD_MS / 1000.0);
	got = ended_early(transport, &request);
	cold_end(&cold, helper);
	CHECK(got > 0 || got == -EINTR || got == -ECANCELED, "before %s: %ld", name, got);
	if (got > 0) {
		given = request.entries;
		CHECK_NULL(compare_batch(&compare, buf, got, given, &cold.list, first - 1), "before %s", name);
	} else {
		rest.off = request.off;
	}
	CHECK_NULL(request_compare_rest(transport, &rest, cold.path, &cold.list, first - 1 + given), "%s and what follows, after %zu",
		   name, given);
}

static void run(struct env *env)
{
	struct transport transport;
	unsigned int tried = 0;

	transport_open(&transport, env->kind, 0);
	scratch_open(&cold.scratch, env, SCRATCH_LEGACY, NULL);
	cold.fd = tree_folder(cold.scratch.path, "cold", cold.path);
	add_files();
	list_read(&cold.list, cold.fd);
	for (size_t i = 1; i + 1 < cold.list.count; i++) {
		/* The position of an entry is the cookie of the one before. */
		if (cold.list.at[i]->d_off != cold.list.at[i - 1]->d_off)
			continue;
		stop_between(&transport, i);
		tried++;
	}
	CHECK(tried == PAIRS, "%u pairs have one position, not %u", tried, PAIRS);
	cold_close(&cold);
	transport_close(&transport);
}

const struct test test = {
	.name = "equal_hashes",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.one_kind = true,
	.run = run,
};
