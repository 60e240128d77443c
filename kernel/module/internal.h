/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the module:
 *
 *	main.c		the device: open, ioctl, io_uring; which command is which function
 *	request.c	requests copied in and checked, the directory's descriptor resolved
 *	names.c		a directory read from its position on
 *	getdents.c	RINGWALK_IOC_GETDENTS
 *	readdirplus.c	RINGWALK_IOC_READDIRPLUS
 *	readtree.c	RINGWALK_IOC_READTREE: the same for whole subtrees
 *	stat_batch.c	RINGWALK_IOC_STAT_BATCH
 *	readahead.c	RINGWALK_IOC_READAHEAD
 *	lookup.c	names looked up, in the order of inode numbers where it pays
 *	stat.c		struct kstat into struct ringwalk_stat
 *	xattr.c		extended attributes of an entry; acl.c those of them that are ACLs
 *	buffer.c	kernel memory for output, kept from request to request
 *	compat.h	differences between kernels
 *
 * Names alone go directly to the caller. Output with metadata is built in a kernel buffer and
 * copied out once. The reader of the directory writes each record at its final place, with room for
 * the metadata. The lookups follow, because the reader must not make them: it holds the lock of the
 * directory.
 */
#ifndef RINGWALK_INTERNAL_H
#define RINGWALK_INTERNAL_H

#include <linux/dirent.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/ringwalk.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "compat.h"

/*
 * The most buffers that one open device keeps: twice the number of worker threads of a ring on two
 * CPUs.
 */
#define RINGWALK_POOL_MAX	16

/*
 * struct ringwalk_buffer - kernel memory for output
 * @data: the memory
 * @size: bytes of it
 * @mm: the process that it is charged to; only compared, so the process may be gone
 */
struct ringwalk_buffer {
	char *data;
	size_t size;
	const struct mm_struct *mm;
};

struct ringwalk_pool {
	/* protects all below; no memory is allocated or freed under it */
	spinlock_t lock;
	unsigned int count;
	struct ringwalk_buffer free[RINGWALK_POOL_MAX];
};

void ringwalk_pool_init(struct ringwalk_pool *pool);
void ringwalk_pool_destroy(struct ringwalk_pool *pool);
int ringwalk_buffer_get(struct ringwalk_pool *pool, size_t size, struct ringwalk_buffer *buffer);
void ringwalk_buffer_put(struct ringwalk_pool *pool, struct ringwalk_buffer *buffer);

/*
 * Returns true if a request must end once an entry is done: the task has a signal, is being frozen
 * or killed; or, in a worker thread of a ring, the request is cancelled. In other threads the flag
 * that cancels has other meanings, such as a completion of the ring.
 */
static inline bool ringwalk_stopped(void)
{
	return current->flags & PF_IO_WORKER ? signal_pending(current) : task_sigpending(current);
}

/* The same, or if the deadline is over; KTIME_MAX for none. */
static inline bool ringwalk_stopped_or_late(ktime_t deadline)
{
	return ringwalk_stopped() || (unlikely(deadline != KTIME_MAX) &&
				      ktime_after(ktime_get(), deadline));
}

/* Returns the error for callers. No request is restarted. */
static inline int ringwalk_errno(int error)
{
	switch (error) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return -EINTR;
	default:
		return error;
	}
}

/* struct ringwalk_wanted - struct ringwalk_fields after its checks */
struct ringwalk_wanted {
	u32 mask;
	u32 stat_flags;
	/* bytes of struct ringwalk_stat with its groups, 0 if no metadata is wanted */
	u32 stat_size;
	/* bytes kept free for extended attributes at the end of a record, 0 if none are wanted */
	u32 xattr_room;
	u32 xattr_value_max;
	bool xattr_all;
	/* the wanted names */
	char *xattr_names;
	u32 xattr_names_len;
	/* for the existing names, if all are wanted */
	struct ringwalk_buffer xattr_list;
};

#define RINGWALK_STAT_MASK	(STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID |	\
				 STATX_MNT_ID_UNIQUE | STATX_DIOALIGN | STATX_SUBVOL)
#define RINGWALK_READAHEAD_MAX	(32U << 20)

/* Sizes of the first version of each request, which callers of every later version may pass. */
#define RINGWALK_INFO_SIZE1		40
#define RINGWALK_GETDENTS_SIZE1		40
#define RINGWALK_READDIRPLUS_SIZE1	80
#define RINGWALK_STAT_BATCH_SIZE1	80
#define RINGWALK_READAHEAD_SIZE1	64
#define RINGWALK_READTREE_SIZE1		88

int ringwalk_copy_request(void *request, u32 size, u32 first, u32 known_flags,
			  const void __user *arg);
struct file *ringwalk_get_directory(int fd);
struct file *ringwalk_get_directory_for_records(int fd, u64 buf, u32 len);
int ringwalk_get_wanted(struct ringwalk_pool *pool, struct ringwalk_wanted *wanted,
			const struct ringwalk_fields *fields, u32 flags, u32 len);
void ringwalk_put_wanted(struct ringwalk_pool *pool, struct ringwalk_wanted *wanted);

/* Returns the name in a record of READDIRPLUS. */
static inline char *ringwalk_entry_name(const struct ringwalk_wanted *wanted,
					struct ringwalk_entry *entry)
{
	return (char *)(entry + 1) + (entry->flags & RINGWALK_ENTRY_STAT ? wanted->stat_size : 0);
}

