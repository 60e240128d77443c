// SPDX-License-Identifier: GPL-2.0-only
/*
 * READDIRPLUS that is cancelled while it waits for a device ends soon, with the entries that are
 * done. The next request goes on behind them, and no entry is lost or comes twice.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT	600
#define LEN	(1 << 20)
#define ROUNDS	25

static char buf[2][LEN] __attribute__((aligned(8)));
static char path[512];
static struct list list;
/* A case that no request met, NULL if there is none. */
static const char *missed;

enum cold { INODES, ATTRIBUTES };
static const char *const cold_names[] = { "inodes are cold", "attributes are cold" };

/*
 * Blocks that are only in the journal stay in memory until they are written to their place.
 * Freezing the file system writes them.
 */
static void forget(int fd, enum cold cold)
{
	struct statx_record record;

	sync();
	if (ioctl(fd, FIFREEZE, 0) == 0)
		MUST(ioctl(fd, FITHAW, 0) == 0);
	MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
	if (cold == INODES)
		return;
	for (size_t i = 0; i < list.count; i++)
		MUST(sys_statx(fd, list.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &record) == 0);
	MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
}

static struct ringwalk_readdirplus request_of(int fd, char *out)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, out, LEN);

	request.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&request.fields, NULL, 0, 1000, 1024);
	return request;
}

static void queue_cancel(struct transport *transport, uint64_t user_data)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	MUST(sqe);
	sqe->opcode = IORING_OP_ASYNC_CANCEL;
	sqe->addr = user_data;
	sqe->user_data = 100;
}

/* Returns true if the request ended early. */
static bool cancelled_once(struct transport *transport, enum cold cold, unsigned int us)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_of(fd, buf[0]);
	struct compare compare = request_compare(transport, fd, path, &request.fields, request.flags, true);
	struct io_uring_cqe cqe, result = { };
	unsigned int first = 0;

	forget(fd, cold);
	MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, &request, 1));
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(us);
	queue_cancel(transport, 1);
	for (int i = 0; i < 2; i++) {
		MUST(ring_wait(&transport->ring, &cqe) == 0);
		if (cqe.user_data == 1)
			result = cqe;
	}
	/* ECANCELED: it had not begun. */
	CHECK(result.res > 0 || result.res == -ECANCELED, "%s: %d", cold_names[cold], result.res);
	if (result.res > 0) {
		transport_finish(transport, RINGWALK_IOC_READDIRPLUS, &request, &result);
		first = request.entries;
		CHECK_NULL(compare_batch(&compare, buf[0], result.res, first, &list, 0), "%s: what was done", cold_names[cold]);
		CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)list.at[first - 1]->d_off, "%s: position after %u entries",
		      cold_names[cold], first);
	}
	CHECK_NULL(request_compare_rest(transport, &request, path, &list, first), "%s: the rest", cold_names[cold]);
	close(fd);
	return result.res > 0 && first < list.count / 2;
}

/*
 * Notes whether a case was met. The disk of a fast machine may answer before any cancel; cancel.c
 * has a disk that is slow everywhere.
 */
static void expect_early(bool met, const char *what)
{
	if (!met && !missed)
		missed = what;
}

static void cancelled(struct env *env, struct transport *transport, enum cold cold)
{
	unsigned int early = 0;

	for (unsigned int i = 0; i < ROUNDS && early < 3 && !test_failures(); i++)
		early += cancelled_once(transport, cold, 3000 + 2000 * i);
	/* Other file systems have the attributes of all files in a few blocks. */
	if (env->fs == FS_EXT || env->fs == FS_XFS)
		expect_early(early > 0, cold_names[cold]);
}

/*
 * Counts the entries of a batch in @seen. Returns how many have no metadata, because their request
 * ended before their turn.
 */
static unsigned int count_batch(const char *at, long bytes, unsigned int *seen)
{
	struct ringwalk_fields fields = request_of(-1, NULL).fields;
	unsigned int unfinished = 0;
	struct record record;

	for (const char *stop = at + bytes; at < stop; at = record.next) {
		const char *bad = record_parse(at, stop - at, &fields, &record);
		long number;

		CHECK(!bad, "%s", bad);
		if (bad)
			break;
		number = list_find(&list, record.name);
		MUST(number >= 0);
		seen[number]++;
		CHECK(record.entry->error == 0 || record.entry->error == -EINTR, "%s: %d", record.name, record.entry->error);
		unfinished += record.entry->error == -EINTR;
	}
	return unfinished;
}

