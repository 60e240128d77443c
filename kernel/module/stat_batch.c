// SPDX-License-Identifier: GPL-2.0-only
/*
 * RINGWALK_IOC_STAT_BATCH: answers for names that the caller knows, so that several workers can
 * share one directory. All records have the same size until unused room for attributes is closed.
 */
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "internal.h"

/* struct ringwalk_given - names from the caller, and their records */
struct ringwalk_given {
	const struct ringwalk_wanted *wanted;
	const char *names;
	u32 names_len;
	u32 names_done;
	char *records;
	u32 size;
	u32 used;
	u32 entries;
};

/*
 * Returns the length of the name at @given->names_done, -EINVAL if the record is invalid, or
 * -ENODATA if the rest of the record is missing, because at most RINGWALK_BUFFER_MAX bytes are
 * copied in.
 */
static int ringwalk_given_name(const struct ringwalk_given *given, bool cut)
{
	const struct linux_dirent64 *dirent = (void *)given->names + given->names_done;
	u32 left = given->names_len - given->names_done;
	u32 head = offsetof(struct linux_dirent64, d_name);
	u32 room, len;

	if (left < head || dirent->d_reclen > left)
		return cut ? -ENODATA : -EINVAL;
	if (dirent->d_reclen <= head || !IS_ALIGNED(dirent->d_reclen, sizeof(u64)))
		return -EINVAL;
	room = dirent->d_reclen - head;
	len = strnlen(dirent->d_name, room);
	return len < room ? len : -EINVAL;
}

static int ringwalk_given_error(const char *name, u32 len)
{
	if (len == 2 && name[0] == '.' && name[1] == '.')
		return -EXDEV;
	if (!len || memchr(name, '/', len))
		return -EINVAL;
	/* A path walk never ends in a longer name, so file systems need not handle one. */
	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

static void ringwalk_given_entry(struct ringwalk_given *given, struct ringwalk_batch *batch,
				 u32 reclen, u32 len)
{
	const struct linux_dirent64 *dirent = (void *)given->names + given->names_done;
	struct ringwalk_entry *entry = (void *)given->records + given->used;
	int error = ringwalk_given_error(dirent->d_name, len);

	entry->d_ino = dirent->d_ino;
	entry->d_off = dirent->d_off;
	entry->reclen = reclen;
	entry->xattr_len = 0;
	entry->error = error;
	entry->name_len = 0;
	entry->d_type = dirent->d_type;
	entry->flags = 0;
	if (error) {
		memset(entry + 1, 0, given->wanted->stat_size);
	} else if (ringwalk_wants_lookup(given->wanted)) {
		entry->flags = given->wanted->stat_size ? RINGWALK_ENTRY_STAT : 0;
		ringwalk_batch_entry(batch, entry, dirent->d_name, len);
	}
	given->used += reclen;
	given->names_done += dirent->d_reclen;
	given->entries++;
}

/* Drops the records after the first @entries ones, and their names. */
static void ringwalk_given_keep(struct ringwalk_given *given, u32 entries)
{
	u32 reclen = given->used / given->entries, i;

	given->names_done = 0;
	for (i = 0; i < entries; i++) {
		const struct linux_dirent64 *dirent = (void *)given->names + given->names_done;

		given->names_done += dirent->d_reclen;
	}
	given->used = entries * reclen;
	given->entries = entries;
}

static int ringwalk_given_entries(struct ringwalk_given *given, struct file *dir, bool cut)
{
	u32 reclen = sizeof(struct ringwalk_entry) + given->wanted->stat_size +
		     given->wanted->xattr_room;
	struct ringwalk_batch batch;
	int done, error = 0;
	u32 room;

	/* As many as the output can hold, and as the input can hold names of one byte. */
	room = min(given->size / reclen,
		   given->names_len / (u32)ALIGN(sizeof(struct linux_dirent64), sizeof(u64)));
	ringwalk_batch_init(&batch, dir, given->wanted, given->records, given->names, room);
	while (given->names_done < given->names_len && !(given->entries && ringwalk_stopped())) {
		int len = ringwalk_given_name(given, cut);

		if (len == -ENODATA)
			break;
		if (len < 0) {
			error = len;
			break;
		}
		if (given->size - given->used < reclen) {
			if (!given->entries)
				error = -EINVAL;
			break;
		}
		ringwalk_given_entry(given, &batch, reclen, len);
	}
	if (!error) {
		done = ringwalk_batch_finish(&batch, given->used, given->used,
					     given->entries ? reclen : 0);
		error = min(done, 0);
		if (done >= 0 && done < given->used)
			ringwalk_given_keep(given, done / reclen);
	}
	ringwalk_batch_free(&batch);
	if (!error && given->wanted->xattr_room)
		given->used = ringwalk_compact(given->records, given->used,
					       given->wanted->xattr_room, NULL, 0);
	return error;
}

static long ringwalk_stat_batch(struct ringwalk_pool *pool, struct ringwalk_stat_batch *request,
				const struct ringwalk_wanted *wanted, struct file *dir)
{
	struct ringwalk_given given = {
		.wanted = wanted,
		.names_len = min(request->names_len, RINGWALK_BUFFER_MAX),
		.size = min(request->len, RINGWALK_BUFFER_MAX),
	};
	struct ringwalk_buffer names, records;
	int error;

	error = ringwalk_buffer_get(pool, given.names_len, &names);
	if (error)
		return error;
	error = ringwalk_buffer_get(pool, given.size, &records);
	if (error)
		goto put_names;
	given.names = names.data;
	given.records = records.data;

	error = -EFAULT;
	if (copy_from_user(names.data, u64_to_user_ptr(request->names), given.names_len))
		goto put_records;
	error = ringwalk_given_entries(&given, dir, given.names_len < request->names_len);
	if (error)
		goto put_records;
	request->names_done = given.names_done;
	request->entries = given.entries;
	if (copy_to_user(u64_to_user_ptr(request->buf), given.records, given.used))
		error = -EFAULT;
put_records:
	ringwalk_buffer_put(pool, &records);
put_names:
	ringwalk_buffer_put(pool, &names);
	/* Not by one expression with "?": its type would be unsigned. */
	if (error)
		return error;
	return given.used;
}

long ringwalk_do_stat_batch(struct ringwalk_pool *pool, void __user *arg)
{
	struct ringwalk_stat_batch __user *out = arg;
	struct ringwalk_stat_batch request;
	struct ringwalk_wanted wanted;
	struct file *dir;
	long result;

	result = ringwalk_copy_request(&request, sizeof(request), RINGWALK_STAT_BATCH_SIZE1,
				       RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL, arg);
	if (!result && request.reserved)
		result = -EINVAL;
	if (result)
		return result;
	dir = ringwalk_get_directory_for_records(request.fd, request.buf, request.len);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_get_wanted(pool, &wanted, &request.fields, request.flags, request.len);
	if (!result) {
		result = ringwalk_stat_batch(pool, &request, &wanted, dir);
		ringwalk_put_wanted(pool, &wanted);
	}
	fput(dir);
	if (result >= 0 && (put_user(request.names_done, &out->names_done) ||
			    put_user(request.entries, &out->entries)))
		return -EFAULT;
	return result;
}
