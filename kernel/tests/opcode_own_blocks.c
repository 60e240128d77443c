// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4: posix_fadvise(POSIX_FADV_WILLNEED) for a directory reads its blocks and has at most 2048
 * reads in flight: after that many it waits for an earlier one.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/scratch.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

/* Links with names of this length: a block of 1 KiB holds three of them, and two on average. */
#define LINKS		6000
#define NAME_LEN	250
/* EXT4_DIR_AHEAD_STEP of the kernel. */
#define STEP		1024
#define RANGES_MAX	4096
/* Each read takes this long. */
#define SLOW_MS		800

static struct scratch scratch;

static void make_links(int fd)
{
	char name[NAME_LEN + 1];
	int file = openat(fd, "file", O_CREAT | O_EXCL | O_WRONLY, 0644);

	MUST(file >= 0);
	close(file);
	memset(name, 'x', NAME_LEN);
	name[NAME_LEN] = '\0';
	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "%06d", i);
		name[6] = 'x';
		MUST(linkat(fd, "file", fd, name, 0) == 0);
	}
}

/* Opens a file system with a large folder, and returns that. Sets @bytes to its size. */
static int open_large(const struct env *env, uint64_t *bytes)
{
	static struct scratch_range ranges[RANGES_MAX];
	unsigned int count;
	char path[600];
	int fd;

	scratch_open(&scratch, env, SCRATCH_PLAIN, "");
	fd = tree_folder(scratch.path, "large", path);
	make_links(fd);
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

static void run(struct env *env)
{
	unsigned long reads;
	uint64_t bytes, blocks;
	double time;
	int fd;

	fd = open_large(env, &bytes);
	blocks = bytes / 1024;
	MUST(blocks > 2 * STEP && blocks < 4 * STEP);

	MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
	scratch_slow(&scratch, SLOW_MS);
	reads = scratch_reads(&scratch);
	time = advise(fd);
	CHECK(time > SLOW_MS / 2000.0,
	      "%.2f s: reads of %u blocks are sent without waiting for any", time,
	      (unsigned int)blocks);
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

const struct test test = {
	.name = "opcode_own_blocks",
	.kinds = BY_OPCODE,
/* @ours */
	.needs = OPCODE_READDIRPLUS,
/* @end */
	.one_kind = true,
	.run = run,
};
