// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks up names of one directory in two rounds. The first round takes names from the dentry cache.
 * The second looks up the others, in the order of inode numbers if the file system is on a disk:
 * ext4 lists directories in the order of hashes, which would visit the blocks of inodes at random.
 *
 * The first round checks the permission to look up names in the directory once a batch. The lookups
 * of the second check it each time.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/stringhash.h>

#include "internal.h"

/* Cached entries between two points where other tasks may run: some tens of microseconds. */
#define RINGWALK_RESCHED	64

void ringwalk_batch_init(struct ringwalk_batch *batch, struct file *dir,
			 const struct ringwalk_wanted *wanted, char *records, const char *names,
			 u32 room)
{
	batch->dir = dir;
	batch->below = NULL;
	batch->wanted = wanted;
	batch->records = records;
	batch->names = names;
	batch->denied = inode_permission(ringwalk_idmap(dir->f_path.mnt), file_inode(dir),
					 MAY_EXEC);
	batch->misses = NULL;
	batch->missed = 0;
	batch->found = 0;
	batch->room = room;
	batch->seen = 0;
	batch->uncached = false;
	batch->sorted = true;
	batch->deadline = KTIME_MAX;
	ringwalk_ids_init(&batch->ids);
}

/* Returns true if the order of lookups matters: for file systems on a block device. */
bool ringwalk_sort_pays(struct file *dir)
{
	return file_inode(dir)->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
}

static void ringwalk_fail(struct ringwalk_batch *batch, struct ringwalk_entry *entry, int error)
{
	u32 stat_size = batch->wanted->stat_size;
	char *after = (char *)(entry + 1);

	entry->error = ringwalk_errno(error);
	if (!(entry->flags & RINGWALK_ENTRY_STAT))
		return;
	/* Moves the name to the place of the metadata, and clears the bytes after it. */
	entry->flags &= ~RINGWALK_ENTRY_STAT;
	memmove(after, after + stat_size, entry->name_len);
	memset(after + entry->name_len, 0,
	       entry->reclen - batch->wanted->xattr_room - sizeof(*entry) - entry->name_len);
}

static int ringwalk_fill_path(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
			      const struct path *path)
{
	const struct ringwalk_wanted *wanted = batch->wanted;
	int error = 0;

	if (wanted->stat_size)
		error = ringwalk_stat_fill(batch, path, (struct ringwalk_stat *)(entry + 1));
	if (unlikely(error == -ESTALE))
		return error;
	if (wanted->xattr_room)
		ringwalk_xattr_fill(path, wanted, entry);
	if (unlikely(error))
		ringwalk_fail(batch, entry, error);
	return 0;
}

/* A file system may be mounted here. An automount point is not triggered. */
static int ringwalk_fill_managed(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
				 struct dentry *dentry)
{
	struct path path = { .mnt = batch->dir->f_path.mnt, .dentry = dentry };
	int error;

	path_get(&path);
	error = ringwalk_follow_down(&path);
	if (!error) {
		error = ringwalk_fill_path(batch, entry, &path);
	} else if (error != -ESTALE) {
		/* The name moves, so an entry that failed must not be looked up again. */
		ringwalk_fail(batch, entry, error);
		error = 0;
	}
	path_put(&path);
	return error;
}

/* @flags: flags of a dentry that is not negative */
static int ringwalk_fill_dentry(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
				struct dentry *dentry, unsigned int flags)
{
	struct path path = { .mnt = batch->dir->f_path.mnt, .dentry = dentry };

	int error;

	if (unlikely(flags & DCACHE_MANAGED_DENTRY))
		return ringwalk_fill_managed(batch, entry, dentry);
	error = ringwalk_fill_path(batch, entry, &path);
	if (batch->below && !error && !entry->error && d_can_lookup(dentry) &&
	    !(flags & DCACHE_OP_REVALIDATE))
		ringwalk_below_add(batch->below, entry, (char *)entry - batch->records,
				   batch->dir->f_path.dentry, dentry);
	return error;
}

