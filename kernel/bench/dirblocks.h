/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blocks that a directory's names lie in, brought in from user space in the order of the disk.
 */
#ifndef RINGWALK_BENCH_DIRBLOCKS_H
#define RINGWALK_BENCH_DIRBLOCKS_H

/* Asks for all blocks of an open directory, and does not wait for them. Needs the right to read the block device. */
void bring_in_directory(int fd);

#endif
