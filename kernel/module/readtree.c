// SPDX-License-Identifier: GPL-2.0-only
/*
 * RINGWALK_IOC_READTREE: entries of a directory and of the directories below it, in one request.
 *
 * The output is a sequence of groups, one for each directory that was read:
 *
 *	| struct ringwalk_group | records as of READDIRPLUS |
 *
 * The lookups of a group find the dentries of its subdirectories. A subdirectory is opened by its
 * dentry, with the checks of an openat(O_NOFOLLOW) relative to its parent. So it costs neither a
 * path walk nor a descriptor. A stack holds the subdirectories that are still to be read; the last
 * group's come first, so few directories are left when the request ends.
 *
 * A group is given whole or not at all. Only the first one, that of the descriptor, may end before
 * its directory does: the caller reads on from its position.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "names.h"
#include "readdirplus.h"

/* Subdirectories that the stack first has room for. */
#define RINGWALK_STACK_FIRST	64

/*
 * struct ringwalk_tree - a request in progress
 * @request: the request
 * @root: the directory of its descriptor
 * @wanted: the wanted data of every entry
 * @data: the output
 * @size: bytes at @data
 * @used: bytes of whole groups
 * @entries: records in these
 * @groups: number of groups
 * @deadline: when no more directories are opened, and names not looked up; KTIME_MAX for never
 * @below: the stack
 */
struct ringwalk_tree {
	struct ringwalk_readtree *request;
	struct file *root;
	const struct ringwalk_wanted *wanted;
	char *data;
	u32 size;
	u32 used;
	u32 entries;
	u32 groups;
	ktime_t deadline;
	struct ringwalk_below below;
};

/**
 * ringwalk_below_add - remembers a subdirectory, to be read later in the request
 * @below: the stack
 * @entry: its record
 * @record: offset of the record in its batch
 * @parent: the directory that it was found in
 * @dentry: the subdirectory
 *
 * Without memory the subdirectory is left to the caller.
 */
void ringwalk_below_add(struct ringwalk_below *below, const struct ringwalk_entry *entry,
			u32 record, struct dentry *parent, struct dentry *dentry)
{
	struct ringwalk_subdirectory *at;

	if (below->count == below->room) {
		u32 room = max_t(u32, 2 * below->room, RINGWALK_STACK_FIRST);

		at = kvmalloc_array(room, sizeof(*at), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!at)
			return;
		memcpy(at, below->stack, array_size(below->count, sizeof(*at)));
		kvfree(below->stack);
		below->stack = at;
		below->room = room;
	}
	at = &below->stack[below->count++];
	at->ino = entry->d_ino;
	at->dentry = dget(dentry);
	at->parent = dget(parent);
	at->record = record;
	at->depth = below->depth + 1;
}

static void ringwalk_subdirectory_put(const struct ringwalk_subdirectory *subdirectory)
{
	dput(subdirectory->dentry);
	dput(subdirectory->parent);
}

static void ringwalk_below_drop(struct ringwalk_below *below, u32 count)
{
	while (below->count > count) {
		ringwalk_subdirectory_put(&below->stack[--below->count]);
		cond_resched();
	}
}

/* Drops the subdirectories of a group, from number @first on, whose records were cut off. */
static void ringwalk_below_cut(struct ringwalk_below *below, u32 first, u32 used)
{
	u32 i, kept = first;

	for (i = first; i < below->count; i++) {
		if (below->stack[i].record < used)
			below->stack[kept++] = below->stack[i];
		else
			ringwalk_subdirectory_put(&below->stack[i]);
	}
	below->count = kept;
}

static int ringwalk_compare_record(const void *a, const void *b)
{
	const struct ringwalk_subdirectory *left = a, *right = b;

	return left->record < right->record ? -1 : left->record > right->record;
}

static int ringwalk_compare_downwards(const void *a, const void *b)
{
	return ringwalk_compare_first(b, a);
}

/*
 * Sorts the subdirectories of a new group, from number @first on, so that the one with the lowest
 * inode number is taken first from the end of the stack. Their records become offsets in the
 * output.
 */
static void ringwalk_below_order(struct ringwalk_tree *tree, u32 first, u32 offset)
{
	struct ringwalk_below *below = &tree->below;
	struct ringwalk_subdirectory *added = below->stack + first;
	u32 i, count = below->count - first;

	for (i = 0; i < count; i++)
		added[i].record += offset;
	if (count > 1)
		sort(added, count, sizeof(*added), ringwalk_compare_downwards, NULL);
}

/* Closes the gaps in a group's records, and corrects the places of its subdirectories. */
static u32 ringwalk_below_compact(struct ringwalk_tree *tree, u32 first, char *records, u32 used)
{
	struct ringwalk_below *below = &tree->below;
	u32 count = below->count - first;

	if (!tree->wanted->xattr_room)
		return used;
	sort(below->stack + first, count, sizeof(*below->stack), ringwalk_compare_record, NULL);
	return ringwalk_compact(records, used, tree->wanted->xattr_room, below->stack + first,
				count);
}

