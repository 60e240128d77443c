// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes extended attributes of an entry into the room at the end of its record. A value goes
 * directly to its place. Only if it does not fit, its size is read, to distinguish a value that is
 * longer than the caller's limit from one that is longer than the remaining room.
 */
#include <linux/string.h>

#include "internal.h"

/* Records of one entry; @used of @room bytes are used. */
struct ringwalk_xattrs {
	const struct path *path;
	const struct ringwalk_wanted *wanted;
	struct ringwalk_entry *entry;
	char *data;
	u32 used;
	u32 room;
};

static bool ringwalk_is_acl(const char *name)
{
	return !strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS) ||
	       !strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT);
}

static ssize_t ringwalk_xattr_get(const struct path *path, const char *name, void *value,
				  size_t size)
{
	if (ringwalk_is_acl(name))
		return ringwalk_acl_get(path, name, value, size);
	return vfs_getxattr(ringwalk_idmap(path->mnt), path->dentry, name, value, size);
}

/* Errors that callers see as a missing attribute. */
static bool ringwalk_xattr_absent(ssize_t len)
{
	return len == -ENODATA || len == -EOPNOTSUPP;
}

/*
 * Returns the length of the value, -E2BIG if it is longer than the caller's limit, or -ENOSPC if it
 * does not fit into @space. A value that grows meanwhile is read again.
 */
static ssize_t ringwalk_xattr_value(struct ringwalk_xattrs *xattrs, const char *name, char *value,
				    u32 space)
{
	u32 size = min(space, xattrs->wanted->xattr_value_max);
	unsigned int tries = 3;
	ssize_t len;

	while (tries--) {
		if (size) {
			len = ringwalk_xattr_get(xattrs->path, name, value, size);
			if (len != -ERANGE)
				return len;
		}
		len = ringwalk_xattr_get(xattrs->path, name, NULL, 0);
		if (len <= 0)
			return len;
		if (len > xattrs->wanted->xattr_value_max)
			return -E2BIG;
		if (len > space)
			return -ENOSPC;
	}
	return -ERANGE;
}

static void ringwalk_xattr_add(struct ringwalk_xattrs *xattrs, const char *name, u32 name_len,
			       int error)
{
	struct ringwalk_xattr *xattr = (void *)xattrs->data + xattrs->used;
	u32 head = sizeof(*xattr) + name_len + 1;
	u32 space = xattrs->room - xattrs->used;
	char *value = (char *)xattr + head;
	ssize_t len = error;

	if (ALIGN(head, sizeof(u64)) > space) {
		if (!error)
			error = ringwalk_xattr_get(xattrs->path, name, NULL, 0);
		if (!ringwalk_xattr_absent(error))
			xattrs->entry->flags |= RINGWALK_ENTRY_XATTR_CUT;
		return;
	}
	if (!error)
		len = ringwalk_xattr_value(xattrs, name, value, space - head);
	if (ringwalk_xattr_absent(len))
		return;
	if (len == -ENOSPC) {
		xattrs->entry->flags |= RINGWALK_ENTRY_XATTR_CUT;
		return;
	}
	xattr->error = len < 0 ? ringwalk_errno(len) : 0;
	xattr->value_len = len < 0 ? 0 : len;
	xattr->name_len = name_len;
	xattr->reclen = ALIGN(head + xattr->value_len, sizeof(u64));
	memcpy(xattr + 1, name, name_len + 1);
	memset(value + xattr->value_len, 0, xattr->reclen - head - xattr->value_len);
	xattrs->used += xattr->reclen;
}

static void ringwalk_xattr_add_names(struct ringwalk_xattrs *xattrs, const char *names, u32 len)
{
	const char *name;
	size_t name_len;

	for (name = names; name < names + len; name += name_len + 1) {
		name_len = strlen(name);
		ringwalk_xattr_add(xattrs, name, name_len, 0);
	}
}

/* A list that does not end in a NUL is an error. */
static void ringwalk_xattr_add_all(struct ringwalk_xattrs *xattrs)
{
	char *names = xattrs->wanted->xattr_list.data;
	ssize_t len = vfs_listxattr(xattrs->path->dentry, names, XATTR_LIST_MAX);

	if (len > 0 && names[len - 1])
		len = -EIO;
	if (len > 0)
		ringwalk_xattr_add_names(xattrs, names, len);
	else if (len < 0)
		ringwalk_xattr_add(xattrs, "", 0, len);
}

/**
 * ringwalk_xattr_fill - fills in the extended attributes of a file
 * @path: the file
 * @wanted: the wanted attributes and their limits
 * @entry: the file's record, with @wanted->xattr_room bytes reserved at its end
 */
void ringwalk_xattr_fill(const struct path *path, const struct ringwalk_wanted *wanted,
			 struct ringwalk_entry *entry)
{
	struct ringwalk_xattrs xattrs = {
		.path = path,
		.wanted = wanted,
		.entry = entry,
		.data = (char *)entry + entry->reclen - wanted->xattr_room,
		.room = wanted->xattr_room,
	};

	if (wanted->xattr_all)
		ringwalk_xattr_add_all(&xattrs);
	else
		ringwalk_xattr_add_names(&xattrs, wanted->xattr_names, wanted->xattr_names_len);
	entry->xattr_len = xattrs.used;
}
