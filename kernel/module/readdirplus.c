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

struct ringwalk_plus {
	struct ringwalk_names names;
	const struct ringwalk_wanted *wanted;
};

static bool ringwalk_is_dotdot(const char *name, unsigned int len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

static bool ringwalk_plus_actor(struct dir_context *ctx, const char *name, int len,
				loff_t offset, u64 ino, unsigned int type)
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

static int ringwalk_plus_lookup(struct ringwalk_plus *plus, struct file *dir)
{
	struct ringwalk_names *names = &plus->names;
	struct ringwalk_batch batch;
	u32 at = 0;
	int error;

	ringwalk_batch_init(&batch, dir, plus->wanted, names->data, names->data, names->entries);
	while (at < names->used) {
		struct ringwalk_entry *entry = (void *)names->data + at;
		const char *name = (char *)(entry + 1);

		if (entry->flags & RINGWALK_ENTRY_STAT)
			name += plus->wanted->stat_size;
		at += entry->reclen;
		if (!ringwalk_is_dotdot(name, entry->name_len))
			ringwalk_batch_entry(&batch, entry, name, entry->name_len);
	}
	error = ringwalk_batch_finish(&batch);
	ringwalk_batch_free(&batch);
	return error;
}

static int ringwalk_plus_copy(const struct ringwalk_plus *plus,
			      const struct ringwalk_readdirplus *request,
			      struct ringwalk_readdirplus __user *out)
{
	if (ringwalk_copy_out(request->buf, plus->names.data, plus->names.used) ||
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
		error = ringwalk_plus_lookup(plus, dir);
	if (!error && plus->wanted->xattr_room)
		names->used = ringwalk_compact(names->data, names->used, plus->wanted->xattr_room);
	if (!error)
		error = ringwalk_plus_copy(plus, request, out);
	return error ? ringwalk_names_undo(names, dir, error) : names->used;
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

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	result = ringwalk_check(request.version, request.flags,
				RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL);
	if (!result && request.reserved)
		result = -EINVAL;
	if (!result)
		result = ringwalk_check_buffer(request.buf, request.len);
	if (result)
		return result;
	dir = ringwalk_get_directory(request.fd);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_readdirplus(pool, &request, arg, dir);
	fput(dir);
	return result;
}