static inline bool ringwalk_is_dotdot(const char *name, unsigned int len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

static inline bool ringwalk_wants_lookup(const struct ringwalk_wanted *wanted)
{
	return wanted->stat_size || wanted->xattr_room;
}

/*
 * struct ringwalk_names - a directory being read into memory
 * @ctx: the reader; its actor writes the records
 * @data: where records go
 * @used: bytes written
 * @size: bytes at @data
 * @entries: records written
 * @max_entries: most records
 * @skipped: entries for which the actor wrote no record
 * @last_off: where the cookie after the last record belongs; only the next entry reveals it
 * @no_off: the target of @last_off before the first record
 * @after_first: the cookie after the first record, for READAHEAD
 * @full: the actor refused an entry for lack of room
 * @error: the actor refused an entry for this reason
 * @start: position before the first entry
 * @end: position after the last entry
 */
struct ringwalk_names {
	struct dir_context ctx;
	char *data;
	u32 used;
	u32 size;
	u32 entries;
	u32 max_entries;
	u32 skipped;
	u64 *last_off;
	u64 no_off;
	u64 after_first;
	bool full;
	int error;
	loff_t start;
	loff_t end;
};

int ringwalk_lock_position(struct file *dir);
void ringwalk_names_init(struct ringwalk_names *names, filldir_t actor, char *data, u32 size);
int ringwalk_names_read(struct ringwalk_names *names, struct file *dir, s64 off, u32 *flags);
bool ringwalk_names_seek_back(struct ringwalk_names *names, struct file *dir, loff_t position);

/*
 * struct ringwalk_ids - the last owner in the caller's user namespace; the next owner is usually
 * the same
 */
struct ringwalk_ids {
	kuid_t kuid;
	kgid_t kgid;
	u32 uid;
	u32 gid;
};

/*
 * struct ringwalk_subdirectory - a directory that READTREE is still to read
 * @ino: its inode number
 * @dentry: the directory, with a reference
 * @parent: the directory that it was found in, with a reference
 * @record: offset of its record, in its batch or in the output
 * @depth: levels below the directory of the request
 */
struct ringwalk_subdirectory {
	u64 ino;
	struct dentry *dentry;
	struct dentry *parent;
	u32 record;
	u32 depth;
};

/*
 * struct ringwalk_below - the stack of these
 * @stack: the subdirectories
 * @count: their number
 * @room: how many @stack has room for
 * @depth: depth of the directory that is being read
 */
struct ringwalk_below {
	struct ringwalk_subdirectory *stack;
	u32 count;
	u32 room;
	u32 depth;
};

void ringwalk_below_add(struct ringwalk_below *below, const struct ringwalk_entry *entry,
			u32 record, struct dentry *parent, struct dentry *dentry);

/*
 * struct ringwalk_batch - names of one directory being looked up
 * @dir: the directory
 * @below: where subdirectories are remembered, NULL if they are not
 * @wanted: the wanted data
 * @records: where the records are
 * @names: base of the names' offsets
 * @denied: error of the permission to look up names, 0 if there is none
 * @misses: names that are not in the dentry cache, to be looked up together
 * @missed: the number of @misses
 * @found: the number of @misses that were looked up
 * @room: the largest number of @misses
 * @seen: the number of entries passed
 * @uncached: true if the file system must validate cached names
 * @sorted: true if @misses are sorted by inode number
 * @ids: the last entry's owner
 * @deadline: when the lookups end, as by a signal; KTIME_MAX for never
 * @stat: metadata of an entry; not on the stack, which some kernels clear in each call
 */
struct ringwalk_batch {
	struct file *dir;
	struct ringwalk_below *below;
	const struct ringwalk_wanted *wanted;
	char *records;
	const char *names;
	int denied;
	struct ringwalk_miss *misses;
	u32 missed;
	u32 found;
	u32 room;
	u32 seen;
	bool uncached;
	bool sorted;
	struct ringwalk_ids ids;
	ktime_t deadline;
	struct kstat stat;
};

struct ringwalk_miss {
	u64 ino;
	u32 record;
	u32 name;
	u32 len;
};

void ringwalk_batch_init(struct ringwalk_batch *batch, struct file *dir,
			 const struct ringwalk_wanted *wanted, char *records, const char *names,
			 u32 room);
void ringwalk_batch_entry(struct ringwalk_batch *batch, struct ringwalk_entry *entry,
			  const char *name, u32 len);
int ringwalk_batch_finish(struct ringwalk_batch *batch, u32 passed, u32 used, u32 least);
void ringwalk_batch_give_up(struct ringwalk_batch *batch, u32 passed, u32 used);
void ringwalk_batch_free(struct ringwalk_batch *batch);
struct dentry *ringwalk_cached(struct dentry *base, const char *name, u32 len);
bool ringwalk_sort_pays(struct file *dir);
/* For sort(): compares structures by the u64 at their beginning. */
int ringwalk_compare_first(const void *a, const void *b);
u32 ringwalk_compact(char *records, u32 used, u32 xattr_room, struct ringwalk_subdirectory *places,
		     u32 count);

u32 ringwalk_stat_size(u32 mask);
void ringwalk_ids_init(struct ringwalk_ids *ids);
int ringwalk_stat_fill(struct ringwalk_batch *batch, const struct path *path,
		       struct ringwalk_stat *out);

void ringwalk_xattr_fill(const struct path *path, const struct ringwalk_wanted *wanted,
			 struct ringwalk_entry *entry);
ssize_t ringwalk_acl_get(const struct path *path, const char *name, void *value, size_t size);

long ringwalk_do_getdents(void __user *arg);
long ringwalk_do_readdirplus(struct ringwalk_pool *pool, void __user *arg);
long ringwalk_do_stat_batch(struct ringwalk_pool *pool, void __user *arg);
long ringwalk_do_readahead(void __user *arg);
long ringwalk_do_readtree(struct ringwalk_pool *pool, void __user *arg);

#endif /* RINGWALK_INTERNAL_H */
