// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory's own blocks, brought in by their order on the device.
 *
 * ext4 reads a large directory in the order of its names' hashes, so one block from here and one
 * from there, and waits for each. It finds them in the device's cache, where anybody may have put
 * them. Where they lie only ->fiemap() tells, which writes to memory of the calling process: for
 * that time some is mapped there. What the process itself writes there meanwhile makes other blocks
 * of the device be read, at most as many, and nobody is given what they hold.
 */
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/fiemap.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "names.h"

/* Extents sorted at a time; most directories have fewer. */
#define RINGWALK_EXTENTS	8192
#define RINGWALK_EXTENTS_BYTES	(RINGWALK_EXTENTS * sizeof(struct fiemap_extent))

/* struct ringwalk_run - blocks that lie behind each other */
struct ringwalk_run {
	u64 block;
	u64 count;
};

static int ringwalk_run_compare(const void *a, const void *b)
{
	const struct ringwalk_run *left = a, *right = b;

	return left->block < right->block ? -1 : left->block > right->block;
}

/*
 * Whether reading blocks of the device helps reading this directory: not if it has a page cache of
 * its own, as ext2's have, which are of the same magic; not a single block, which has no order; and
 * not more than memory has room for beside everything else.
 */
static bool ringwalk_dirblocks_pay(struct inode *dir)
{
	loff_t size = i_size_read(dir);

	return dir->i_sb->s_magic == EXT4_SUPER_MAGIC && !dir->i_mapping->a_ops->read_folio &&
	       dir->i_op->fiemap && size > dir->i_sb->s_blocksize &&
	       size >> PAGE_SHIFT < si_mem_available() / 4 && current->mm;
}

/* Extents from *@start on, which moves behind them, or to @size at the end. Returns how many. */
static u32 ringwalk_runs_read(struct inode *dir, loff_t size, loff_t *start,
			      struct fiemap_extent __user *lent, struct ringwalk_run *runs)
{
	struct fiemap_extent_info info = {
		.fi_extents_max = RINGWALK_EXTENTS,
		.fi_extents_start = lent,
	};
	unsigned int bits = dir->i_blkbits;
	u64 blocks = bdev_nr_bytes(dir->i_sb->s_bdev) >> bits;
	u64 wanted = (size - *start) >> bits;
	loff_t next = size;
	u32 i, count = 0;

	if (dir->i_op->fiemap(dir, &info, *start, size - *start))
		info.fi_extents_mapped = 0;
	for (i = 0; i < info.fi_extents_mapped; i++) {
		struct fiemap_extent extent;
		struct ringwalk_run run;

		if (copy_from_user(&extent, lent + i, sizeof(extent)))
			break;
		if (i == RINGWALK_EXTENTS - 1)
			next = extent.fe_logical + extent.fe_length;
		if (extent.fe_flags & ~(FIEMAP_EXTENT_LAST | FIEMAP_EXTENT_MERGED))
			continue;
		run.block = extent.fe_physical >> bits;
		run.count = min(extent.fe_length >> bits, wanted);
		if (run.block >= blocks || run.count > blocks - run.block)
			continue;
		wanted -= run.count;
		runs[count++] = run;
	}
	*start = next > *start ? next : size;
	return count;
}

/* False if the request is to stop. */
static bool ringwalk_runs_bring_in(struct super_block *sb, const struct ringwalk_run *runs,
				   u32 count)
{
	struct blk_plug plug;
	bool stopped = false;
	u64 at;
	u32 i;

	blk_start_plug(&plug);
	for (i = 0; i < count && !stopped; i++)
		for (at = 0; at < runs[i].count && !stopped; at++) {
			sb_breadahead(sb, runs[i].block + at);
			cond_resched();
			stopped = ringwalk_stopped();
		}
	blk_finish_plug(&plug);
	return !stopped;
}

static void ringwalk_dirblocks_read(struct inode *dir, struct fiemap_extent __user *lent,
				    struct ringwalk_run *runs)
{
	loff_t size = i_size_read(dir), start = 0;
	u32 count;

	do {
		count = ringwalk_runs_read(dir, size, &start, lent, runs);
		sort(runs, count, sizeof(*runs), ringwalk_run_compare, NULL);
	} while (ringwalk_runs_bring_in(dir->i_sb, runs, count) && start < size);
}

/**
 * ringwalk_dirblocks - brings in a directory's blocks, in their order, where that pays
 * @dir: an open directory
 *
 * Reads are sent to the device and not waited for. It is advice: where something is missing for it,
 * nothing is done.
 */
void ringwalk_dirblocks(struct file *dir)
{
	struct ringwalk_run *runs;
	unsigned long lent;

	if (!ringwalk_dirblocks_pay(file_inode(dir)))
		return;
	runs = kvmalloc_array(RINGWALK_EXTENTS, sizeof(*runs), GFP_KERNEL_ACCOUNT);
	if (!runs)
		return;
	lent = vm_mmap(NULL, 0, RINGWALK_EXTENTS_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (!IS_ERR_VALUE(lent)) {
		ringwalk_dirblocks_read(file_inode(dir), (void __user *)lent, runs);
		vm_munmap(lent, RINGWALK_EXTENTS_BYTES);
	}
	kvfree(runs);
}
