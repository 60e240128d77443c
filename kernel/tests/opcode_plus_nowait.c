// SPDX-License-Identifier: GPL-2.0-only
/*
 * READDIRPLUS of entries that are in memory needs no thread of io-wq. A thread reads the others. No
 * entry comes twice or is lost in between. opcode_nowait.c has the same for names alone, and shows
 * that the method of counting threads detects one.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/nowait.h"
#include "lib/plus.h"
#include "lib/sys.h"
#include "lib/test.h"

#define COUNT	1000
#define LEN	(1 << 20)

static char buf[LEN] __attribute__((aligned(8)));

/* The folder of the child processes. */
static char path[512];
static struct list list;

static void metadata_inline(struct env *env)
{
	struct transport transport = nowait_ring(env);
	static const uint32_t lens[] = { 1024, 32768, LEN };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);
		struct ringwalk_readdirplus request = request_readdirplus(fd, buf, lens[i]);

		request.fields.mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
		CHECK_NULL(request_compare_rest(&transport, &request, path, &list, 0),
			   "buffers of %u", lens[i]);
		CHECK(io_workers() == 0, "%u threads for buffers of %u", io_workers(), lens[i]);
		close(fd);
	}
}

/*
 * An attempt that cannot write its output fails by itself, and sets the position back. It does not
 * leave that to a thread, which would not come after a cancel.
 */
static void not_writable(struct env *env)
{
	struct transport transport = nowait_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	char *memory = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ringwalk_readdirplus request = request_readdirplus(fd, memory, LEN);
	long got;

	MUST(memory != MAP_FAILED);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got == -EFAULT, "memory that is not writable: %ld", got);
	CHECK(io_workers() == 0, "%u threads for memory that is not writable", io_workers());
	CHECK(lseek(fd, 0, SEEK_CUR) == 0, "the position is %jd after a failure",
	      (intmax_t)lseek(fd, 0, SEEK_CUR));
	MUST(munmap(memory, LEN) == 0);
	close(fd);
}

/* Drops all dentries and inodes, and brings in those of the first @count entries again. */
static void cache_only(size_t count)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct statx_record record;
	struct list again;

	sync();
	nowait_drop_caches("2");
	/* The blocks with the names. */
	list_read(&again, fd);
	list_free(&again);
	for (size_t i = 0; i < count; i++)
		MUST(sys_statx(fd, list.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
			       &record) == 0);
	close(fd);
}

/*
 * The attempt in the submitting task returns the cached entries up to the first one that is not. A
 * thread continues there.
 */
static unsigned int cached;

static void partly_cached(struct env *env)
{
	struct transport transport = nowait_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct compare compare = request_compare(&transport, fd, path, &request.fields, 0);
	long got;

	cache_only(cached);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got > 0 && request.entries == cached, "%ld bytes of %u entries, %u are cached", got,
	      request.entries, cached);
	CHECK(io_workers() == 0, "%u threads for what is cached", io_workers());
	CHECK(!(request.result_flags & RINGWALK_RESULT_END), "not at the end");
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)list.at[request.entries - 1]->d_off,
	      "position after %u entries", request.entries);
	CHECK_NULL(compare_batch(&compare, buf, got, request.entries, &list, 0), "what is cached");
	CHECK_NULL(request_compare_rest(&transport, &request, path, &list, request.entries),
		   "what is not");
	CHECK(io_workers() > 0, "no thread for what is not cached");
	close(fd);
}

/*
 * The attempt does not return "." and ".." alone: it leaves the position, and a thread returns
 * everything in one batch.
 */
static void not_cached(struct env *env)
{
	struct transport transport = nowait_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct compare compare = request_compare(&transport, fd, path, &request.fields, 0);
	long got;

	cache_only(0);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got > 0 && request.entries == list.count &&
	      request.result_flags & RINGWALK_RESULT_END,
	      "%ld bytes of %u entries, flags %u", got, request.entries, request.result_flags);
	CHECK_NULL(compare_batch(&compare, buf, got > 0 ? got : 0, request.entries, &list, 0),
		   "all");
	CHECK(io_workers() > 0, "no thread");
	close(fd);
}

/* As in opcode_nowait.c: an attempt that finds a missing block after others has no effect. */
static void partly_evicted(struct env *env)
{
	struct transport transport = nowait_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);

	MUST(fd >= 0);
	request.off = 0;
	for (unsigned int round = 0; round < (env->full ? 8 : 3); round++) {
		nowait_evict(path, round);
		CHECK_NULL(request_compare_rest(&transport, &request, path, &list, 0), "round %u",
			   round);
	}
	close(fd);
}

static void run(struct env *env)
{
	static const unsigned int counts[] = { 500, 100, 40 };
	int fd = nowait_folder(env, COUNT, path);

	nowait_list(fd, &list);
	IN_CHILD(metadata_inline, env);
	IN_CHILD(not_writable, env);
	/* tmpfs has only the cache. */
	for (size_t i = 0; env->fs != FS_TMPFS && i < ARRAY_SIZE(counts); i++) {
		cached = counts[i];
		IN_CHILD(partly_cached, env);
	}
	if (env->fs != FS_TMPFS) {
		IN_CHILD(not_cached, env);
		IN_CHILD(partly_evicted, env);
	}
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "opcode_plus_nowait",
	.each_fs = true,
	.kinds = 1u << TRANSPORT_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