/* Fills in the directory itself, as statx(2) of "." in it. */
static void ringwalk_fill_self(struct ringwalk_batch *batch, struct ringwalk_entry *entry)
{
	const struct path *path = &batch->dir->f_path;
	struct dentry *dentry = path->dentry;
	int error;

	if (dentry->d_flags & DCACHE_OP_WEAK_REVALIDATE) {
		error = dentry->d_op->d_weak_revalidate(dentry, 0);
		if (error <= 0) {
			ringwalk_fail(batch, entry, error ? error : -ESTALE);
			return;
		}
	}
	error = ringwalk_fill_path(batch, entry, path);
	if (error)
		ringwalk_fail(batch, entry, error);
}

static void ringwalk_look_up(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
			     const char *name, u32 len)
{
	const struct path *base = &batch->dir->f_path;
	unsigned int tries = 2;
	struct dentry *dentry;
	int error;

	/*
	 * A server may invalidate a cached name. The name is looked up again then, as for statx(2).
	 */
	do {
		dentry = ringwalk_lookup(base->mnt, base->dentry, name, len);
		error = PTR_ERR_OR_ZERO(dentry);
		if (!error) {
			error = ringwalk_fill_dentry(batch, entry, dentry,
						     READ_ONCE(dentry->d_flags));
			dput(dentry);
		}
	} while (error == -ESTALE && --tries);
	if (error)
		ringwalk_fail(batch, entry, error);
}

static void ringwalk_miss(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
			  const char *name, u32 len)
{
	struct ringwalk_miss *miss;

	if (!batch->misses)
		batch->misses = kvmalloc_array(batch->room, sizeof(*batch->misses),
					       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!batch->misses) {
		ringwalk_look_up(batch, entry, name, len);
		return;
	}
	miss = &batch->misses[batch->missed++];
	miss->ino = entry->d_ino;
	miss->record = (char *)entry - batch->records;
	miss->name = name - batch->names;
	miss->len = len;
	if (batch->missed > 1 && miss[-1].ino > miss->ino)
		batch->sorted = false;
}

/**
 * ringwalk_cached - looks for a name in the dentry cache
 * @base: the directory
 * @name: the name with a NUL after it
 * @len: length of the name
 *
 * Return: a dentry, which may be negative or in need of validation, or NULL.
 */
struct dentry *ringwalk_cached(struct dentry *base, const char *name, u32 len)
{
	struct qstr qstr = QSTR_INIT(name, len);

	qstr.hash = full_name_hash(base, name, len);
	if (unlikely(base->d_flags & DCACHE_OP_HASH) && base->d_op->d_hash(base, &qstr) < 0)
		return NULL;
	return d_lookup(base, &qstr);
}

/**
 * ringwalk_batch_entry - fills in an entry from the dentry cache, or records it for the second
 * round
 * @batch: initialised by ringwalk_batch_init() with room for this entry
 * @entry: its record, complete except for metadata and extended attributes
 * @name: its name with a NUL after it, not ".."
 * @len: length of the name
 */
void ringwalk_batch_entry(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
			  const char *name, u32 len)
{
	struct dentry *dentry = NULL;
	unsigned int flags;
	int error = 0;

	if (!(++batch->seen % RINGWALK_RESCHED))
		cond_resched();
	if (unlikely(batch->denied)) {
		ringwalk_fail(batch, entry, batch->denied);
		return;
	}
	if (unlikely(name[0] == '.' && len == 1)) {
		ringwalk_fill_self(batch, entry);
		return;
	}
	if (likely(!batch->uncached))
		dentry = ringwalk_cached(batch->dir->f_path.dentry, name, len);
	if (!dentry) {
		ringwalk_miss(batch, entry, name, len);
		return;
	}
	/*
	 * Pairs with the release in __d_set_inode_and_type(): if the type is set, so is the inode.
	 */
	flags = smp_load_acquire(&dentry->d_flags);
	if (unlikely(flags & DCACHE_OP_REVALIDATE)) {
		batch->uncached = true;
		ringwalk_miss(batch, entry, name, len);
	} else if (unlikely(d_flags_negative(flags))) {
		ringwalk_fail(batch, entry, -ENOENT);
	} else {
		error = ringwalk_fill_dentry(batch, entry, dentry, flags);
	}
	dput(dentry);
	if (unlikely(error))
		ringwalk_look_up(batch, entry, name, len);
}

