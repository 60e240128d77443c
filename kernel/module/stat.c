// SPDX-License-Identifier: GPL-2.0-only
/* Metadata: converts struct kstat to struct ringwalk_stat and the groups after it. */
#include <linux/cred.h>
#include <linux/kdev_t.h>
#include <linux/uidgid.h>

#include "internal.h"

#define RINGWALK_TIMES		(STATX_ATIME | STATX_MTIME | STATX_CTIME | STATX_BTIME)
#define RINGWALK_MNT_IDS	(STATX_MNT_ID | STATX_MNT_ID_UNIQUE)
#define RINGWALK_WORDS		(RINGWALK_MNT_IDS | STATX_DIOALIGN | STATX_SUBVOL)
/* Fields that struct ringwalk_stat always has. */
#define RINGWALK_FIXED		(STATX_BASIC_STATS & ~RINGWALK_TIMES)

/**
 * ringwalk_stat_size - size of the metadata in each record
 * @mask: what is asked for
 *
 * Return: the size of struct ringwalk_stat with its groups.
 */
u32 ringwalk_stat_size(u32 mask)
{
	u32 times = hweight32(mask & RINGWALK_TIMES);
	u32 words = !!(mask & RINGWALK_MNT_IDS) + !!(mask & STATX_DIOALIGN) +
		    !!(mask & STATX_SUBVOL);

	return sizeof(struct ringwalk_stat) + times * sizeof(struct ringwalk_time) +
	       words * sizeof(u64);
}

static struct ringwalk_time *ringwalk_put_time(struct ringwalk_time *to, bool valid,
					       const struct timespec64 *from)
{
	to->sec = valid ? from->tv_sec : 0;
	to->nsec = valid ? from->tv_nsec : 0;
	to->reserved = 0;
	return to + 1;
}

static void *ringwalk_put_times(void *to, u32 mask, u32 valid, const struct kstat *stat)
{
	if (mask & STATX_ATIME)
		to = ringwalk_put_time(to, valid & STATX_ATIME, &stat->atime);
	if (mask & STATX_MTIME)
		to = ringwalk_put_time(to, valid & STATX_MTIME, &stat->mtime);
	if (mask & STATX_CTIME)
		to = ringwalk_put_time(to, valid & STATX_CTIME, &stat->ctime);
	if (mask & STATX_BTIME)
		to = ringwalk_put_time(to, valid & STATX_BTIME, &stat->btime);
	return to;
}

/* The usual case: all time stamps are wanted, and all exist. */
static void *ringwalk_put_all_times(struct ringwalk_time *to, const struct kstat *stat)
{
	ringwalk_put_time(to, true, &stat->atime);
	ringwalk_put_time(to + 1, true, &stat->mtime);
	ringwalk_put_time(to + 2, true, &stat->ctime);
	ringwalk_put_time(to + 3, true, &stat->btime);
	return to + 4;
}

static void ringwalk_put_words(void *to, u32 mask, u32 valid, const struct kstat *stat)
{
	u64 *word = to;

	if (mask & RINGWALK_MNT_IDS)
		*word++ = 0;
	if (mask & STATX_DIOALIGN) {
		((u32 *)word)[0] = valid & STATX_DIOALIGN ? stat->dio_mem_align : 0;
		((u32 *)word)[1] = valid & STATX_DIOALIGN ? stat->dio_offset_align : 0;
		word++;
	}
	if (mask & STATX_SUBVOL)
		*word = valid & STATX_SUBVOL ? ringwalk_kstat_subvol(stat) : 0;
}

static void ringwalk_put_groups(void *to, u32 mask, u32 valid, const struct kstat *stat)
{
	if ((valid & RINGWALK_TIMES) == RINGWALK_TIMES)
		to = ringwalk_put_all_times(to, stat);
	else
		to = ringwalk_put_times(to, mask, valid, stat);
	if (mask & RINGWALK_WORDS)
		ringwalk_put_words(to, mask, valid, stat);
}

void ringwalk_ids_init(struct ringwalk_ids *ids)
{
	ids->kuid = GLOBAL_ROOT_UID;
	ids->kgid = GLOBAL_ROOT_GID;
	ids->uid = from_kuid_munged(current_user_ns(), ids->kuid);
	ids->gid = from_kgid_munged(current_user_ns(), ids->kgid);
}

static void ringwalk_put_ids(struct ringwalk_stat *out, struct ringwalk_ids *ids,
			     const struct kstat *stat)
{
	if (!uid_eq(ids->kuid, stat->uid)) {
		ids->kuid = stat->uid;
		ids->uid = from_kuid_munged(current_user_ns(), stat->uid);
	}
	if (!gid_eq(ids->kgid, stat->gid)) {
		ids->kgid = stat->gid;
		ids->gid = from_kgid_munged(current_user_ns(), stat->gid);
	}
	out->uid = ids->uid;
	out->gid = ids->gid;
}

/**
 * ringwalk_stat_fill - fills in the metadata of a file, as statx(2) does
 * @batch: what is asked for
 * @path: the file
 * @out: where the metadata is written, with room for ringwalk_stat_size() bytes
 *
 * Only the kernel's own code knows mount identifiers.
 *
 * Return: 0 or a negative errno; then @out is undefined.
 */
int ringwalk_stat_fill(struct ringwalk_batch *batch, const struct path *path,
		       struct ringwalk_stat *out)
{
	struct kstat *stat = &batch->stat;
	u32 mask = batch->wanted->mask;
	u32 valid;
	int error;

	error = vfs_getattr(path, stat, mask & ~RINGWALK_MNT_IDS, batch->wanted->stat_flags);
	if (unlikely(error))
		return error;

	valid = stat->result_mask & (mask | RINGWALK_FIXED) &
		(RINGWALK_STAT_MASK & ~RINGWALK_MNT_IDS);
	out->mask = valid;
	out->blksize = stat->blksize;
	out->attributes = stat->attributes & ~STATX_ATTR_CHANGE_MONOTONIC;
	if (unlikely(path->mnt->mnt_root == path->dentry))
		out->attributes |= STATX_ATTR_MOUNT_ROOT;
	out->attributes_mask = stat->attributes_mask | STATX_ATTR_MOUNT_ROOT;
	out->nlink = stat->nlink;
	ringwalk_put_ids(out, &batch->ids, stat);
	out->mode = stat->mode;
	out->reserved = 0;
	out->ino = stat->ino;
	out->size = stat->size;
	out->blocks = stat->blocks;
	out->dev_major = MAJOR(stat->dev);
	out->dev_minor = MINOR(stat->dev);
	out->rdev_major = MAJOR(stat->rdev);
	out->rdev_minor = MINOR(stat->rdev);
	ringwalk_put_groups(out + 1, mask, valid, stat);
	return 0;
}
