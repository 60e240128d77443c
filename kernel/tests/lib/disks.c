// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/fs.h>

#include "disks.h"
#include "sys.h"
#include "test.h"

/*
 * How often caches are dropped. The first time dentries let go of inodes, so one more round is
 * needed; XFS keeps an unused buffer for up to 4 rounds (XFS_AGF_REF).
 */
#define DROP_ROUNDS	2
#define DROP_ROUNDS_XFS	5

/*
 * Counters of all disks: bytes read, and requests that the disks have not answered yet
 * (Documentation/admin-guide/iostats.rst, sectors of 512 bytes).
 */
static uint64_t read_counters(uint64_t *in_flight)
{
	static char text[65536];
	uint64_t sectors, pending, all = 0;
	char *line, *rest;

	*in_flight = 0;
	MUST(read_text("/proc/diskstats", text, sizeof(text)) >= 0);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%*d %*d %*s %*d %*d %ju %*d %*d %*d %*d %*d %ju", &sectors,
			   &pending) == 2) {
			all += sectors;
			*in_flight += pending;
		}
	return all * 512;
}

uint64_t disks_bytes_read(void)
{
	uint64_t bytes, in_flight;

	for (int i = 0; i < 2000; i++) {
		bytes = read_counters(&in_flight);
		if (!in_flight)
			return bytes;
		usleep(10 * 1000);
	}
	test_stop(__FILE__, __LINE__, "disks do not answer");
}

/*
 * syncfs(2) makes changes safe, but XFS and ext4 may have written them to the log alone. Freezing a
 * file system waits until they are in their own places, too.
 */
void disks_write_home(int fd)
{
	MUST(syncfs(fd) == 0);
	if (ioctl(fd, FIFREEZE, 0) == 0)
		MUST(ioctl(fd, FITHAW, 0) == 0);
	else
		MUST(errno == EOPNOTSUPP);
}

/*
 * Frees blocks that lists of each processor hold: those of pages to be sorted in, and of buffers
 * used last. drop_caches passes such blocks over before Linux 6.3. They are few, but the blocks of
 * a small folder may be among them.
 */
static void flush_buffers(int fd)
{
	char node[64];
	struct stat stat;
	int device;

	MUST(fstat(fd, &stat) == 0);
	snprintf(node, sizeof(node), "/dev/directory-test.%d", (int)getpid());
	MUST(mknod(node, S_IFBLK | 0600, stat.st_dev) == 0);
	device = open(node, O_RDONLY | O_CLOEXEC);
	MUST(unlink(node) == 0);
	/* Not every file system is on one device, or on any. */
	if (device < 0)
		return;
	MUST(ioctl(device, BLKFLSBUF, 0) == 0);
	close(device);
}

void disks_drop_caches(int fd)
{
	struct statfs fs;
	int rounds;

	MUST(fstatfs(fd, &fs) == 0);
	rounds = fs.f_type == FS_XFS ? DROP_ROUNDS_XFS : DROP_ROUNDS;
	disks_write_home(fd);
	flush_buffers(fd);
	disks_bytes_read();
	for (int round = 0; round < rounds; round++)
		MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
}
