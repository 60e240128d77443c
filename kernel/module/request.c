// SPDX-License-Identifier: GPL-2.0-only
/* Requests: copying and checking that several commands share. */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "internal.h"

/* The most bytes of struct ringwalk_xattr records an entry. */
#define RINGWALK_XATTR_ENTRY_MAX	(128U << 10)

/**
 * ringwalk_copy_request - copies the structure of a request, whose caller may know fewer or more
 * fields than this module
 * @request: where the structure is put; it begins with its size and its flags
 * @size: size of the structure here
 * @first: size of its first version
 * @known_flags: the flags that the request may have
 * @arg: the structure in the caller's memory
 *
 * Return: 0, -EINVAL if the structure is smaller than @first or has other flags, -E2BIG if it has
 * fields that this module does not know and that are not zero, or -EFAULT.
 */
int ringwalk_copy_request(void *request, u32 size, u32 first, u32 known_flags,
			  const void __user *arg)
{
	const struct ringwalk_getdents *any = request;
	u32 given;
	int error;

	if (get_user(given, (const u32 __user *)arg))
		return -EFAULT;
	if (given < first)
		return -EINVAL;
	if (given > PAGE_SIZE)
		return -E2BIG;
	error = copy_struct_from_user(request, size, arg, given);
	if (!error && any->flags & ~known_flags)
		error = -EINVAL;
	return error;
}

/**
 * ringwalk_get_directory - resolves a descriptor of the calling task
 * @fd: the descriptor
 *
 * Return: the open directory with a reference that fput() drops, or an error pointer: -EBADF if
 * the descriptor is not open for reading, -ENOTDIR.
 */
struct file *ringwalk_get_directory(int fd)
{
	struct file *file = fget(fd);
	int error;

	if (!file)
		return ERR_PTR(-EBADF);
	/* Mount points of network file systems may be directories that allow no lookups. */
	if (!S_ISDIR(file_inode(file)->i_mode) || !d_can_lookup(file->f_path.dentry))
		error = -ENOTDIR;
	else if (!(file->f_mode & FMODE_READ))
		error = -EBADF;
	else
		return file;
	fput(file);
	return ERR_PTR(error);
}

/**
 * ringwalk_get_directory_for_records - checks the place of struct ringwalk_entry records, and
 * resolves the descriptor
 * @fd: the descriptor
 * @buf: address of the records in the caller's memory
 * @len: bytes there
 *
 * Return: as ringwalk_get_directory(); -EINVAL if @buf is not aligned, -EFAULT if it is no address
 * of a caller.
 */
struct file *ringwalk_get_directory_for_records(int fd, u64 buf, u32 len)
{
	if (!IS_ALIGNED(buf, sizeof(u64)))
		return ERR_PTR(-EINVAL);
	if (!access_ok(u64_to_user_ptr(buf), min(len, RINGWALK_BUFFER_MAX)))
		return ERR_PTR(-EFAULT);
	return ringwalk_get_directory(fd);
}

/* Copies the names of wanted attributes. Each has its NUL and a length that getxattr(2) allows. */
static int ringwalk_check_xattr_names(const char *names, u32 len)
{
	u32 at = 0;

	if (names[len - 1])
		return -EINVAL;
	while (at < len) {
		size_t name = strlen(names + at);

		if (!name || name > XATTR_NAME_MAX)
			return -ERANGE;
		at += name + 1;
	}
	return 0;
}

static int ringwalk_get_xattr_names(struct ringwalk_wanted *wanted,
				    const struct ringwalk_fields *fields)
{
	char *names;
	int error;

	if (fields->xattr_names_len > XATTR_LIST_MAX)
		return -EINVAL;
	/* Not vmemdup_user(), which charges no memory cgroup. */
	names = kvmalloc(fields->xattr_names_len, GFP_KERNEL_ACCOUNT);
	if (!names)
		return -ENOMEM;
	if (copy_from_user(names, u64_to_user_ptr(fields->xattr_names), fields->xattr_names_len))
		error = -EFAULT;
	else
		error = ringwalk_check_xattr_names(names, fields->xattr_names_len);
	if (error) {
		kvfree(names);
		return error;
	}
	wanted->xattr_names = names;
	wanted->xattr_names_len = fields->xattr_names_len;
	return 0;
}

/**
 * ringwalk_get_wanted - checks the wanted data of every entry
 * @pool: the open device's buffers
 * @wanted: where the result is put; ringwalk_put_wanted() frees its memory
 * @fields: the caller's request
 * @flags: the flags of the request
 * @len: bytes of the caller's output buffer
 *
 * Return: 0 or a negative errno.
 */
int ringwalk_get_wanted(struct ringwalk_pool *pool, struct ringwalk_wanted *wanted,
			const struct ringwalk_fields *fields, u32 flags, u32 len)
{
	memset(wanted, 0, sizeof(*wanted));
	if (fields->reserved || (fields->mask & ~RINGWALK_STAT_MASK))
		return -EINVAL;
	if (fields->stat_flags && fields->stat_flags != AT_STATX_FORCE_SYNC &&
	    fields->stat_flags != AT_STATX_DONT_SYNC)
		return -EINVAL;
	if (!fields->xattr_names != !fields->xattr_names_len)
		return -EINVAL;

	wanted->mask = fields->mask;
	wanted->stat_flags = fields->stat_flags;
	if (fields->mask)
		wanted->stat_size = ringwalk_stat_size(fields->mask);
	wanted->xattr_all = flags & RINGWALK_F_XATTR_ALL;
	if (!wanted->xattr_all && !fields->xattr_names)
		return 0;

	if (fields->xattr_entry_max > RINGWALK_XATTR_ENTRY_MAX ||
	    fields->xattr_entry_max >= min(len, RINGWALK_BUFFER_MAX))
		return -EINVAL;
	/* At least a word, because a value other than 0 means that attributes are wanted. */
	wanted->xattr_room = max_t(u32, round_down(fields->xattr_entry_max, sizeof(u64)),
				   sizeof(u64));
	wanted->xattr_value_max = min_t(u32, fields->xattr_value_max, XATTR_SIZE_MAX);
	if (!wanted->xattr_all)
		return ringwalk_get_xattr_names(wanted, fields);
	if (fields->xattr_names)
		return -EINVAL;
	return ringwalk_buffer_get(pool, XATTR_LIST_MAX, &wanted->xattr_list);
}

void ringwalk_put_wanted(struct ringwalk_pool *pool, struct ringwalk_wanted *wanted)
{
	kvfree(wanted->xattr_names);
	if (wanted->xattr_list.data)
		ringwalk_buffer_put(pool, &wanted->xattr_list);
}
