// SPDX-License-Identifier: GPL-2.0-only
/*
 * RINGWALK_IOC_READDIRPLUS. The reader of the directory writes each record at its final place. The
 * metadata is filled in afterwards:
 *
 *	| header | room for metadata | name, NUL, padding | room for extended attributes |
 *
 * Records move only to close unused room for attributes.
 */
#include <linux/file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "names.h"
#include "readdirplus.h"

/*
 * The most lookups that are made in spite of a signal, so that names with one position are given
 * together. A server may give all names one position, and take long for each lookup.
 */
#define RINGWALK_PLUS_LEAST	8

/* Writes the record of an entry. */
bool ringwalk_plus_actor(struct dir_context *ctx, const char *name, int len, loff_t offset,
			 u64 ino, unsigned int type)
{
	struct ringwalk_names *names = container_of(ctx, struct ringwalk_names, ctx);
	const struct ringwalk_wanted *wanted =
		container_of(names, struct ringwalk_plus, names)->wanted;
	struct ringwalk_entry *entry = (void *)names->data + names->used;
	u32 stat_size = ringwalk_is_dotdot(name, len) ? 0 : wanted->stat_size;
	u32 name_end = ALIGN(sizeof(*entry) + stat_size + len + 1, sizeof(u64));
	u32 reclen = name_end + wanted->xattr_room;

	*names->last_off = offset;
	if (ringwalk_names_refuse(names, len))
		return false;
	if (reclen > names->size - names->used || names->entries == names->max_entries) {
		names->full = true;
		return false;
	}
	if (ringwalk_names_slash(names, name, len))
		return false;
	/* The NUL and the padding after the name. The name covers the rest of this word. */
	*(u64 *)((char *)entry + name_end - sizeof(u64)) = 0;
	memcpy((char *)(entry + 1) + stat_size, name, len);
	entry->d_ino = ino;
	entry->reclen = reclen;
	entry->xattr_len = 0;
	entry->error = 0;
	entry->name_len = len;
	entry->d_type = type & S_DT_MASK;
	entry->flags = stat_size ? RINGWALK_ENTRY_STAT : 0;
	names->last_off = &entry->d_off;
	names->used += reclen;
	names->entries++;
	return true;
}

/*
 * Returns where the records can be cut, at byte @done or before; if they cannot, the first place
 * after it, which may be the end.
 *
 * Names with the same hash have the same position in ext4. A request that begins between two of
 * them would return the first one again. And where reading stopped between two of them, ext4 goes
 * on with the second one, and does not notice that the position is set to the same value.
 */
static u32 ringwalk_plus_place(const struct ringwalk_names *names, u32 done)
{
	const struct ringwalk_entry *entry;
	s64 position = names->start;
	u32 at = 0, place = 0;

	while (at < names->used) {
		entry = (void *)names->data + at;
		at += entry->reclen;
		if (place && at > done)
			break;
		if (entry->d_off != position && entry->d_off != names->end)
			place = at;
		position = entry->d_off;
	}
	return place ? place : names->used;
}

/* Returns the bytes of the records whose lookups are made in spite of a signal. */
static u32 ringwalk_plus_least(const struct ringwalk_names *names)
{
	const struct ringwalk_entry *entry;
	u32 i, at = 0, place = ringwalk_plus_place(names, 0);

	for (i = 0; i < RINGWALK_PLUS_LEAST && at < place; i++) {
		entry = (void *)names->data + at;
		at += entry->reclen;
	}
	return at;
}

/*
 * Drops the records from byte @done on, of which there are some before, and sets the position back
 * to them. Returns false, and keeps all, if the position cannot be set.
 */
static bool ringwalk_plus_cut(struct ringwalk_names *names, struct file *dir, u32 done)
{
	const struct ringwalk_entry *entry;
	u32 at = 0, entries = 0;

	do {
		entry = (void *)names->data + at;
		at += entry->reclen;
		entries++;
	} while (at < done);
	if (!ringwalk_names_seek_back(names, dir, entry->d_off))
		return false;
	names->entries = entries;
	names->used = done;
	return true;
}

/**
 * ringwalk_plus_lookup - looks up the names that were read
 * @plus: the directory, with at least one record
 * @dir: the same, open
 * @flags: RINGWALK_RESULT_END is cleared if not all records are kept
 *
 * If a signal ends this, the records that are not done are given back by the position. If another
 * request has read on from there, or many records have one position, they stay, with an error.
 *
 * Return: 0, or -EINTR if the task is being killed.
 */