/*
 * Opens a subdirectory by its dentry, as openat(2) of its name relative to its parent would do:
 * with the permission to read it, and the hooks of the security module and of fsnotify. Returns
 * -EXDEV if the caller has to open it itself: something is mounted there, or it was moved or
 * removed since it was found.
 */
static struct file *ringwalk_tree_open(const struct ringwalk_tree *tree,
				       const struct ringwalk_subdirectory *subdirectory)
{
	struct dentry *dentry = subdirectory->dentry;
	const struct path path = { .mnt = tree->root->f_path.mnt, .dentry = dentry };
	struct inode *inode = d_inode(dentry);
	unsigned int flags = 0;
	int error;

	if (READ_ONCE(dentry->d_flags) & DCACHE_MANAGED_DENTRY || d_unhashed(dentry) ||
	    READ_ONCE(dentry->d_parent) != subdirectory->parent)
		return ERR_PTR(-EXDEV);
	error = inode_permission(ringwalk_idmap(path.mnt), d_inode(subdirectory->parent),
				 MAY_EXEC);
	if (!error)
		error = inode_permission(ringwalk_idmap(path.mnt), inode, MAY_OPEN | MAY_READ);
	if (error)
		return ERR_PTR(error);
	/* Only for the owner: openat(2) would fail where the parent's flag cannot be kept. */
	if (tree->root->f_flags & O_NOATIME) {
		if (!inode_owner_or_capable(ringwalk_idmap(path.mnt), inode))
			return ERR_PTR(-EXDEV);
		flags = O_NOATIME;
	}
	return ringwalk_open_directory(&path, flags);
}

/* Writes the head of the next group, and returns its records' place. */
static char *ringwalk_group_begin(struct ringwalk_tree *tree, u32 parent, u32 depth)
{
	struct ringwalk_group *group = (void *)tree->data + tree->used;

	memset(group, 0, sizeof(*group));
	group->reclen = sizeof(*group);
	group->parent = parent;
	group->depth = depth;
	return (char *)(group + 1);
}

/* Adds the group to the output. */
static void ringwalk_group_end(struct ringwalk_tree *tree, u32 bytes, u32 entries, u32 flags,
			       int error)
{
	struct ringwalk_group *group = (void *)tree->data + tree->used;

	group->reclen += bytes;
	group->entries = entries;
	group->flags = flags & RINGWALK_RESULT_END;
	group->error = ringwalk_errno(error);
	if (group->parent) {
		struct ringwalk_entry *entry = (void *)tree->data + group->parent;

		entry->flags |= RINGWALK_ENTRY_READ;
	}
	tree->used += group->reclen;
	tree->entries += entries;
	tree->groups++;
}

/*
 * Reads a directory into a group. Returns -ENOSPC if it does not fit, -EINTR if a signal came,
 * -EXDEV if an error came after some of its entries, or another error of reading it. Of the root as
 * much is read as fits.
 */
static int ringwalk_group_fill(struct ringwalk_tree *tree, struct ringwalk_plus *plus,
			       struct file *dir, s64 off, char *records, u32 *flags)
{
	struct ringwalk_names *names = &plus->names;
	bool whole = dir != tree->root;
	int error;

	ringwalk_names_init(names, ringwalk_plus_actor, records,
			    tree->size - tree->used - sizeof(struct ringwalk_group));
	if (tree->request->max_entries)
		names->max_entries = tree->request->max_entries - tree->entries;
	plus->wanted = tree->wanted;
	plus->deadline = tree->deadline;
	plus->below = tree->below.depth < tree->request->max_depth ? &tree->below : NULL;
	error = ringwalk_names_read(names, dir, off, flags);
	if (error)
		return whole && names->full ? -ENOSPC : error;
	if (whole && names->full)
		return -ENOSPC;
	if (whole && !(*flags & RINGWALK_RESULT_END))
		return ringwalk_stopped() ? -EINTR : -EXDEV;
	if (!names->entries)
		return 0;
	error = ringwalk_plus_lookup(plus, dir, flags);
	if (!error && whole && !(*flags & RINGWALK_RESULT_END))
		error = -EINTR;
	return error;
}

/*
 * Reads a directory and adds its group. Returns 0, or a negative errno without a change of the
 * output.
 */
static int ringwalk_tree_directory(struct ringwalk_tree *tree, struct ringwalk_plus *plus,
				   struct file *dir, s64 off, u32 parent, u32 *flags)
{
	u32 first = tree->below.count;
	char *records = ringwalk_group_begin(tree, parent, tree->below.depth);
	int error = ringwalk_group_fill(tree, plus, dir, off, records, flags);
	u32 used;

	if (error) {
		ringwalk_below_drop(&tree->below, first);
		return error;
	}
	ringwalk_below_cut(&tree->below, first, plus->names.used);
	used = ringwalk_below_compact(tree, first, records, plus->names.used);
	ringwalk_below_order(tree, first, tree->used + sizeof(struct ringwalk_group));
	ringwalk_group_end(tree, used, plus->names.entries, *flags, 0);
	return 0;
}

