// SPDX-License-Identifier: GPL-2.0-only
/*
 * READDIRPLUS of a whole folder, without positions: every entry comes once, whatever the size of
 * the folder and of the buffer. Where the buffer is too small, the requests go on as without it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define LEN	(1 << 20)
#define MOST	1800
#define TRIES	4

static char buf[LEN] __attribute__((aligned(8)));
static struct transport transport;

/* Makes a request. Returns the bytes; sets @end. */
static long whole(int fd, uint32_t len, int64_t off, bool *end)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, len);
	long got;

	request.off = off;
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	*end = request.result_flags & RINGWALK_RESULT_END;
	return got;
}

/*
 * One request gives a whole folder, unless something ends it early, such as a block that is no
 * longer in memory. So it is tried a few times. Returns the bytes; sets @end.
 */
static long whole_at_once(int fd, bool *end)
{
	long got = 0;

	*end = false;
	for (unsigned int tries = 0; tries < TRIES && !*end; tries++)
		got = whole(fd, LEN, 0, end);
	return got;
}

/*
 * Reads the folder, and compares every entry with the list, whose cookies may change. Returns the
 * number of requests.
 */
static unsigned int read_all(int fd, const char *path, struct list *list, uint32_t len)
{
	struct ringwalk_fields fields = { .mask = STATX_BASIC_STATS };
	struct compare compare = request_compare(&transport, fd, path, &fields, 0, true);
	unsigned char *seen = calloc(list->count, 1);
	unsigned int requests = 0;
	bool end = false;

	MUST(seen);
	for (; !end && !test_failures(); requests++) {
		long got = whole(fd, len, requests ? -1 : 0, &end);
		const char *at = buf;
		struct record record;

		CHECK(got > 0 || (!got && end), "%ld by %u bytes", got, len);
		for (const char *stop = buf + (got > 0 ? got : 0); at < stop; at = record.next) {
			const char *bad = record_parse(at, stop - at, &fields, &record);
			long number;

			CHECK(!bad, "%s", bad);
			if (bad)
				break;
			number = list_find(list, record.name);
			CHECK(number >= 0, "%s is not there", record.name);
			if (number < 0)
				continue;
			CHECK(!seen[number], "%s came twice by %u bytes", record.name, len);
			seen[number] = true;
			/* Cookies mean nothing if the first request gives all. */
			if (!requests && end)
				list->at[number]->d_off = record.entry->d_off;
			CHECK_NULL(compare_record(&compare, &record, list->at[number]), "%s", record.name);
		}
	}
	for (size_t i = 0; i < list->count; i++)
		CHECK(seen[i], "%s did not come by %u bytes", list->at[i]->d_name, len);
	free(seen);
	/* Nothing is behind the end. */
	CHECK(whole(fd, len, -1, &end) == 0 && end, "behind the end");
	return requests;
}

/* Sizes of the buffer around that of all records, and small ones. */
static void folder_of(struct env *env, unsigned int count)
{
	static const uint32_t lens[] = { 512, 4096, 20000, 65536, 200000, LEN };
	char name[32], path[512];
	struct list list;
	int fd;

	snprintf(name, sizeof(name), "folder-%u", count);
	fd = tree_folder(env->path, name, path);
	tree_files(fd, "some-file-", count);
	if (count >= 20) {
		MUST(mkdirat(fd, "sub", 0755) == 0 && symlinkat("sub", fd, "link") == 0);
		for (unsigned int i = 0; i < count; i += 3) {
			snprintf(name, sizeof(name), "some-file-%06u", i);
			MUST(unlinkat(fd, name, 0) == 0);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		bool at_once = lens[i] == LEN && count < 1000;
		unsigned int requests, tries = 0;

		/* Each comparison makes a system call for each entry. */
		if (!env->full && count >= 100 && i % 2 == 0)
			continue;
		do {
			list_read(&list, fd);
			requests = read_all(fd, path, &list, lens[i]);
			list_free(&list);
		} while (at_once && requests != 1 && ++tries < TRIES);
		if (at_once)
			CHECK(requests == 1, "%u requests for %u files", requests, count);
	}
	close(fd);
}

/* ext4 reads as the entries lie, and gives no positions. */
static void without_positions(struct env *env)
{
	const struct ringwalk_entry *entry;
	struct ringwalk_fields fields = { .mask = STATX_BASIC_STATS };
	struct record record;
	char path[512];
	int fd = tree_folder(env->path, "linear", path), i = -2;
	bool end;
	long got;

	/* In one block: more are put into blocks by their hashes. */
	tree_files(fd, "file-", 15);
	got = whole_at_once(fd, &end);
	CHECK(got > 0 && end, "%ld", got);
	for (const char *at = buf; at < buf + got; at = record.next, i++) {
		char expected[32];

		MUST(!record_parse(at, buf + got - at, &fields, &record));
		entry = record.entry;
		snprintf(expected, sizeof(expected), "file-%06d", i);
		if (i >= 0)
			CHECK(!strcmp(record.name, expected), "%s instead of %s", record.name, expected);
		if (record.next < buf + got)
			CHECK(entry->d_off == 0, "%s has the position %llx", record.name, (unsigned long long)entry->d_off);
	}
	close(fd);
}

/* After a whole folder was read, its open file can be rewound and read by the system call. */
static void rewound(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "rewound", path), fresh;
	struct list list, again;
	bool end;

	tree_files(fd, "file-", 400);
	list_read(&list, fd);
	fresh = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fresh >= 0);
	CHECK(whole_at_once(fresh, &end) > 0 && end, "the whole folder");
	list_read(&again, fresh);
	CHECK_NULL(list_differs(&again, &list, 0), "after rewinding");
	list_free(&again);
	list_free(&list);
	close(fresh);
	close(fd);
}

static void run(struct env *env)
{
	static const unsigned int counts[] = { 0, 1, 20, 100, 400, MOST };
	bool end;

	transport_open(&transport, env->kind, 0);
	transport.whole = true;
	/* One of the patches between the two operations adds the flag. */
	if (!transport_has(env->kind, OPCODE_READTREE) && whole(env->fd, LEN, 0, &end) == -EINVAL)
		test_skip("READDIRPLUS has no flag for whole folders");
	for (size_t i = 0; i < ARRAY_SIZE(counts) && !test_failures(); i++)
		folder_of(env, env->fs == FS_FUSE && counts[i] > 100 ? 100 + i : counts[i]);
	rewound(env);
	/* Another one lets ext4 heed the flag. It comes before READTREE, too. */
	if (env->fs == FS_EXT && transport_has(env->kind, OPCODE_READTREE))
		without_positions(env);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_whole",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
