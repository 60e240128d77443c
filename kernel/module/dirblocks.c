// SPDX-License-Identifier: GPL-2.0-only
/*
 * Brings in the blocks of a directory in their order on the device.
 *
 * ext4 reads a large directory in the order of its names' hashes, so blocks in random order, and
 * waits for each. It finds a block in the cache of the device, if another reader has brought it in.
 * Only ->fiemap() knows where the blocks lie, and it writes to the caller's memory. So the caller
 * lends some in its request. If the process writes there meanwhile, other blocks of the device are
 * read, at most as many; their contents go to no caller.
 */
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/fiemap.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "names.h"

/*
 * The largest number of extents used; a directory of 500000 files has no more blocks. The blocks of
 * further extents are read as usual, each when its names are.
 */
#define RINGWALK_EXTENTS	8192
/* Fewer blocks are not worth the search. A guess: one block saves a seek, or 0.1 ms on flash. */
#define RINGWALK_DIRBLOCKS_MIN	8
/*
 * Blocks between two waits for an earlier block. The kernel cannot reclaim a block while it is
 * being read, and the queue of a device may hold hundreds of MiB.
 */
#define RINGWALK_DIRBLOCKS_STEP	1024

/* A locked buffer that has a place on the device. Its contents are not in memory. */
#define RINGWALK_BUFFER_UNREAD	(BIT(BH_Lock) | BIT(BH_Mapped))

/* struct ringwalk_run - consecutive blocks */
struct ringwalk_run {
	u64 block;
	u64 count;
};

/*
 * Returns the number of blocks of a directory, or 0 if reading the device does not help: if the
 * directory has its own page cache, as with the ext2 driver, which has the same magic; if it has
 * few blocks; or if they would take a quarter of the available memory, because the inodes need
 * memory too. Limits of a memory cgroup are not known here: blocks that do not fit into one are
 * skipped.
 */
static u64 ringwalk_dirblocks_count(struct inode *dir)
{
	u64 size = i_size_read(dir), blocks = size >> dir->i_blkbits;

	if (dir->i_sb->s_magic != EXT4_SUPER_MAGIC || dir->i_mapping->a_ops->read_folio ||
	    !dir->i_op->fiemap)
		return 0;
	/* Scattered blocks smaller than a page take a page each. */
	if (blocks < RINGWALK_DIRBLOCKS_MIN ||
	    max(blocks, size >> PAGE_SHIFT) >= si_mem_available() / 4)
		return 0;
	return blocks;
}

/* Returns the number of runs; all together have at most @blocks blocks. */
static u32 ringwalk_runs_read(struct inode *dir, u64 blocks, struct fiemap_extent __user *lent,
			      u32 extents, struct ringwalk_run *runs)
{
	struct fiemap_extent_info info = {
		.fi_extents_max = extents,
		.fi_extents_start = lent,
	};
	u64 end = bdev_nr_bytes(dir->i_sb->s_bdev) >> dir->i_blkbits;
	u32 i, count = 0;

	if (dir->i_op->fiemap(dir, &info, 0, i_size_read(dir)))
		return 0;
	for (i = 0; i < info.fi_extents_mapped; i++) {
		struct fiemap_extent extent;
		struct ringwalk_run run;

		if (copy_from_user(&extent, lent + i, sizeof(extent)))
			break;
		if (extent.fe_flags & ~(FIEMAP_EXTENT_LAST | FIEMAP_EXTENT_MERGED))
			continue;
		run.block = extent.fe_physical >> dir->i_blkbits;
		run.count = min(extent.fe_length >> dir->i_blkbits, blocks);
		if (run.block >= end || run.count > end - run.block)
			continue;
		blocks -= run.count;
		runs[count++] = run;
	}
	return count;
}

/*
 * Starts to read a block, unless its buffer has been in use. Only a buffer that nobody has read or
 * written may be filled from the device: after a failed write, a buffer that is not up to date has
 * the only copy of its contents (ext4_buffer_uptodate()). The lock keeps the state as it is.
 */
static void ringwalk_read_block(struct super_block *sb, u64 block)
{
	struct buffer_head *buffer = getblk_unmovable(sb->s_bdev, block, sb->s_blocksize);

	if (!buffer)
		return;
	if (trylock_buffer(buffer)) {
		if (READ_ONCE(buffer->b_state) & ~RINGWALK_BUFFER_UNREAD)
			unlock_buffer(buffer);
		else
			__bh_read(buffer, REQ_META | REQ_RAHEAD, false);
	}
	brelse(buffer);
}

static void ringwalk_wait_for_block(struct super_block *sb, u64 block)
{
	struct buffer_head *buffer = sb_find_get_block(sb, block);

	if (!buffer)
		return;
	wait_on_buffer(buffer);
	brelse(buffer);
}

static void ringwalk_runs_bring_in(struct super_block *sb, const struct ringwalk_run *runs,
				   u32 count)
{
	u64 at, block, earlier = 0;
	struct blk_plug plug;
	u32 i, sent = 0;

	blk_start_plug(&plug);
	for (i = 0; i < count; i++)
		for (at = 0; at < runs[i].count; at++) {
			if (ringwalk_stopped())
				goto stopped;
			block = runs[i].block + at;
			ringwalk_read_block(sb, block);
			if (++sent % RINGWALK_DIRBLOCKS_STEP == 0) {
				if (earlier)
					ringwalk_wait_for_block(sb, earlier);
				earlier = block;
			}
			cond_resched();
		}
stopped:
	blk_finish_plug(&plug);
}

/**
 * ringwalk_dirblocks - brings in the blocks of a directory in order, where that helps
 * @dir: an open directory
 * @scratch: address of memory that the caller lends for struct fiemap_extent; 0 for none
 * @len: bytes there
 *
 * Sends the reads to the device, and does not wait for the last of them. This is advice: on a
 * failure nothing is done.
 */
void ringwalk_dirblocks(struct file *dir, u64 scratch, u32 len)
{
	struct fiemap_extent __user *lent = u64_to_user_ptr(scratch);
	struct inode *inode = file_inode(dir);
	u64 blocks = ringwalk_dirblocks_count(inode);
	u32 extents = min_t(u64, min_t(u64, len / sizeof(*lent), RINGWALK_EXTENTS), blocks);
	struct ringwalk_run *runs;
	u32 count;

	if (!scratch || !extents || !access_ok(lent, extents * sizeof(*lent)))
		return;
	runs = kvmalloc_array(extents, sizeof(*runs), GFP_KERNEL_ACCOUNT);
	if (!runs)
		return;
	count = ringwalk_runs_read(inode, blocks, lent, extents, runs);
	sort(runs, count, sizeof(*runs), ringwalk_compare_first, NULL);
	ringwalk_runs_bring_in(inode->i_sb, runs, count);
	kvfree(runs);
}
