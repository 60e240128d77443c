// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the comparison itself: correct records, made from the system calls, pass, and fail with any
 * byte changed.
 *
 * Needs no module and no patched kernel. The records are made here as <linux/ringwalk.h> describes
 * them, by other code than the decoder.
 */
#include <sys/xattr.h>

#include "lib/compare.h"
#include "lib/everything.h"
#include "lib/test.h"

static char buf[1 << 20] __attribute__((aligned(8)));

static size_t add(size_t at, const void *bytes, size_t len)
{
	MUST(at + len <= sizeof(buf));
	memcpy(buf + at, bytes, len);
	return at + len;
}

static size_t pad(size_t at)
{
	while (at % 8)
		buf[at++] = 0;
	return at;
}

static size_t add_time(size_t at, int64_t sec, uint32_t nsec)
{
	struct ringwalk_time time = { .sec = sec, .nsec = nsec };

	return add(at, &time, sizeof(time));
}

/* Metadata with all groups. */
static size_t add_stat(size_t at, const struct statx_record *truth)
{
	struct ringwalk_stat stat = {
		.mask = truth->mask & ~(STATX_MNT_ID | STATX_MNT_ID_UNIQUE), .blksize = truth->blksize,
		.attributes = truth->attributes, .attributes_mask = truth->attributes_mask, .nlink = truth->nlink,
		.uid = truth->uid, .gid = truth->gid, .mode = truth->mode, .ino = truth->ino, .size = truth->size,
		.blocks = truth->blocks, .dev_major = truth->dev_major, .dev_minor = truth->dev_minor,
		.rdev_major = truth->rdev_major, .rdev_minor = truth->rdev_minor,
	};
	uint64_t none = 0;

	at = add(at, &stat, sizeof(stat));
	at = add_time(at, truth->atime.sec, truth->atime.nsec);
	at = add_time(at, truth->mtime.sec, truth->mtime.nsec);
	at = add_time(at, truth->ctime.sec, truth->ctime.nsec);
	at = add_time(at, truth->btime.sec, truth->btime.nsec);
	at = add(at, &none, sizeof(none));
	at = add(at, &truth->dio_mem_align, 4);
	at = add(at, &truth->dio_offset_align, 4);
	return add(at, &truth->subvol, 8);
}

static size_t add_xattrs(size_t at, const char *path)
{
	static char names[65536], value[65536];
	ssize_t len = llistxattr(path, names, sizeof(names));

	for (const char *name = names; len > 0 && name < names + len; name += strlen(name) + 1) {
		struct ringwalk_xattr xattr = { .name_len = strlen(name) };
		ssize_t value_len = lgetxattr(path, name, value, sizeof(value));

		MUST(value_len >= 0);
		xattr.value_len = value_len > 1000 ? 0 : value_len;
		xattr.error = value_len > 1000 ? -E2BIG : 0;
		xattr.reclen = ALIGN8(sizeof(xattr) + xattr.name_len + 1 + xattr.value_len);
		at = add(at, &xattr, sizeof(xattr));
		at = add(at, name, xattr.name_len + 1);
		at = pad(add(at, value, xattr.value_len));
	}
	return at;
}

static size_t add_record(size_t at, const struct compare *compare, const struct dirent_record *dirent)
{
	struct ringwalk_entry entry = {
		.d_ino = dirent->d_ino, .d_off = dirent->d_off, .d_type = dirent->d_type,
		.name_len = compare->no_names ? 0 : strlen(dirent->d_name),
	};
	bool parent = !strcmp(dirent->d_name, "..");
	struct statx_record truth;
	size_t begin = at, xattrs;
	char path[1024];

	at += sizeof(entry);
	if (!parent) {
		entry.flags = RINGWALK_ENTRY_STAT;
		MUST(sys_statx(compare->fd, dirent->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, compare->fields->mask,
			       &truth) == 0);
		at = add_stat(at, &truth);
	} else if (compare->no_names) {
		entry.error = -EXDEV;
	}
	if (!compare->no_names)
		at = pad(add(at, dirent->d_name, entry.name_len + 1));
	xattrs = at;
	snprintf(path, sizeof(path), "%s/%s", compare->path, dirent->d_name);
	if (!parent)
		at = add_xattrs(at, path);
	entry.xattr_len = at - xattrs;
	entry.reclen = at - begin;
	add(begin, &entry, sizeof(entry));
	return at;
}

