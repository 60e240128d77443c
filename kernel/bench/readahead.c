// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common.h"
#include "readahead.h"

enum {
	/*
	 * Entries a piece. Larger pieces are better sorted; with smaller ones reading begins
	 * earlier. In a directory made in random order the first piece already brings in most
	 * blocks of the inode table.
	 */
	PIECE = 32 * 1024,
	NAMES_MAX = 4 * 1024 * 1024,
	/* A directory of 500 000 files has no more blocks. */
	EXTENTS = 8192,
	/* As much as one call reads of a device with the kernel's default read-ahead. */
	ADVICE = 128 * 1024,
};

static enum { NEVER, BY_MODULE, BY_FADVISE } how;
static struct io_uring ring;
static int module;
static bool blocks;

static struct ringwalk_readahead request;
static int directory;
static bool in_flight, at_end;
/* Entries that may be read before the next piece must be complete. */
static uint64_t ready;

bool readahead_start(const char *word)
{
	make_ring(&ring, 4);
	blocks = !strcmp(word, "blocks+module");
	if (blocks || !strcmp(word, "module")) {
		module = open_module();
		how = BY_MODULE;
	} else if (!strcmp(word, "fadvise")) {
		how = BY_FADVISE;
	}
	return how != NEVER;
}

/* Opens the block device of a file system. */
static int open_device(int fd)
{
	char path[64], line[256], name[192];
	struct statx stat;
	FILE *file;
	int device;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stat))
		die("statx");
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", stat.stx_dev_major, stat.stx_dev_minor);
	file = fopen(path, "re");
	if (!file)
		die(path);
	name[0] = '\0';
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "DEVNAME=", 8))
			snprintf(name, sizeof(name), "/dev/%.*s", (int)strcspn(line + 8, "\n"), line + 8);
	fclose(file);
	device = open(name, O_RDONLY | O_CLOEXEC);
	if (device < 0)
		die(name);
	return device;
}

static int by_place(const void *a, const void *b)
{
	const struct fiemap_extent *left = a, *right = b;

	return left->fe_physical < right->fe_physical ? -1 : left->fe_physical > right->fe_physical;
}

/*
 * Has the blocks of a directory read into the cache of the device, where ext4 finds them, in their
 * order there. Not the module: see docs/kernel.md.
 */
static void read_blocks(int fd)
{
	struct fiemap *map = calloc(1, sizeof(*map) + EXTENTS * sizeof(map->fm_extents[0]));
	int device = open_device(fd);

	if (!map)
		die("memory");
	map->fm_length = FIEMAP_MAX_OFFSET;
	map->fm_extent_count = EXTENTS;
	if (ioctl(fd, FS_IOC_FIEMAP, map))
		die("FS_IOC_FIEMAP");
	qsort(map->fm_extents, map->fm_mapped_extents, sizeof(map->fm_extents[0]), by_place);
	for (unsigned int i = 0; i < map->fm_mapped_extents; i++) {
		const struct fiemap_extent *extent = &map->fm_extents[i];

		for (uint64_t at = 0; at < extent->fe_length; at += ADVICE)
			posix_fadvise(device, extent->fe_physical + at,
				      extent->fe_length - at < ADVICE ? extent->fe_length - at : ADVICE, POSIX_FADV_WILLNEED);
	}
	close(device);
	free(map);
}

static void submit(int64_t off)
{
	struct ringwalk_sqe payload = { .request = (uintptr_t)&request };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	int error;

	request = (struct ringwalk_readahead){
		.size = sizeof(struct ringwalk_readahead),
		.fd = directory,
		.max_entries = PIECE,
		.off = off,
		.max_bytes = NAMES_MAX,
	};
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, module, NULL, 0, 0);
	sqe->cmd_op = RINGWALK_IOC_READAHEAD;
	memcpy(sqe->cmd, &payload, sizeof(payload));
	error = io_uring_submit(&ring);
	if (error != 1)
		die_of("READAHEAD", error);
	in_flight = true;
}

/* Waits for the piece in flight, and requests the next one. */
static void take_piece(void)
{
	struct io_uring_cqe *cqe;
	int error;

	do
		error = io_uring_wait_cqe(&ring, &cqe);
	while (error == -EINTR);
	if (error)
		die_of("READAHEAD", error);
	if (cqe->res < 0)
		die_of("READAHEAD", cqe->res);
	ready += request.entries;
	at_end = request.result_flags & RINGWALK_RESULT_END;
	io_uring_cqe_seen(&ring, cqe);
	in_flight = false;
	if (!at_end)
		submit(request.next);
}

static void begin_fadvise(int fd)
{
	int error = posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);

	if (error)
		die_of("POSIX_FADV_WILLNEED", -error);
}

void readahead_begin(int fd)
{
	if (how == NEVER)
		return;
	if (how == BY_FADVISE) {
		begin_fadvise(fd);
		return;
	}
	if (blocks)
		read_blocks(fd);
	directory = fd;
	ready = 0;
	at_end = false;
	submit(0);
}

void readahead_before_entry(void)
{
	while (!ready && in_flight)
		take_piece();
	/* Names after the end of READAHEAD are looked up without it. */
	if (ready)
		ready--;
}

void readahead_end(void)
{
	while (in_flight)
		take_piece();
}
