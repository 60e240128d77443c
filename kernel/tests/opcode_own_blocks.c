// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4: posix_fadvise(POSIX_FADV_WILLNEED) for a directory reads its blocks and has at most 2048
 * reads in flight: after that many it waits for an earlier one. SIGKILL ends it.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
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

/* Parts of an inode of ext4, in bytes (struct ext4_inode of fs/ext4/ext4.h). */
enum { INODE_SIZE = 4, INODE_FLAGS = 32, INODE_BLOCKS = 40, EXTENTS_FLAG = 0x80000 };
/* In its map of blocks: the number of the block of the first extent, and of triple indirection. */
enum { EXTENT_START = 20, TRIPLE = 14 * 4 };

static void write_block(uint64_t block, uint32_t number)
{
	uint32_t content[SCRATCH_BLOCK / sizeof(uint32_t)];
	const size_t size = sizeof(content);

	for (unsigned int i = 0; i < ARRAY_SIZE(content); i++)
		content[i] = number;
	MUST(pwrite(scratch.loop, content, size, block * SCRATCH_BLOCK) == size);
}

/*
 * Gives the folder with this one block another map of blocks, and a size of 4 GiB: after the first
 * block come holes of one block each. No checksum covers the inode (Makefile).
 */
static void make_holes(uint64_t own, const struct scratch_range *pointers)
{
	const uint32_t size = -SCRATCH_BLOCK, first = own, triple = pointers->first;
	unsigned int found = 0;
	char block[SCRATCH_BLOCK];

	write_block(pointers->first, pointers->first + 1);
	write_block(pointers->first + 1, pointers->first + 2);
	write_block(pointers->first + 2, 0);
	for (off_t at = 0; at < (off_t)scratch.sectors * 512; at += sizeof(block)) {
		MUST(pread(scratch.loop, block, sizeof(block), at) == sizeof(block));
		for (char *inode = block; inode < block + sizeof(block); inode += 256) {
			char *map = inode + INODE_BLOCKS;
			uint32_t flags;

			memcpy(&flags, inode + INODE_FLAGS, sizeof(flags));
			if (memcmp(map, "\x0a\xf3", 2) || !(flags & EXTENTS_FLAG) ||
			    memcmp(map + EXTENT_START, &first, sizeof(first)))
				continue;
			flags &= ~EXTENTS_FLAG;
			memcpy(inode + INODE_FLAGS, &flags, sizeof(flags));
			memcpy(inode + INODE_SIZE, &size, sizeof(size));
			memset(map, 0, 15 * 4);
			memcpy(map, &first, sizeof(first));
			memcpy(map + TRIPLE, &triple, sizeof(triple));
			MUST(pwrite(scratch.loop, block, sizeof(block), at) == sizeof(block));
			found++;
		}
	}
	MUST(found == 1 && fsync(scratch.loop) == 0);
}

/* Millions of holes, and not one block to read: SIGKILL must end that, too. */
static void killed_among_holes(struct env *env)
{
	struct scratch_range own, pointers;
	char content[3 * SCRATCH_BLOCK] = "";
	char path[600];
	double begin;
	int fd, file;
	pid_t child;

	scratch_open(&scratch, env, SCRATCH_PLAIN, "errors=continue");
	fd = tree_folder(scratch.path, "holes", path);
	file = openat(fd, "pointers", O_CREAT | O_EXCL | O_WRONLY, 0644);
	MUST(file >= 0 && write(file, content, sizeof(content)) == sizeof(content));
	MUST(syncfs(fd) == 0);
	MUST(scratch_ranges(fd, &own, 1) == 1 && own.count == 1);
	MUST(scratch_ranges(file, &pointers, 1) == 1 && pointers.count == 3);
	close(file);
	close(fd);
	scratch_unmount(&scratch);
	make_holes(own.first, &pointers);
	scratch_mount(&scratch, "errors=continue");

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		MUST(fd >= 0);
		for (;;)
			advise(fd);
	}
	usleep(500000);
	kill(child, SIGKILL);
	begin = now();
	MUST(waitpid(child, NULL, 0) == child);
	CHECK(now() - begin < 4, "%.2f s from SIGKILL to the end", now() - begin);
	scratch_close(&scratch);
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
	killed_among_holes(env);
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
