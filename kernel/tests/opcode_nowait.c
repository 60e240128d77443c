// SPDX-License-Identifier: GPL-2.0-only
/*
 * On supporting file systems the submitting task reads folders that are in memory, without a thread
 * of io-wq. A thread reads the others. No entry comes twice or is lost in between.
 *
 * A ring starts its first thread with the first request that needs one, and the thread shows in
 * /proc/self/task. The test first checks that this method detects such a request.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/nowait.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"

#define COUNT	1000
#define LEN	(1 << 20)

static char buf[LEN] __attribute__((aligned(8)));

/* The folder of the child processes. */
static char path[512];
static struct list list;

static struct transport fresh_ring(struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	MUST(io_workers() == 0);
	return transport;
}

/* Checks the method itself. */
static void handed_over_is_seen(struct env *env)
{
	struct transport transport = fresh_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_getdents request = request_getdents(fd, buf, LEN);
	struct io_uring_sqe *sqe = ring_entry(&transport.ring);
	struct io_uring_cqe cqe;

	transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &request);
	sqe->flags |= IOSQE_ASYNC;
	MUST(ring_wait(&transport.ring, &cqe) == 0);
	CHECK(cqe.res > 0, "%d", cqe.res);
	CHECK(io_workers() > 0, "a thread that must be there is not seen");
}

static void names_inline(struct env *env)
{
	struct transport transport = fresh_ring(env);
	struct list got;
	static const uint32_t lens[] = { 300, 4096, 32768, LEN };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);

		CHECK(request_all_names(&transport, fd, lens[i], &got) == 0, "reading");
		CHECK_NULL(list_differs(&got, &list, 0), "buffers of %u", lens[i]);
		CHECK(io_workers() == 0, "%u threads for buffers of %u", io_workers(), lens[i]);
		/* Rewinding needs no thread either. */
		CHECK(lseek(fd, 0, SEEK_CUR) > 0, "no position");
		struct ringwalk_getdents request = request_getdents(fd, buf, lens[i]);
		request.off = 0;
		CHECK(transport_call(&transport, RINGWALK_IOC_GETDENTS, &request) > 0, "after rewinding");
		CHECK(io_workers() == 0, "%u threads for rewinding", io_workers());
		list_free(&got);
		close(fd);
	}
}

static void metadata_inline(struct env *env)
{
	struct transport transport = fresh_ring(env);
	static const uint32_t lens[] = { 1024, 32768, LEN };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);
		struct ringwalk_readdirplus request = request_readdirplus(fd, buf, lens[i]);

		request.fields.mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
		CHECK_NULL(request_compare_rest(&transport, &request, path, &list, 0), "buffers of %u", lens[i]);
		CHECK(io_workers() == 0, "%u threads for buffers of %u", io_workers(), lens[i]);
		close(fd);
	}
}

/* Drops all dentries and inodes, and brings in those of the first @count entries again. */
static void cache_only(size_t count)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct statx_record record;
	struct list again;

	sync();
	MUST(write_text("/proc/sys/vm/drop_caches", "2") == 0);
	/* The blocks with the names. */
	list_read(&again, fd);
	list_free(&again);
	for (size_t i = 0; i < count; i++)
		MUST(sys_statx(fd, list.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &record) == 0);
	close(fd);
}

/*
 * The attempt in the submitting task returns the cached entries up to the first one that is not. A
 * thread continues there.
 */
static unsigned int cached;

static void partly_cached(struct env *env)
{
	struct transport transport = fresh_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct compare compare = request_compare(&transport, fd, path, &request.fields, 0, true);
	long got;

	cache_only(cached);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got > 0 && request.entries == cached, "%ld bytes of %u entries, %u are cached", got, request.entries, cached);
	CHECK(io_workers() == 0, "%u threads for what is cached", io_workers());
	CHECK(!(request.result_flags & RINGWALK_RESULT_END), "not at the end");
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)list.at[request.entries - 1]->d_off, "position after %u entries", request.entries);
	CHECK_NULL(compare_batch(&compare, buf, got, request.entries, &list, 0), "what is cached");
	CHECK_NULL(request_compare_rest(&transport, &request, path, &list, request.entries), "what is not");
	CHECK(io_workers() > 0, "no thread for what is not cached");
	close(fd);
}

/*
 * The attempt does not return "." and ".." alone: it leaves the position, and a thread returns
 * everything in one batch.
 */