int ringwalk_compare_first(const void *a, const void *b)
{
	const u64 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void ringwalk_look_up_miss(struct ringwalk_batch *batch, const struct ringwalk_miss *miss)
{
	ringwalk_look_up(batch, (void *)batch->records + miss->record, batch->names + miss->name,
			 miss->len);
	cond_resched();
}

/* Returns the first record that was not looked up, of those before @passed; @passed if all were. */
static u32 ringwalk_first_missed(const struct ringwalk_batch *batch, u32 passed)
{
	u32 i;

	for (i = batch->found; i < batch->missed; i++)
		passed = min(passed, batch->misses[i].record);
	return passed;
}

/* Looks up those of the records before @end that are still to be done. */
static void ringwalk_look_up_before(struct ringwalk_batch *batch, u32 end)
{
	u32 i;

	for (i = batch->found; i < batch->missed && !fatal_signal_pending(current); i++) {
		if (batch->misses[i].record >= end)
			continue;
		ringwalk_look_up_miss(batch, &batch->misses[i]);
		swap(batch->misses[i], batch->misses[batch->found]);
		batch->found++;
	}
}

/**
 * ringwalk_batch_finish - looks up the names that were not cached
 * @batch: the batch
 * @passed: bytes of the records that were passed to ringwalk_batch_entry()
 * @used: bytes of all records; more than @passed if a signal has ended the first round
 * @least: bytes of the records that are looked up unless the task is being killed
 *
 * Return: bytes of the records that are done, at least @least; @used unless a signal or the
 * deadline ends the batch. -EINTR if the task is being killed.
 */
int ringwalk_batch_finish(struct ringwalk_batch *batch, u32 passed, u32 used, u32 least)
{
	if (passed == used && !batch->sorted && ringwalk_sort_pays(batch->dir))
		sort(batch->misses, batch->missed, sizeof(*batch->misses),
		     ringwalk_compare_first, NULL);
	while (passed == used && batch->found < batch->missed &&
	       !ringwalk_stopped_or_late(batch->deadline))
		ringwalk_look_up_miss(batch, &batch->misses[batch->found++]);
	if (passed == used && batch->found == batch->missed)
		return used;
	ringwalk_look_up_before(batch, least);
	if (fatal_signal_pending(current))
		return -EINTR;
	return ringwalk_first_missed(batch, passed);
}

/**
 * ringwalk_batch_give_up - gives the error EINTR to the records that are not done
 * @batch: a batch that a signal has ended
 * @passed: as for ringwalk_batch_finish()
 * @used: as for ringwalk_batch_finish()
 */
void ringwalk_batch_give_up(struct ringwalk_batch *batch, u32 passed, u32 used)
{
	struct ringwalk_entry *entry;
	u32 i;

	for (i = batch->found; i < batch->missed; i++)
		ringwalk_fail(batch, (void *)batch->records + batch->misses[i].record, -EINTR);
	for (; passed < used; passed += entry->reclen) {
		entry = (void *)batch->records + passed;
		if (!ringwalk_is_dotdot(ringwalk_entry_name(batch->wanted, entry), entry->name_len))
			ringwalk_fail(batch, entry, -EINTR);
	}
}

void ringwalk_batch_free(struct ringwalk_batch *batch)
{
	kvfree(batch->misses);
}

/**
 * ringwalk_compact - closes the gaps after records that did not need all of their room
 * @records: the records
 * @used: bytes of them
 * @xattr_room: bytes reserved for extended attributes in each
 * @places: subdirectories whose places are corrected, in the order of their records
 * @count: the number of @places
 *
 * Return: bytes used afterwards.
 */
u32 ringwalk_compact(char *records, u32 used, u32 xattr_room, struct ringwalk_subdirectory *places,
		     u32 count)
{
	u32 from = 0, to = 0;

	while (from < used) {
		struct ringwalk_entry *entry = (void *)records + from;
		u32 room = entry->reclen;

		entry->reclen = room - xattr_room + entry->xattr_len;
		if (count && places->record == from) {
			places->record = to;
			places++;
			count--;
		}
		if (from != to)
			memmove(records + to, entry, entry->reclen);
		to += ((struct ringwalk_entry *)(records + to))->reclen;
		from += room;
	}
	return to;
}
