// SPDX-License-Identifier: GPL-2.0-only
/*
 * RINGWALK_IOC_READAHEAD: reads names and inode numbers of the next entries of a directory, sorts
 * them, and looks them up in the order of inode numbers, which brings the inodes in. It opens the
 * directory again, so the caller's position does not move.
 *
 * The memory holds names from its beginning, and the array to sort from its end:
 *
 *	| names, each with a NUL ... | free | ... struct ringwalk_ahead |
 *
 * The memory grows on demand, since most directories are small. Each growth begins where the actor
 * stopped.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/stringhash.h>
#include <linux/uaccess.h>

#include "names.h"

#define RINGWALK_AHEAD_DEFAULT	(4U << 20)
#define RINGWALK_AHEAD_FIRST	(32U << 10)
/* Entries sorted at a time. sort() does not let other tasks run. */
#define RINGWALK_AHEAD_PIECE	(64U << 10)

struct ringwalk_ahead {
	u64 ino;
	u32 name;
	u32 len;
};

static struct ringwalk_ahead *ringwalk_ahead_list(const struct ringwalk_names *names)
{
	return (void *)names->data + names->size - names->entries * sizeof(struct ringwalk_ahead);
}

static bool ringwalk_ahead_actor(struct dir_context *ctx, const char *name, int len,
				 loff_t offset, u64 ino, unsigned int type)
{
	struct ringwalk_names *names = container_of(ctx, struct ringwalk_names, ctx);
	struct ringwalk_ahead *ahead;
	u32 need;

	*names->last_off = offset;
	if (ringwalk_names_refuse(names, len))
		return false;
	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))) {
		names->skipped++;
		return true;
	}
	need = ALIGN(len + 1, sizeof(u64)) + sizeof(*ahead);
	if (names->entries == names->max_entries ||
	    names->size - names->used - names->entries * sizeof(*ahead) < need) {
		names->full = true;
		return false;
	}
	if (ringwalk_names_slash(names, name, len))
		return false;
	memcpy(names->data + names->used, name, len);
	ahead = ringwalk_ahead_list(names) - 1;
	ahead->ino = ino;
	ahead->name = names->used;
	ahead->len = len;
	names->data[names->used + len] = '\0';
	names->used += need - sizeof(*ahead);
	names->last_off = names->entries ? &names->no_off : &names->after_first;
	names->entries++;
	return true;
}

/* Moves the entries to larger memory. */
static int ringwalk_ahead_grow(struct ringwalk_names *names, u32 size)
{
	u32 list = names->entries * sizeof(struct ringwalk_ahead);
	char *data = kvmalloc(size, GFP_KERNEL_ACCOUNT);

	if (!data)
		return -ENOMEM;
	memcpy(data, names->data, names->used);
	memcpy(data + size - list, ringwalk_ahead_list(names), list);
	kvfree(names->data);
	names->data = data;
	names->size = size;
	return 0;
}

/*
 * If there is no memory for all names, a request with @done cannot use them: it counts in the order
 * of all of them.
 */
static int ringwalk_ahead_read(struct ringwalk_names *names, struct file *dir, s64 off, u32 max,
			       bool again, u32 *flags)
{
	int error = ringwalk_names_read(names, dir, off, flags);

	while (!error && names->full && names->size < max && names->entries < names->max_entries) {
		/* Go on with the present memory. The caller continues where this request ends. */
		if (ringwalk_ahead_grow(names, min_t(u64, 4ULL * names->size, max)))
			return again ? -ENOMEM : 0;
		names->full = false;
		error = ringwalk_names_read(names, dir, RINGWALK_OFF_CURRENT, flags);
	}
	return error;
}

/* Returns false if the name cannot be looked up. */
static bool ringwalk_ahead_entry(struct file *dir, const char *name, u32 len, bool xattrs)
{
	struct dentry *dentry = ringwalk_lookup(dir->f_path.mnt, dir->f_path.dentry, name, len);

	if (IS_ERR(dentry))
		return false;
	/* Only the blocks matter. They come in even if the attribute does not exist. */
	if (xattrs)
		vfs_listxattr(dentry, NULL, 0);
	dput(dentry);
	return true;
}

/*
 * Counts the entries that were brought in. Sets @request->done to the number of entries done, those
 * of earlier requests included.
 */
static int ringwalk_ahead_look_up(struct ringwalk_readahead *request, struct ringwalk_names *names,
				  struct file *dir)
{
	struct ringwalk_ahead *list = ringwalk_ahead_list(names);
	bool xattrs = request->flags & RINGWALK_F_XATTR_BLOCKS;
	bool sorted = ringwalk_sort_pays(dir);
	u32 i, first = request->done;

