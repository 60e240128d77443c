// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4 reads a large directory in the order of its names' hashes, so block by block from here and there, without readahead. The page cache of
 * the block device holds the same blocks for the file system as for anybody who reads the device, so reading ahead there serves it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common.h"
#include "dirblocks.h"

/* Extents asked for at a time. */
enum { EXTENTS = 4096 };

struct extents {
	struct fiemap head;
	struct fiemap_extent at[EXTENTS];
};

/* The device of a file system, by the name that the kernel has for it. */
static int open_device(dev_t device)
{
	char path[64], line[256], name[128] = "/dev/";
	FILE *uevent;
	int fd;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major(device), minor(device));
	uevent = fopen(path, "re");
	if (!uevent)
		die(path);
	while (fgets(line, sizeof(line), uevent))
		if (sscanf(line, "DEVNAME=%100s", name + strlen("/dev/")) == 1)
			break;
	fclose(uevent);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(name);
	return fd;
}

static int by_place(const void *one, const void *other)
{
	const struct fiemap_extent *a = one, *b = other;

	return (a->fe_physical > b->fe_physical) - (a->fe_physical < b->fe_physical);
}

void bring_in_directory(int fd)
{
	static struct extents extents;
	uint64_t start = 0;
	struct stat status;
	bool last = false;
	int device;

	if (fstat(fd, &status))
		die("fstat");
	device = open_device(status.st_dev);
	while (!last) {
		unsigned int count;

		extents.head = (struct fiemap){
			.fm_start = start,
			.fm_length = FIEMAP_MAX_OFFSET - start,
			.fm_extent_count = EXTENTS,
		};
		if (ioctl(fd, FS_IOC_FIEMAP, &extents))
			die("FIEMAP");
		count = extents.head.fm_mapped_extents;
		if (!count)
			break;
		last = extents.at[count - 1].fe_flags & FIEMAP_EXTENT_LAST;
		start = extents.at[count - 1].fe_logical + extents.at[count - 1].fe_length;
		qsort(extents.at, count, sizeof(extents.at[0]), by_place);
		for (unsigned int i = 0; i < count; i++)
			posix_fadvise(device, extents.at[i].fe_physical, extents.at[i].fe_length, POSIX_FADV_WILLNEED);
	}
	close(device);
}
