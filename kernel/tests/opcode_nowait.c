// SPDX-License-Identifier: GPL-2.0-only
/*
 * On supporting file systems the submitting task reads folders that are in memory, without a thread
 * of io-wq. A thread reads the others. No entry comes twice or is lost in between.
 *
 * A ring starts its first thread with the first request that needs one, and the thread shows in
 * /proc/self/task. The test first checks that this method detects such a request.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/names.h"
#include "lib/nowait.h"
#include "lib/sys.h"
#include "lib/test.h"

#define COUNT	1000
#define LEN	(1 << 20)

static char buf[LEN] __attribute__((aligned(8)));

/* The folder of the child processes. */
static char path[512];
static struct list list;

/* Checks the method itself. */
static void handed_over_is_seen(struct env *env)
{
	struct transport transport = nowait_ring(env);
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
	struct transport transport = nowait_ring(env);
	struct ringwalk_getdents request;
	struct list got;
	static const uint32_t lens[] = { 300, 4096, 32768, LEN };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);

		CHECK(request_all_names(&transport, fd, lens[i], &got) == 0, "reading");
		CHECK_NULL(list_differs(&got, &list, 0), "buffers of %u", lens[i]);
		CHECK(io_workers() == 0, "%u threads for buffers of %u", io_workers(), lens[i]);
		/* Rewinding needs no thread either. */
		CHECK(lseek(fd, 0, SEEK_CUR) > 0, "no position");
		request = request_getdents(fd, buf, lens[i]);
		request.off = 0;
		CHECK(transport_call(&transport, RINGWALK_IOC_GETDENTS, &request) > 0,
		      "after rewinding");
		CHECK(io_workers() == 0, "%u threads for rewinding", io_workers());
		list_free(&got);
		close(fd);
	}
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

		CHECK(bytes > 0 || (bytes == 0 && *at == list.count), "%ld after %zu entries",
		      bytes, *at);
		if (bytes > 0)
			list_append(&got, buf, bytes);
	} else {
		CHECK(request_all_names(transport, fd, LEN, &got) == 0, "reading");
		CHECK(*at + got.count == list.count, "%zu entries after %zu, of %zu", got.count,
		      *at, list.count);
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
 * every entry once, from the beginning and from the middle.
 */
static void partly_evicted(struct env *env)
{
	struct transport transport = nowait_ring(env);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);
	unsigned int round = 0;

	MUST(fd >= 0);
	for (int i = 0; i < 8; i += env->full ? 1 : 3) {
		size_t at = 0;

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		nowait_evict(path, round++);
		read_evicted(&transport, fd, 0, &at);

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		at = 0;
		for (int j = 0; j < 3; j++) {
			read_evicted(&transport, fd, 500 + 4000 * i, &at);
			nowait_evict(path, round++);
		}
		read_evicted(&transport, fd, 0, &at);
	}
	/* XFS keeps its own buffers for longer. */
	if (env->fs == FS_EXT)
		CHECK(io_workers() > 0, "nothing was missing, so this has shown nothing");
	close(fd);
}

static void run(struct env *env)
{
	int fd = nowait_folder(env, COUNT, path);

	nowait_list(fd, &list);
	IN_CHILD(handed_over_is_seen, env);
	IN_CHILD(names_inline, env);
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