int ringwalk_plus_lookup(struct ringwalk_plus *plus, struct file *dir, u32 *flags)
{
	struct ringwalk_names *names = &plus->names;
	u32 least = ringwalk_plus_least(names), at = 0;
	struct ringwalk_batch batch;
	int done;

	ringwalk_batch_init(&batch, dir, plus->wanted, names->data, names->data, names->entries);
	batch.below = plus->below;
	batch.deadline = plus->deadline;
	do {
		struct ringwalk_entry *entry = (void *)names->data + at;
		const char *name = ringwalk_entry_name(plus->wanted, entry);

		at += entry->reclen;
		if (!ringwalk_is_dotdot(name, entry->name_len))
			ringwalk_batch_entry(&batch, entry, name, entry->name_len);
		/* The clock is read for lookups of the second round only: these are fast. */
	} while (at < least ? !fatal_signal_pending(current) :
			      at < names->used && !ringwalk_stopped());
	done = ringwalk_batch_finish(&batch, at, names->used, least);
	if (done >= 0 && done < names->used) {
		if (ringwalk_plus_cut(names, dir, ringwalk_plus_place(names, done)))
			*flags &= ~RINGWALK_RESULT_END;
		if (done < names->used)
			ringwalk_batch_give_up(&batch, at, names->used);
	}
	ringwalk_batch_free(&batch);
	return min(done, 0);
}

static int ringwalk_plus_copy(const struct ringwalk_plus *plus,
			      const struct ringwalk_readdirplus *request,
			      struct ringwalk_readdirplus __user *out)
{
	if (copy_to_user(u64_to_user_ptr(request->buf), plus->names.data, plus->names.used) ||
	    put_user(plus->names.entries, &out->entries) ||
	    put_user(request->result_flags, &out->result_flags))
		return -EFAULT;
	return 0;
}

static long ringwalk_plus_read(struct ringwalk_plus *plus, struct ringwalk_readdirplus *request,
			       struct ringwalk_readdirplus __user *out, struct file *dir)
{
	struct ringwalk_names *names = &plus->names;
	int error;

	request->result_flags = 0;
	error = ringwalk_names_read(names, dir, request->off, &request->result_flags);
	if (error)
		return error;
	if (names->entries && ringwalk_wants_lookup(plus->wanted))
		error = ringwalk_plus_lookup(plus, dir, &request->result_flags);
	if (!error && plus->wanted->xattr_room)
		names->used = ringwalk_compact(names->data, names->used, plus->wanted->xattr_room,
					       NULL, 0);
	if (!error)
		error = ringwalk_plus_copy(plus, request, out);
	if (!error)
		return names->used;
	ringwalk_names_seek_back(names, dir, names->start);
	return error;
}

static long ringwalk_readdirplus(struct ringwalk_pool *pool, struct ringwalk_readdirplus *request,
				 struct ringwalk_readdirplus __user *out, struct file *dir)
{
	u32 size = min(request->len, RINGWALK_BUFFER_MAX);
	struct ringwalk_buffer buffer;
	struct ringwalk_wanted wanted;
	struct ringwalk_plus plus;
	long result;

	result = ringwalk_get_wanted(pool, &wanted, &request->fields, request->flags,
				     request->len);
	if (result)
		return result;
	result = ringwalk_buffer_get(pool, size, &buffer);
	if (!result) {
		ringwalk_names_init(&plus.names, ringwalk_plus_actor, buffer.data, size);
		if (request->max_entries)
			plus.names.max_entries = request->max_entries;
		plus.wanted = &wanted;
		plus.below = NULL;
		plus.deadline = KTIME_MAX;
		result = ringwalk_plus_read(&plus, request, out, dir);
		ringwalk_buffer_put(pool, &buffer);
	}
	ringwalk_put_wanted(pool, &wanted);
	return result;
}

long ringwalk_do_readdirplus(struct ringwalk_pool *pool, void __user *arg)
{
	struct ringwalk_readdirplus request;
	struct file *dir;
	long result;

	result = ringwalk_copy_request(&request, sizeof(request), RINGWALK_READDIRPLUS_SIZE1,
				       RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL, arg);
	if (!result && request.reserved)
		result = -EINVAL;
	if (result)
		return result;
	dir = ringwalk_get_directory_for_records(request.fd, request.buf, request.len);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_readdirplus(pool, &request, arg, dir);
	fput(dir);
	return result;
}
