// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a directory from its position on.
 *
 *	f_pos_lock taken
 *	  position set, if the request says where to
 *	  iterate_dir() until an entry is refused or none is left
 *	f_pos_lock released
 *	lookups, copy to the caller (other commands than GETDENTS)
 *	position restored under f_pos_lock, if one of these failed or was ended by a signal, and
 *	nobody else has moved it
 *
 * Names are read first and looked up afterwards, because the directory is locked while the actor
 * gets its entries. Other requests may read on from the position during the lookups.
 */
#include <linux/string.h>

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

/**
 * ringwalk_lock_position - takes the lock that readers of an open directory share
 * @dir: the open directory
 *
 * Its holder may wait for a server for ever, so what ends a request ends this wait. If work of a
 * ring wakes the task up, only a signal that kills it does from then on.
 *
 * Return: 0, or -EINTR if a signal came before, or a cancel in a worker thread of a ring.
 */
int ringwalk_lock_position(struct file *dir)
{
	if (!mutex_lock_interruptible(&dir->f_pos_lock))
		return 0;
	/* Work of a ring for the submitting task wakes it up like a signal, but ends no request. */
	if (ringwalk_stopped() || mutex_lock_killable(&dir->f_pos_lock))
		return -EINTR;
	return 0;
}

/*
 * A file system may return before the end although there is room, as FUSE does after each reply.
 * The end is reached when a call adds no entry. Signals are looked for between the calls too,
 * because the next one may wait for a server.
 */
static int ringwalk_iterate(struct ringwalk_names *names, struct file *dir, u32 *flags)
{
	u32 before;
	bool more;
	int error;

	do {
		before = names->entries + names->skipped;
		ringwalk_set_count(&names->ctx, names->size - names->used);
		error = iterate_dir(dir, &names->ctx);
		/* Callers do not need a positive result. getdents64(2) drops it as well. */
		if (error >= 0)
			error = names->error;
		/*
		 * Not the position after a call that found no entry: btrfs moves the position when
		 * it is called again at the end.
		 */
		more = names->entries + names->skipped != before;
		if (more)
			*names->last_off = names->ctx.pos;
		more = more && !error && !names->full;
		if (more && ringwalk_names_stopped(names)) {
			names->error = -EINTR;
			error = -EINTR;
		}
	} while (more && !error);

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
 * Return: 0, or a negative errno if nothing was read. An error after the first entry is reported by
 * the next request. A signal after a skipped entry is no error: the next request goes on behind it.
 */
int ringwalk_names_read(struct ringwalk_names *names, struct file *dir, s64 off, u32 *flags)
{
	loff_t position;
	int error = 0;

	if (ringwalk_lock_position(dir))
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

	if (names->entries || (names->skipped && names->error == -EINTR))
		return 0;
	return error;
}

/**
 * ringwalk_names_seek_back - sets the position back, so that no entry is lost that was read and not
 * returned
 * @names: the entries that were read
 * @dir: the open directory
 * @position: before the first entry that is not returned
 *
 * Return: false if another request has moved the position meanwhile, or the file system refuses.
 * Also after a signal while another request reads, which moves the position.
 */
bool ringwalk_names_seek_back(struct ringwalk_names *names, struct file *dir, loff_t position)
{
	bool back;

	if (ringwalk_lock_position(dir))
		return false;
	back = dir->f_pos == names->end && vfs_llseek(dir, position, SEEK_SET) >= 0;
	if (back)
		names->end = dir->f_pos;
	mutex_unlock(&dir->f_pos_lock);
	return back;
}
