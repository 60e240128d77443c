// SPDX-License-Identifier: GPL-2.0-only
/*
 * RINGWALK_IOC_GETDENTS: writes records of getdents64(2) directly to the caller's memory, as
 * getdents64 does. A copy in between would take a twentieth of the time, and nothing here reads the
 * records again.
 */
#include <linux/file.h>
#include <linux/uaccess.h>

#include "names.h"

/*
 * struct ringwalk_dirents - records written to the caller
 * @names: the reader; it has counts and no memory
 * @to: where records go
 * @last: bytes of the last record, 0 before the first
 */
struct ringwalk_dirents {
	struct ringwalk_names names;
	char __user *to;
	u32 last;
};

static bool ringwalk_dirents_actor(struct dir_context *ctx, const char *name, int len,
				   loff_t offset, u64 ino, unsigned int type)
{
	struct ringwalk_names *names = container_of(ctx, struct ringwalk_names, ctx);
	struct ringwalk_dirents *dirents = container_of(names, struct ringwalk_dirents, names);
	u32 reclen = ALIGN(offsetof(struct linux_dirent64, d_name) + len + 1, sizeof(u64));
	char __user *last = dirents->to + names->used - dirents->last;
	struct linux_dirent64 __user *entry = (void __user *)(last + dirents->last);

	if (ringwalk_names_refuse(names, len))
		return false;
	if (reclen > names->size - names->used) {
		names->full = true;
		return false;
	}
	if (ringwalk_names_slash(names, name, len))
		return false;
	if (!user_write_access_begin(last, dirents->last + reclen))
		goto nowhere;
	/* The cookie after the last record. For the first record it is overwritten below. */
	unsafe_put_user(offset, &((struct linux_dirent64 __user *)last)->d_off, fault);
	/* The NUL and the padding after the name. The name covers the rest of this word. */
	unsafe_put_user(0ULL, (u64 __user *)((char __user *)entry + reclen - sizeof(u64)), fault);
	unsafe_put_user(ino, &entry->d_ino, fault);
	unsafe_put_user(reclen, &entry->d_reclen, fault);
	unsafe_put_user(type & S_DT_MASK, &entry->d_type, fault);
	unsafe_copy_to_user(entry->d_name, name, len, fault);
	user_write_access_end();
	dirents->last = reclen;
	names->used += reclen;
	names->entries++;
	return true;
fault:
	user_write_access_end();
nowhere:
	names->error = -EFAULT;
	return false;
}

static long ringwalk_getdents(struct ringwalk_getdents *request,
			      struct ringwalk_getdents __user *out, struct file *dir)
{
	struct ringwalk_dirents dirents = { .to = u64_to_user_ptr(request->buf) };
	struct ringwalk_names *names = &dirents.names;
	struct linux_dirent64 __user *last;
	int error;

	request->result_flags = 0;
	ringwalk_names_init(names, ringwalk_dirents_actor, NULL,
			    min(request->len, RINGWALK_BUFFER_MAX));
	error = ringwalk_names_read(names, dir, request->off, &request->result_flags);
	if (error)
		return error;
	last = (void __user *)(dirents.to + names->used - dirents.last);
	if ((names->used && put_user(names->no_off, &last->d_off)) ||
	    put_user(request->result_flags, &out->result_flags))
		goto undo;
	return names->used;
undo:
	ringwalk_names_seek_back(names, dir, names->start);
	return -EFAULT;
}

long ringwalk_do_getdents(void __user *arg)
{
	struct ringwalk_getdents request;
	struct file *dir;
	long result;

	result = ringwalk_copy_request(&request, sizeof(request), RINGWALK_GETDENTS_SIZE1,
				       RINGWALK_F_INLINE, arg);
	if (result)
		return result;
	if (request.reserved)
		return -EINVAL;
	dir = ringwalk_get_directory(request.fd);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_getdents(&request, arg, dir);
	fput(dir);
	return result;
}