static void not_cached(struct env *env)
{
	struct transport transport = fresh_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct compare compare = request_compare(&transport, fd, path, &request.fields, 0, true);
	long got;

	cache_only(0);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got > 0 && request.entries == list.count && request.result_flags & RINGWALK_RESULT_END,
	      "%ld bytes of %u entries, flags %u", got, request.entries, request.result_flags);
	CHECK_NULL(compare_batch(&compare, buf, got > 0 ? got : 0, request.entries, &list, 0), "all");
	CHECK(io_workers() > 0, "no thread");
	close(fd);
}

/*
 * Removes the blocks of a folder from memory, except the index and one block, by looking up a
 * missing name. Each @round keeps another block.
 */
static void evict(unsigned int round)
{
	char name[600];
	struct stat info;

	sync();
	MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
	snprintf(name, sizeof(name), "%s/not-there-%u", path, round);
	MUST(stat(name, &info) < 0 && errno == ENOENT);
}

/*
 * Reads by a buffer of @len bytes, without @len the rest by large ones, and counts what was got to
 * @at. Where an attempt ended at a missing block, the cookie is another one for the same place, so
 * the names are what is compared.
 */
static void read_evicted(struct transport *transport, int fd, uint32_t len, size_t *at)
{
	struct ringwalk_getdents request = request_getdents(fd, buf, len);
	struct list got = { 0 };

	if (len) {
		long bytes = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);

		CHECK(bytes > 0 || (bytes == 0 && *at == list.count), "%ld after %zu entries", bytes, *at);
		if (bytes > 0)
			list_append(&got, buf, bytes);
	} else {
		CHECK(request_all_names(transport, fd, LEN, &got) == 0, "reading");
		CHECK(*at + got.count == list.count, "%zu entries after %zu, of %zu", got.count, *at, list.count);
	}
	for (size_t i = 0; i < got.count && *at + i < list.count; i++) {
		const char *name = got.at[i]->d_name, *expected = list.at[*at + i]->d_name;

		CHECK(!strcmp(name, expected), "entry %zu is %s, not %s", *at + i, name, expected);
		if (strcmp(name, expected) != 0)
			break;
	}
	*at += got.count;
	list_free(&got);
}

/*
 * An attempt that finds a missing block after others has no effect: the reading after it returns
 * every entry once. From the beginning, from the middle, and with metadata.
 */
static void partly_evicted(struct env *env)
{
	struct transport transport = fresh_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	unsigned int round = 0;

	MUST(fd >= 0);
	for (int i = 0; i < 8; i += env->full ? 1 : 3) {
		size_t at = 0;

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		evict(round++);
		read_evicted(&transport, fd, 0, &at);

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		at = 0;
		for (int j = 0; j < 3; j++) {
			read_evicted(&transport, fd, 500 + 4000 * i, &at);
			evict(round++);
		}
		read_evicted(&transport, fd, 0, &at);

		evict(round++);
		if (!transport_has(transport.kind, OPCODE_READDIRPLUS))
			continue;
		request.off = 0;
		CHECK_NULL(request_compare_rest(&transport, &request, path, &list, 0), "metadata, round %u", round);
	}
	/* XFS keeps its own buffers for longer. */
	if (env->fs == FS_EXT)
		CHECK(io_workers() > 0, "nothing was missing, so this has shown nothing");
	close(fd);
}

static void with_metadata(struct env *env)
{
	static const unsigned int counts[] = { 500, 100, 40 };

	IN_CHILD(metadata_inline, env);
	/* tmpfs has only the cache. */
	if (env->fs == FS_TMPFS)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		cached = counts[i];
		IN_CHILD(partly_cached, env);
	}
	IN_CHILD(not_cached, env);
}

static void run(struct env *env)
{
	int fd = nowait_folder(env, COUNT, path);

	/*
	 * With relatime the first reading after a change updates the access time, which needs a
	 * thread. The file system's clock has ticks.
	 */
	for (int i = 0; i < 3; i++) {
		usleep(50000);
		list_read(&list, fd);
		if (i < 2)
			list_free(&list);
	}
	IN_CHILD(handed_over_is_seen, env);
	IN_CHILD(names_inline, env);
	if (transport_has(env->kind, OPCODE_READDIRPLUS))
		with_metadata(env);
	/* tmpfs has only the cache. */
	if (env->fs != FS_TMPFS)
		IN_CHILD(partly_evicted, env);
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "opcode_nowait",
	.each_fs = true,
	.kinds = 1u << TRANSPORT_OPCODE,
	.run = run,
};
