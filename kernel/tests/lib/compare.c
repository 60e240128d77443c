// SPDX-License-Identifier: GPL-2.0-only
#include "compare.h"
#include "compare_xattr.h"
#include "test.h"

#define MNT_ID_BITS (STATX_MNT_ID | STATX_MNT_ID_UNIQUE)

/* Fields that a record can have. Newer kernels return more of them unasked. */
#define KNOWN_BITS (STATX_BASIC_STATS | STATX_BTIME | MNT_ID_BITS | STATX_DIOALIGN | STATX_SUBVOL)

/* Fields that a record has only on request, although statx(2) returns some of them unasked. */
#define GROUP_BITS                                                                              \
	(STATX_ATIME | STATX_MTIME | STATX_CTIME | STATX_BTIME | MNT_ID_BITS | STATX_DIOALIGN | \
	 STATX_SUBVOL)

/* Returns a message from the calling function if the values differ. */
#define SAME(got, expected)								\
	do {										\
		intmax_t got_ = (got), expected_ = (expected);				\
		if (got_ != expected_)							\
			return wrong("%s is %jd, not %jd", #got, got_, expected_);	\
	} while (0)

static const char *compare_times(const struct record *record, const struct statx_record *truth)
{
	if (record->atime) {
		SAME(record->atime->sec, truth->atime.sec);
		SAME(record->atime->nsec, truth->atime.nsec);
		SAME(record->atime->reserved, 0);
	}
	if (record->mtime) {
		SAME(record->mtime->sec, truth->mtime.sec);
		SAME(record->mtime->nsec, truth->mtime.nsec);
		SAME(record->mtime->reserved, 0);
	}
	if (record->ctime) {
		SAME(record->ctime->sec, truth->ctime.sec);
		SAME(record->ctime->nsec, truth->ctime.nsec);
		SAME(record->ctime->reserved, 0);
	}
	if (record->btime) {
		/* Not on every file system; zero there. */
		SAME(record->btime->sec, truth->mask & STATX_BTIME ? truth->btime.sec : 0);
		SAME(record->btime->nsec, truth->mask & STATX_BTIME ? truth->btime.nsec : 0);
		SAME(record->btime->reserved, 0);
	}
	return NULL;
}

static const char *compare_groups(const struct compare *compare, const struct record *record,
				  const struct statx_record *truth)
{
	uint64_t mnt_id = truth->mnt_id;

/* @ours */
	if (compare->no_mnt_id)
		mnt_id = 0;
/* @end */
	if (record->mnt_id)
		SAME(*record->mnt_id, mnt_id);
	if (record->dioalign) {
		bool given = truth->mask & STATX_DIOALIGN;

		SAME(record->dioalign[0], given ? truth->dio_mem_align : 0);
		SAME(record->dioalign[1], given ? truth->dio_offset_align : 0);
	}
	if (record->subvol)
		SAME(*record->subvol, truth->mask & STATX_SUBVOL ? truth->subvol : 0);
	return compare_times(record, truth);
}

static const char *compare_stat(const struct compare *compare, const struct record *record,
				const struct statx_record *truth)
{
	const struct ringwalk_stat *stat = record->stat;
	uint32_t given = ~GROUP_BITS | compare->fields->mask;

/* @ours */
	if (compare->no_mnt_id)
		given &= ~MNT_ID_BITS;
/* @end */
	SAME(stat->mask, truth->mask & given & KNOWN_BITS);
	SAME(stat->blksize, truth->blksize);
	SAME(stat->attributes, truth->attributes);
	SAME(stat->attributes_mask, truth->attributes_mask);
	SAME(stat->nlink, truth->nlink);
	SAME(stat->uid, truth->uid);
	SAME(stat->gid, truth->gid);
	SAME(stat->mode, truth->mode);
	SAME(stat->ino, truth->ino);
	SAME(stat->size, truth->size);
	SAME(stat->blocks, truth->blocks);
	SAME(stat->dev_major, truth->dev_major);
	SAME(stat->dev_minor, truth->dev_minor);
	SAME(stat->rdev_major, truth->rdev_major);
	SAME(stat->rdev_minor, truth->rdev_minor);
	return compare_groups(compare, record, truth);
}

static const char *compare_name(const struct compare *compare, const struct record *record,
				const struct dirent_record *expected)
{
	size_t len = strlen(expected->d_name);

/* @ours */
	if (compare->no_names) {
		SAME(record->entry->name_len, 0);
		return NULL;
	}
/* @end */
	SAME(record->entry->name_len, len);
	if (memcmp(record->name, expected->d_name, len))
		return wrong("name %s", record->name);
	return NULL;
}

static bool wants_xattrs(const struct compare *compare)
{
	return compare->flags & RINGWALK_F_XATTR_ALL || compare->fields->xattr_names_len;
}

static const char *compare_content(const struct compare *compare, const struct record *record,
				   const char *name)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | compare->fields->stat_flags;
	struct statx_record truth;
	int error;

	/* Without wanted fields no name is looked up. */
	if (!compare->fields->mask && !wants_xattrs(compare)) {
		SAME(record->entry->error, 0);
		SAME(record->entry->xattr_len, 0);
		SAME(record->entry->flags, 0);
		return NULL;
	}
	error = sys_statx(compare->fd, name, flags, compare->fields->mask, &truth);
	/* "." is the open folder itself: no search in it is needed, as with AT_EMPTY_PATH. */
	if (error == -EACCES && !strcmp(name, ".") && !record->entry->error)
		error = sys_statx(compare->fd, "", flags | AT_EMPTY_PATH, compare->fields->mask,
				  &truth);
	SAME(record->entry->error, error);
	if (error && !record->entry->flags && !record->entry->xattr_len)
		return NULL;
	/* Attributes may be readable although metadata are not. */
	SAME(!!record->stat, compare->fields->mask && !error);
	if (record->stat) {
		const char *different = compare_stat(compare, record, &truth);

		if (different)
			return different;
	}
	if (wants_xattrs(compare))
		return compare_xattrs(compare, record, name);
	SAME(record->entry->xattr_len, 0);
	SAME(record->entry->flags & RINGWALK_ENTRY_XATTR_CUT, 0);
	return NULL;
}

