// SPDX-License-Identifier: GPL-2.0-only
/* Metadata: struct kstat into struct ringwalk_stat and the groups behind it. */
#include <linux/cred.h>
#include <linux/kdev_t.h>
#include <linux/uidgid.h>

#include "internal.h"

#define RINGWALK_MNT_IDS	(STATX_MNT_ID | STATX_MNT_ID_UNIQUE)
/* Fields that are in struct ringwalk_stat whether they were asked for or not. */
#define RINGWALK_FIXED		(STATX_BASIC_STATS & ~(STATX_ATIME | STATX_MTIME | STATX_CTIME))

/**
 * ringwalk_stat_size - bytes of metadata in each record
 * @mask: what is asked for
 *
 * Return: the size of struct ringwalk_stat with its groups.
 */
u32 ringwalk_stat_size(u32 mask)
{
	u32 times = hweight32(mask & (STATX_ATIME | STATX_MTIME | STATX_CTIME | STATX_BTIME));
	u32 words = !!(mask & RINGWALK_MNT_IDS) + !!(mask & STATX_DIOALIGN) +
		    !!(mask & STATX_SUBVOL);

	return sizeof(struct ringwalk_stat) + times * sizeof(struct ringwalk_time) +
	       words * sizeof(u64);
}

static void *ringwalk_put_time(void *to, bool valid, const struct timespec64 *from)
{
	struct ringwalk_time *time = to;

	time->sec = valid ? from->tv_sec : 0;
	time->nsec = valid ? from->tv_nsec : 0;
	time->reserved = 0;
	return time + 1;
}

static void ringwalk_put_groups(void *to, u32 mask, const struct kstat *stat, u32 valid)
{
	if (mask & STATX_ATIME)
		to = ringwalk_put_time(to, valid & STATX_ATIME, &stat->atime);
	if (mask & STATX_MTIME)
		to = ringwalk_put_time(to, valid & STATX_MTIME, &stat->mtime);
	if (mask & STATX_CTIME)
		to = ringwalk_put_time(to, valid & STATX_CTIME, &stat->ctime);
	if (mask & STATX_BTIME)
		to = ringwalk_put_time(to, valid & STATX_BTIME, &stat->btime);
	if (mask & RINGWALK_MNT_IDS) {
		*(u64 *)to = 0;
		to += sizeof(u64);
	}
	if (mask & STATX_DIOALIGN) {
		((u32 *)to)[0] = valid & STATX_DIOALIGN ? stat->dio_mem_align : 0;
		((u32 *)to)[1] = valid & STATX_DIOALIGN ? stat->dio_offset_align : 0;
		to += sizeof(u64);
	}
	if (mask & STATX_SUBVOL)
		*(u64 *)to = valid & STATX_SUBVOL ? ringwalk_kstat_subvol(stat) : 0;
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
 * ringwalk_stat_fill - metadata of a file, as statx(2) gives it
 * @path: the file
 * @wanted: what is asked for
 * @ids: the last file's owner, to be replaced by this one's
 * @out: where it is written, with room for ringwalk_stat_size() bytes
 *
 * Identifiers of mounts are known to the kernel's own code only.
 *
 * Return: 0 or a negative errno; then @out is undefined.
 */
int ringwalk_stat_fill(const struct path *path, const struct ringwalk_wanted *wanted,
		       struct ringwalk_ids *ids, struct ringwalk_stat *out)
{
	struct kstat stat;
	u32 valid;
	int error;

	error = vfs_getattr(path, &stat, wanted->mask & ~RINGWALK_MNT_IDS, wanted->stat_flags);
	if (unlikely(error))
		return error;

	valid = stat.result_mask & (wanted->mask | RINGWALK_FIXED) &
		(RINGWALK_STAT_MASK & ~RINGWALK_MNT_IDS);
	out->mask = valid;
	out->blksize = stat.blksize;
	out->attributes = stat.attributes & ~STATX_ATTR_CHANGE_MONOTONIC;
	if (path->mnt->mnt_root == path->dentry)
		out->attributes |= STATX_ATTR_MOUNT_ROOT;
	out->attributes_mask = stat.attributes_mask | STATX_ATTR_MOUNT_ROOT;
	out->nlink = stat.nlink;
	ringwalk_put_ids(out, ids, &stat);
	out->mode = stat.mode;
	out->reserved = 0;
	out->ino = stat.ino;
	out->size = stat.size;
	out->blocks = stat.blocks;
	out->dev_major = MAJOR(stat.dev);
	out->dev_minor = MINOR(stat.dev);
	out->rdev_major = MAJOR(stat.rdev);
	out->rdev_minor = MINOR(stat.rdev);
	ringwalk_put_groups(out + 1, wanted->mask, &stat, valid);
	return 0;
}