/* Reads the rest of the folder, and checks that every entry came once. */
static void count_rest(struct transport *transport, int fd, unsigned int *seen)
{
	struct ringwalk_readdirplus request;
	bool end = false;

	while (!end) {
		long got;

		request = request_of(fd, buf[0]);
		got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request);
		MUST(got >= 0);
		count_batch(buf[0], got, seen);
		end = !got || request.result_flags & RINGWALK_RESULT_END;
	}
	for (size_t i = 0; i < list.count; i++)
		CHECK(seen[i] == 1, "%s came %u times", list.at[i]->d_name, seen[i]);
}

/*
 * A request for the whole folder without positions, which ends early, is one with positions. The
 * others go on behind its entries.
 */
static bool whole_once(struct transport *transport, unsigned int us)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_of(fd, buf[0]);
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);
	struct io_uring_cqe cqe, result = { };
	unsigned int seen[COUNT + 2] = { };

	forget(fd, INODES);
	MUST(sqe);
	transport_fill(transport, sqe, RINGWALK_IOC_READDIRPLUS, &request);
	((struct opcode_readdirplus_args *)(uintptr_t)sqe->addr3)->flags |= OPCODE_WHOLE;
	sqe->user_data = 1;
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(us);
	queue_cancel(transport, 1);
	for (int i = 0; i < 2; i++) {
		MUST(ring_wait(&transport->ring, &cqe) == 0);
		if (cqe.user_data == 1)
			result = cqe;
	}
	CHECK(result.res > 0 || result.res == -ECANCELED, "whole: %d", result.res);
	if (result.res > 0)
		CHECK(count_batch(buf[0], result.res, seen) == 0, "entries without metadata");
	if (!(result.flags & IORING_CQE_F_DIR_END))
		count_rest(transport, fd, seen);
	close(fd);
	return result.res > 0 && !(result.flags & IORING_CQE_F_DIR_END);
}

static void whole(struct env *env, struct transport *transport)
{
	unsigned int early = 0;

	for (unsigned int i = 0; i < ROUNDS && early < 3 && !test_failures(); i++)
		early += whole_once(transport, 3000 + 2000 * i);
	if (env->fs == FS_EXT || env->fs == FS_XFS)
		expect_early(early > 0, "a whole folder");
}

/*
 * Of two requests on one open folder, the first is cancelled after the second has read on. Its
 * position is no longer its own to set back, so it gives all its names.
 */
static unsigned int overtaken_once(struct transport *transport, unsigned int us)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	unsigned int seen[COUNT + 2] = { }, unfinished = 0;
	struct ringwalk_readdirplus request;
	struct io_uring_cqe cqe;

	forget(fd, INODES);
	for (int i = 0; i < 2; i++) {
		request = request_of(fd, buf[i]);
		request.max_entries = COUNT / 2 - 50;
		MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, &request, i));
	}
	MUST(ring_submit(&transport->ring, 0) == 2);
	usleep(us);
	queue_cancel(transport, 0);
	for (int i = 0; i < 3; i++) {
		MUST(ring_wait(&transport->ring, &cqe) == 0);
		if (cqe.user_data < 2 && cqe.res > 0)
			unfinished += count_batch(buf[cqe.user_data], cqe.res, seen);
	}
	count_rest(transport, fd, seen);
	close(fd);
	return unfinished;
}

static void overtaken(struct env *env, struct transport *transport)
{
	unsigned int unfinished = 0;

	for (unsigned int i = 0; i < ROUNDS && !unfinished && !test_failures(); i++)
		unfinished = overtaken_once(transport, 3000 + 2000 * i);
	if (env->fs == FS_EXT || env->fs == FS_XFS)
		expect_early(unfinished > 0, "overtaken");
}

static void run(struct env *env)
{
	struct transport transport;
	/* Too long for the inode, and another one for each file, so that they share no block. */
	char value[1500] = "";
	int fd = tree_folder(env->path, "folder", path);

	if (env->fs == FS_TMPFS)
		test_skip("nothing of this file system is on a device");
	if (env->fs == FS_FUSE)
		test_skip("the server decides how long a request takes");
	transport_open(&transport, env->kind, 0);
	tree_files(fd, "file-", COUNT);
	for (unsigned int i = 0; i < COUNT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file-%06u", i);
		memcpy(value, &i, sizeof(i));
		if (!tree_xattr(path, name, "user.long", value, sizeof(value)))
			break;
	}
	list_read(&list, fd);
	cancelled(env, &transport, INODES);
	cancelled(env, &transport, ATTRIBUTES);
	overtaken(env, &transport);
	whole(env, &transport);
	list_free(&list);
	close(fd);
	transport_close(&transport);
	if (missed && !test_failures())
		test_skip("no request ended early (%s)", missed);
}

const struct test test = {
	.name = "opcode_cancel",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.one_kind = true,
	.run = run,
};