const char *compare_record(const struct compare *compare, const struct record *record,
			   const struct dirent_record *expected)
{
	const char *different = compare_name(compare, record, expected);

	if (different)
		return different;
	SAME(record->entry->d_ino, expected->d_ino);
	if (!list_same_cookie(record->entry->d_off, expected->d_off))
		SAME(record->entry->d_off, expected->d_off);
	SAME(record->entry->d_type, expected->d_type);
	if (strcmp(expected->d_name, ".."))
		return compare_content(compare, record, expected->d_name);
	/* It may lie outside of the caller's root. */
/* @ours */
	if (compare->no_names)
		SAME(record->entry->error, -EXDEV);
	else
/* @end */
	SAME(record->entry->error, 0);
	SAME(record->entry->xattr_len, 0);
	SAME(record->entry->flags, 0);
	return NULL;
}

const char *compare_batch(const struct compare *compare, const void *buf, size_t len,
			  unsigned int entries, const struct list *list, size_t first)
{
	const char *at = buf, *end = at + len;
	struct record record;
	unsigned int i = 0;

	for (; at < end; at = record.next, i++) {
		const char *different = record_parse(at, end - at, compare->fields, &record);
		const char *name = first + i < list->count ? list->at[first + i]->d_name : NULL;
		char copy[800];

		if (!different && !name)
			different = "there is no such entry";
		if (!different)
			different = compare_record(compare, &record, list->at[first + i]);
		if (!different)
			continue;
		snprintf(copy, sizeof(copy), "%s", different);
		return wrong("record %u (%.256s): %s", i, name ? name : "?", copy);
	}
	if (i != entries)
		return wrong("%u records, but entries says %u", i, entries);
	return NULL;
}