	request->entries = 0;
	for (i = 0; i < names->entries; i++) {
		if (sorted && i % RINGWALK_AHEAD_PIECE == 0)
			sort(list + i, min(names->entries - i, RINGWALK_AHEAD_PIECE),
			     sizeof(*list), ringwalk_compare_first, NULL);
		if (i < first)
			continue;
		if (i > first && ringwalk_stopped())
			break;
		if (ringwalk_ahead_entry(dir, names->data + list[i].name, list[i].len, xattrs))
			request->entries++;
		cond_resched();
	}
	request->done = i;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * After a signal, brings in the first name that was read, if not only "." and ".." were. The next
 * request begins behind it. With @done it may bring in names again, but an error would end in a
 * loop if signals come all the time.
 */
static int ringwalk_ahead_first(struct ringwalk_readahead *request, struct ringwalk_names *names,
				struct file *dir)
{
	struct ringwalk_ahead *first = ringwalk_ahead_list(names) + names->entries - 1;
	bool xattrs = request->flags & RINGWALK_F_XATTR_BLOCKS;

	request->entries = names->entries &&
			   ringwalk_ahead_entry(dir, names->data + first->name, first->len, xattrs);
	request->next = names->entries ? names->after_first : names->end;
	request->done = 0;
	request->result_flags = 0;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int ringwalk_ahead_names(struct ringwalk_readahead *request, struct ringwalk_names *names,
				struct file *dir)
{
	u32 max = request->max_bytes ? round_down(request->max_bytes, sizeof(u64)) :
				       RINGWALK_AHEAD_DEFAULT;
	u32 size = min(max, RINGWALK_AHEAD_FIRST);
	int result;

	names->data = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!names->data)
		return -ENOMEM;
	names->size = size;
	result = ringwalk_ahead_read(names, dir, request->off, max, request->done,
				     &request->result_flags);
	if (!result && names->error == -EINTR)
		result = ringwalk_ahead_first(request, names, dir);
	else if (!result)
		result = ringwalk_ahead_look_up(request, names, dir);
	kvfree(names->data);
	if (result || names->error == -EINTR)
		return result;
	if (request->done < names->entries) {
		request->next = request->off;
		request->result_flags = 0;
	} else {
		request->next = names->end;
		request->done = 0;
	}
	return 0;
}

/* Reads the position of the caller's directory, which another request may move. */
static int ringwalk_position(struct file *dir, s64 *off)
{
	if (ringwalk_lock_position(dir))
		return -EINTR;
	*off = dir->f_pos;
	mutex_unlock(&dir->f_pos_lock);
	return 0;
}

static int ringwalk_readahead(struct ringwalk_readahead *request, struct file *dir)
{
	struct ringwalk_names names;
	struct file *again;
	int error = 0;

	if (request->off == RINGWALK_OFF_CURRENT)
		error = ringwalk_position(dir, &request->off);
	if (error)
		return error;
	again = ringwalk_open_directory(&dir->f_path, dir->f_flags & O_NOATIME);
	if (IS_ERR(again))
		return PTR_ERR(again);
	request->result_flags = 0;
	ringwalk_names_init(&names, ringwalk_ahead_actor, NULL, 0);
	if (request->max_entries)
		names.max_entries = request->max_entries;
	error = ringwalk_ahead_names(request, &names, again);
	ringwalk_close(again);
	return error;
}

long ringwalk_do_readahead(void __user *arg)
{
	struct ringwalk_readahead __user *out = arg;
	struct ringwalk_readahead request;
	struct file *dir;
	long result;

	result = ringwalk_copy_request(&request, sizeof(request), RINGWALK_READAHEAD_SIZE1,
				       RINGWALK_F_INLINE | RINGWALK_F_XATTR_BLOCKS, arg);
	if (result)
		return result;
	/*
	 * The two numbered fields lent memory to the module once. They are refused, because a
	 * caller that still sets them expects more than names and inodes to be read.
	 */
	if (request.reserved || request.reserved1 || request.reserved2 ||
	    request.max_bytes > RINGWALK_READAHEAD_MAX)
		return -EINVAL;
	dir = ringwalk_get_directory(request.fd);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_readahead(&request, dir);
	fput(dir);
	if (!result && (put_user(request.entries, &out->entries) ||
			put_user(request.next, &out->next) ||
			put_user(request.done, &out->done) ||
			put_user(request.result_flags, &out->result_flags)))
		return -EFAULT;
	return result;
}
