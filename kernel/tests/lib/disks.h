/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the disks have read, and the kernel's caches of them. No other program may read meanwhile.
 */
#ifndef RINGWALK_DISKS_H
#define RINGWALK_DISKS_H

#include <stdint.h>

/* Returns the bytes that all disks have read so far, once they have answered every request. */
uint64_t disks_bytes_read(void);

/*
 * Writes all changes of the file system that @fd is on to their own places. Until then their inodes
 * and blocks cannot be freed, and the file system locks blocks while it writes them.
 */
void disks_write_home(int fd);

/*
 * Frees what the kernel has cached of the file system that @fd is on: names, inodes and blocks, for
 * other open files as well.
 */
void disks_drop_caches(int fd);

#endif
