// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory read into kernel memory, with its position.
 *
 *	f_pos_lock taken
 *	  position set, if the request says where to
 *	  iterate_dir() until an entry is refused or none is left
 *	f_pos_lock released
 *	lookups (other commands), copy to the caller
 *	position restored under f_pos_lock, if one of these failed and nobody else has moved it
 *
 * Names are read and looked up apart, as the directory is locked while its entries are given to
 * the actor. Other requests may read on from the position while lookups are made.
 */
#include <linux/file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "names.h"

void ringwalk_names_init(struct ringwalk_names *names, filldir_t actor, char *data, u32 size)
{
	memset(names, 0, sizeof(*names));
	*(filldir_t *)&names->ctx.actor = actor;
	names->data = data;
	names->size = size;
	names->max_entries = U32_MAX;
	names->last_off = &names->no_off;
}

/*
 * A file system may return before the end with room left, as FUSE does after each of its replies.
 * The end is where it has nothing more to say.
 */
static int ringwalk_iterate(struct ringwalk_names *names, struct file *dir, u32 *flags)
{
	int error;
	u32 before;

	do {
		before = names->entries + names->skipped;
		ringwalk_set_count(&names->ctx, names->size - names->used);
		error = iterate_dir(dir, &names->ctx);
		/* Nothing in a positive result is for callers: getdents64(2) drops it as well. */
		if (error >= 0)
			error = names->error;
		/*
		 * Not where a call that found nothing has left the position: btrfs moves it on
		 * when it is asked again at the end.
		 */
		if (names->entries + names->skipped != before)
			*names->last_off = names->ctx.pos;
	} while (!error && !names->full &&
		 names->entries + names->skipped != before);

	if (!error && !names->full)
		*flags |= RINGWALK_RESULT_END;
	else if (!error && !names->entries)
		error = -EINVAL;
	return error;
}

/**
 * ringwalk_names_read - reads entries from the position of an open directory
 * @names: initialised by ringwalk_names_init()
 * @dir: the open directory
 * @off: RINGWALK_OFF_CURRENT or the position to set first
 * @flags: RINGWALK_RESULT_END is set at the end of the directory
 *
 * Return: 0, or a negative errno if nothing was read; an error after the first entry is met again
 * by the next request.
 */
int ringwalk_names_read(struct ringwalk_names *names, struct file *dir, s64 off, u32 *flags)
{
	loff_t position;
	int error = 0;

	if (mutex_lock_killable(&dir->f_pos_lock))
		return -EINTR;
	if (off != RINGWALK_OFF_CURRENT) {
		position = vfs_llseek(dir, off, SEEK_SET);
		if (position < 0)
			error = position;
	}
	names->start = dir->f_pos;
	if (!error)
		error = ringwalk_iterate(names, dir, flags);
	names->end = dir->f_pos;
	mutex_unlock(&dir->f_pos_lock);

	return names->entries ? 0 : error;
}

/**
 * ringwalk_names_undo - sets the position back, so that no entry is lost with a request that failed
 * @names: what was read
 * @dir: the open directory
 * @error: why the request fails
 *
 * Return: @error.
 */
int ringwalk_names_undo(struct ringwalk_names *names, struct file *dir, int error)
{
	if (mutex_lock_killable(&dir->f_pos_lock))
		return error;
	if (dir->f_pos == names->end)
		vfs_llseek(dir, names->start, SEEK_SET);
	mutex_unlock(&dir->f_pos_lock);
	return error;
}

static bool ringwalk_getdents_actor(struct dir_context *ctx, const char *name, int len,
				    loff_t offset, u64 ino, unsigned int type)
{
	struct ringwalk_names *names = container_of(ctx, struct ringwalk_names, ctx);
	struct linux_dirent64 *entry = (void *)names->data + names->used;
	u32 reclen = ALIGN(offsetof(struct linux_dirent64, d_name) + len + 1, sizeof(u64));

	*names->last_off = offset;
	if (ringwalk_names_refuse(names, len))
		return false;
	if (reclen > names->size - names->used) {
		names->full = true;
		return false;
	}
	/* The NUL and the padding behind the name; the name covers the rest of this word. */
	*(u64 *)((char *)entry + reclen - sizeof(u64)) = 0;
	if (!ringwalk_names_copy_name(names, entry->d_name, name, len))
		return false;
	entry->d_ino = ino;
	entry->d_reclen = reclen;
	entry->d_type = type & S_DT_MASK;
	names->last_off = (u64 *)&entry->d_off;
	names->used += reclen;
	names->entries++;
	return true;
}

static long ringwalk_getdents(struct ringwalk_pool *pool, struct ringwalk_getdents *request,
			      struct ringwalk_getdents __user *out, struct file *dir)
{
	struct ringwalk_names names;
	struct ringwalk_buffer buffer;
	u32 size = min(request->len, RINGWALK_BUFFER_MAX);
	int error;

	error = ringwalk_buffer_get(pool, size, &buffer);
	if (error)
		return error;
	request->result_flags = 0;
	ringwalk_names_init(&names, ringwalk_getdents_actor, buffer.data, size);
	error = ringwalk_names_read(&names, dir, request->off, &request->result_flags);
	if (!error && (ringwalk_copy_out(request->buf, names.data, names.used) ||
		       put_user(request->result_flags, &out->result_flags)))
		error = ringwalk_names_undo(&names, dir, -EFAULT);
	ringwalk_buffer_put(pool, &buffer);
	return error ? error : names.used;
}

long ringwalk_do_getdents(struct ringwalk_pool *pool, void __user *arg)
{
	struct ringwalk_getdents request;
	struct file *dir;
	long result;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	result = ringwalk_check(request.version, request.flags, RINGWALK_F_INLINE);
	if (result)
		return result;
	if (request.reserved)
		return -EINVAL;
	dir = ringwalk_get_directory(request.fd);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_getdents(pool, &request, arg, dir);
	fput(dir);
	return result;
}