/*
 * Takes the error of a subdirectory into the output, unless it is one of the request: then the
 * caller opens the subdirectory itself. Returns false if the request ends.
 */
static bool ringwalk_tree_error(struct ringwalk_tree *tree, u32 record, u32 depth, int error)
{
	switch (error) {
	case -ENOSPC:	/* of the output */
	case -EINTR:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return false;
	case -EXDEV:
	case -ENOENT:
	case -ESTALE:
		return true;
	default:
		ringwalk_group_begin(tree, record, depth);
		ringwalk_group_end(tree, 0, 0, 0, error);
		return true;
	}
}

/* Reads the subdirectory on top of the stack. Returns false if the request ends. */
static bool ringwalk_tree_next(struct ringwalk_tree *tree)
{
	struct ringwalk_subdirectory next = tree->below.stack[--tree->below.count];
	struct ringwalk_plus plus;
	struct file *dir;
	u32 flags = 0;
	int error;

	tree->below.depth = next.depth;
	dir = ringwalk_tree_open(tree, &next);
	error = PTR_ERR_OR_ZERO(dir);
	if (!error) {
		error = ringwalk_tree_directory(tree, &plus, dir, RINGWALK_OFF_CURRENT,
						next.record, &flags);
		ringwalk_close(dir);
	}
	ringwalk_subdirectory_put(&next);
	return !error || ringwalk_tree_error(tree, next.record, next.depth, ringwalk_errno(error));
}

static bool ringwalk_tree_has_room(const struct ringwalk_tree *tree)
{
	const struct ringwalk_readtree *request = tree->request;

	return tree->size - tree->used >= sizeof(struct ringwalk_group) &&
	       (!request->max_entries || tree->entries < request->max_entries) &&
	       tree->groups < RINGWALK_OPEN_MAX &&
	       !ringwalk_stopped_or_late(tree->deadline);
}

static int ringwalk_tree_copy(const struct ringwalk_tree *tree, u32 flags,
			      struct ringwalk_readtree __user *out)
{
	if (copy_to_user(u64_to_user_ptr(tree->request->buf), tree->data, tree->used) ||
	    put_user(tree->entries, &out->entries) || put_user(tree->groups, &out->groups) ||
	    put_user(flags, &out->result_flags))
		return -EFAULT;
	return 0;
}

static long ringwalk_tree_read(struct ringwalk_tree *tree, struct ringwalk_readtree __user *out)
{
	struct ringwalk_plus plus;
	u32 flags = 0;
	int error;

	error = ringwalk_tree_directory(tree, &plus, tree->root, tree->request->off, 0, &flags);
	if (error) {
		if (plus.names.entries)
			ringwalk_names_seek_back(&plus.names, tree->root, plus.names.start);
		return error;
	}
	while (tree->below.count && ringwalk_tree_has_room(tree)) {
		if (!ringwalk_tree_next(tree))
			break;
		cond_resched();
	}
	if (fatal_signal_pending(current))
		error = -EINTR;
	else
		error = ringwalk_tree_copy(tree, flags, out);
	if (!error)
		return tree->used;
	ringwalk_names_seek_back(&plus.names, tree->root, plus.names.start);
	return error;
}

static long ringwalk_readtree(struct ringwalk_pool *pool, struct ringwalk_readtree *request,
			      struct ringwalk_readtree __user *out, struct file *dir)
{
	struct ringwalk_tree tree = {
		.request = request,
		.root = dir,
		.size = round_down(min(request->len, RINGWALK_BUFFER_MAX), sizeof(u64)),
		.deadline = request->max_ms ? ktime_add_ms(ktime_get(), request->max_ms) :
					      KTIME_MAX,
	};
	struct ringwalk_buffer buffer;
	struct ringwalk_wanted wanted;
	long result;

	result = ringwalk_get_wanted(pool, &wanted, &request->fields, request->flags,
				     request->len);
	if (result)
		return result;
	/* A directory is found by its lookup, which is made for metadata or attributes only. */
	result = ringwalk_wants_lookup(&wanted) ? 0 : -EINVAL;
	if (!result)
		result = ringwalk_buffer_get(pool, tree.size, &buffer);
	if (!result) {
		tree.wanted = &wanted;
		tree.data = buffer.data;
		result = ringwalk_tree_read(&tree, out);
		ringwalk_below_drop(&tree.below, 0);
		kvfree(tree.below.stack);
		ringwalk_buffer_put(pool, &buffer);
	}
	ringwalk_put_wanted(pool, &wanted);
	return result;
}

long ringwalk_do_readtree(struct ringwalk_pool *pool, void __user *arg)
{
	struct ringwalk_readtree request;
	struct file *dir;
	long result;

	result = ringwalk_copy_request(&request, sizeof(request), RINGWALK_READTREE_SIZE1,
				       RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL, arg);
	if (!result && request.len < sizeof(struct ringwalk_group))
		result = -EINVAL;
	if (result)
		return result;
	dir = ringwalk_get_directory_for_records(request.fd, request.buf, request.len);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	result = ringwalk_readtree(pool, &request, arg, dir);
	fput(dir);
	return result;
}
