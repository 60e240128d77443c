// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4: posix_fadvise(POSIX_FADV_WILLNEED) for a directory reads its blocks and has at most 2048
 * reads in flight: after that many it waits for an earlier one. Only patched kernels do that for
 * directories. DIR_READAHEAD from the beginning reads them in the same way.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/scratch.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

/* Links with names of this length: a block of 1 KiB holds three of them, and two on average. */
#define LINKS		6000
#define NAME_LEN	250
/* A block of 4 KiB holds eleven on average. */
#define LINKS_LARGE	36000
/* EXT4_DIR_AHEAD_STEP of the series. */
#define STEP		1024
#define RANGES_MAX	4096
/* Each read takes this long; and where sending all must take much less, this long. */
#define SLOW_MS		800
#define SLOWER_MS	2000

static struct scratch scratch;

static void make_links(int fd, int links)
{
	char name[NAME_LEN + 1];
	int file = openat(fd, "file", O_CREAT | O_EXCL | O_WRONLY, 0644);

	MUST(file >= 0);
	close(file);
	memset(name, 'x', NAME_LEN);
	name[NAME_LEN] = '\0';
	for (int i = 0; i < links; i++) {
		snprintf(name, sizeof(name), "%06d", i);
		name[6] = 'x';
		MUST(linkat(fd, "file", fd, name, 0) == 0);
	}
}

/* Opens a file system with a large folder, and returns that. Sets @bytes to its size. */
static int open_large(const struct env *env, const char *image, int links, uint64_t *bytes)
{
	static struct scratch_range ranges[RANGES_MAX];
	unsigned int count;
	char path[600];
	int fd;

	scratch_open(&scratch, env, image, "");
	fd = tree_folder(scratch.path, "large", path);
	make_links(fd, links);
	MUST(syncfs(fd) == 0);
	/* This also brings the places of the blocks into memory. The open folder keeps them. */
	count = scratch_ranges(fd, ranges, RANGES_MAX);
	MUST(count < RANGES_MAX);
	*bytes = 0;
	for (unsigned int i = 0; i < count; i++)
		*bytes += ranges[i].count * SCRATCH_BLOCK;
	return fd;
}

static double advise(int fd)
{
	double begin = now();

	CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) == 0, "the advice is refused");
	return now() - begin;
}

static void by_advice(struct env *env)
{
	unsigned long reads;
	uint64_t bytes, blocks;
	double time;
	int fd;

	fd = open_large(env, SCRATCH_PLAIN, LINKS, &bytes);
	blocks = bytes / 1024;
	MUST(blocks > 2 * STEP && blocks < 4 * STEP);

	MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
	scratch_slow(&scratch, SLOW_MS);
	reads = scratch_reads(&scratch);
	time = advise(fd);
	CHECK(time > SLOW_MS / 2000.0, "%.2f s: reads of %u blocks are sent without waiting for any", time, (unsigned int)blocks);
	/* Not for each of them, of course. */
	CHECK(time < 20 * SLOW_MS / 1000.0, "%.2f s for %u blocks", time, (unsigned int)blocks);
	/* All were sent. */
	scratch_wait(&scratch, 3 * SLOW_MS);
	reads = scratch_reads(&scratch) - reads;
	CHECK(reads >= blocks / STEP, "%lu reads of %u blocks", reads, (unsigned int)blocks);
	reads = scratch_reads(&scratch);
	advise(fd);
	scratch_wait(&scratch, 3 * SLOW_MS);
	reads = scratch_reads(&scratch) - reads;
	CHECK(reads == 0, "%lu reads of blocks that are in memory", reads);
	scratch_works(&scratch);
	close(fd);
	scratch_close(&scratch);
}

/*
 * When the time of one read and a half has passed, no more blocks than the bound have come in. On a
 * slow machine fewer are sent by then.
 */
static void by_operation(struct env *env, struct transport *transport)
{
	unsigned long before, kib;
	struct io_uring_cqe cqe;
	struct io_uring_sqe *sqe;
	uint64_t bytes;
	double begin;
	int fd;

	fd = open_large(env, SCRATCH_LARGE, LINKS_LARGE, &bytes);
	MUST(bytes / 4096 > 5 * STEP / 2);
	MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
	scratch_slow(&scratch, SLOWER_MS);
	before = scratch_sectors_read(&scratch);
	sqe = ring_entry(&transport->ring);
	MUST(sqe);
	sqe->opcode = transport->first_opcode + OPCODE_READAHEAD;
	sqe->fd = fd;
	sqe->len = 1;
	begin = now();
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(SLOWER_MS * 1500);
	kib = (scratch_sectors_read(&scratch) - before) / 2;
	/* A few blocks are not the folder's own. */
	if (now() - begin < 1.9 * SLOWER_MS / 1000)
		CHECK(kib <= (2 * STEP + 64) * 4, "%lu KiB of %u came in the time of one read", kib, (unsigned int)(bytes / 1024));
	MUST(ring_wait(&transport->ring, &cqe) == 0);
	CHECK(cqe.res == 1, "%d", cqe.res);
	scratch_wait(&scratch, 2 * SLOWER_MS);
	kib = (scratch_sectors_read(&scratch) - before) / 2;
	CHECK(kib >= bytes / 1024, "%lu KiB of %u were read", kib, (unsigned int)(bytes / 1024));
	scratch_works(&scratch);
	close(fd);
	scratch_close(&scratch);
}

static void run(struct env *env)
{
	struct transport transport;

	/* Says whether this kernel is a patched one. */
	transport_open(&transport, env->kind, 0);
	by_advice(env);
	by_operation(env, &transport);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_own_blocks",
	.kinds = BY_OPCODE,
	.needs = OPCODE_READAHEAD,
	.one_kind = true,
	.run = run,
};