/* Changes a bit of every byte. */
static void alter_record(const struct compare *compare, const struct list *list, size_t number, char *record, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char kept = record[i];

		record[i] ^= 1 << i % 8;
		CHECK(compare_batch(compare, record, len, 1, list, number), "byte %zu of %zu of record %zu may be anything", i, len,
		      number);
		record[i] = kept;
	}
}

static void alter_each_byte(const struct compare *compare, const struct list *list)
{
	char *at = buf;

	for (size_t i = 0; i < list->count; i++) {
		size_t len = ((struct ringwalk_entry *)at)->reclen;

		CHECK_NULL(compare_batch(compare, at, len, 1, list, i), "record %zu alone", i);
		alter_record(compare, list, i, at, len);
		at += len;
	}
}

static void alter_batch(const struct compare *compare, const struct list *list, size_t len)
{
	size_t last = ((struct ringwalk_entry *)buf)->reclen;

	CHECK(compare_batch(compare, buf, len, list->count - 1, list, 0), "one entry less is not noticed");
	CHECK(compare_batch(compare, buf, len, list->count + 1, list, 0), "one entry more is not noticed");
	CHECK(compare_batch(compare, buf, len - 8, list->count, list, 0), "a cut record is not noticed");
	CHECK(compare_batch(compare, buf + last, len - last, list->count, list, 0), "a lost record is not noticed");
	CHECK(compare_batch(compare, buf + last, len - last, list->count - 1, list, 0), "records moved are not noticed");
	CHECK(!compare_batch(compare, buf + last, len - last, list->count - 1, list, 1), "a part of a folder fails");
	CHECK(compare_batch(compare, buf, len, list->count, list, 1), "a record too much is not noticed");
}

static void run_with(struct env *env, bool names)
{
	struct ringwalk_fields fields = {
		.mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID | STATX_DIOALIGN | STATX_SUBVOL,
		.xattr_value_max = 1000,
		.xattr_entry_max = 65536,
	};
	struct compare compare = {
		.fd = env->fd, .path = env->path, .fields = &fields, .flags = RINGWALK_F_XATTR_ALL, .no_names = !names,
		.no_mnt_id = true,
	};
	struct list list;
	size_t len = 0;

	list_read(&list, env->fd);
	for (size_t i = 0; i < list.count; i++)
		len = add_record(len, &compare, list.at[i]);
	CHECK_NULL(compare_batch(&compare, buf, len, list.count, &list, 0), "true records");
	alter_each_byte(&compare, &list);
	alter_batch(&compare, &list, len);
	list_free(&list);
}

static void names_differ(struct env *env)
{
	struct list list, other;

	list_read(&list, env->fd);
	list_read(&other, env->fd);
	CHECK_NULL(list_differs(&list, &other, 0), "the same names");
	CHECK(list_differs(&list, &other, 1), "a missing name is not noticed");
	for (size_t i = 0; i < list.len; i++) {
		/* d_reclen is known to be right. getdents.c checks the padding. */
		struct dirent_record *record = NULL;
		size_t in = 0;

		for (size_t n = 0; n < list.count && (char *)list.at[n] <= list.bytes + i; n++)
			record = list.at[n];
		in = list.bytes + i - (char *)record;
		if (in == 16 || in == 17 || in >= offsetof(struct dirent_record, d_name) + strlen(record->d_name))
			continue;
		list.bytes[i] ^= 1;
		CHECK(list_differs(&list, &other, 0), "byte %zu of %s may be anything", in, record->d_name);
		list.bytes[i] ^= 1;
	}
	list_free(&list);
	list_free(&other);
}

static void run(struct env *env)
{
	tree_everything(env->fd, env->path);
	run_with(env, true);
	run_with(env, false);
	names_differ(env);
}

const struct test test = {
	.name = "selftest",
	.kinds = BY_ALL,
	.one_kind = true,
	/* This tests no kernel: `make check-self` runs it on the build machine. */
	.soak = true,
	.run = run,
};
