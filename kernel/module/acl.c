// SPDX-License-Identifier: GPL-2.0-only
/*
 * POSIX ACLs in the form of getxattr(2). The mount maps identifiers, and then the caller's user
 * namespace does. The kernel's general function for attributes does not do that. The place for a
 * value follows a name, so it has any alignment.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mnt_idmapping.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#ifdef RINGWALK_ACL_BY_XATTR

static void ringwalk_acl_map(struct posix_acl_xattr_header *header, ssize_t len)
{
	struct posix_acl_xattr_entry *entry = (void *)(header + 1);
	struct user_namespace *ns = current_user_ns();
	int count = posix_acl_xattr_count(len);

	if (ns == &init_user_ns || count <= 0 ||
	    header->a_version != cpu_to_le32(POSIX_ACL_XATTR_VERSION))
		return;
	for (; count--; entry++) {
		u32 id = le32_to_cpu(entry->e_id);

		if (entry->e_tag == cpu_to_le16(ACL_USER))
			id = from_kuid(ns, make_kuid(&init_user_ns, id));
		else if (entry->e_tag == cpu_to_le16(ACL_GROUP))
			id = from_kgid(ns, make_kgid(&init_user_ns, id));
		entry->e_id = cpu_to_le32(id);
	}
}

/*
 * vfs_getxattr() applies the mount's mapping, in terms of the initial user namespace. It writes an
 * ACL to aligned memory only.
 */
ssize_t ringwalk_acl_get(const struct path *path, const char *name, void *value, size_t size)
{
	void *aligned = value;
	ssize_t len;

	if (!IS_ALIGNED((unsigned long)value, __alignof__(struct posix_acl_xattr_entry))) {
		aligned = kvmalloc(size, GFP_KERNEL_ACCOUNT);
		if (!aligned)
			return -ENOMEM;
	}
	len = vfs_getxattr(ringwalk_idmap(path->mnt), path->dentry, name, aligned, size);
	if (value && len > 0) {
		ringwalk_acl_map(aligned, len);
		if (aligned != value)
			memcpy(value, aligned, len);
	}
	if (aligned != value)
		kvfree(aligned);
	return len;
}

#else

static u32 ringwalk_acl_id(const struct path *path, const struct posix_acl_entry *entry)
{
	struct user_namespace *fs_ns = path->dentry->d_sb->s_user_ns;
	struct user_namespace *ns = current_user_ns();
	struct mnt_idmap *idmap = mnt_idmap(path->mnt);

	switch (entry->e_tag) {
	case ACL_USER:
		return from_kuid(ns, vfsuid_into_kuid(make_vfsuid(idmap, fs_ns, entry->e_uid)));
	case ACL_GROUP:
		return from_kgid(ns, vfsgid_into_kgid(make_vfsgid(idmap, fs_ns, entry->e_gid)));
	default:
		return ACL_UNDEFINED_ID;
	}
}

static ssize_t ringwalk_acl_put(const struct path *path, const struct posix_acl *acl,
				struct posix_acl_xattr_header *header, size_t size)
{
	struct posix_acl_xattr_entry *entry = (void *)(header + 1);
	size_t len = posix_acl_xattr_size(acl->a_count);
	unsigned int i;

	if (!header)
		return len;
	if (len > size)
		return -ERANGE;
	put_unaligned_le32(POSIX_ACL_XATTR_VERSION, &header->a_version);
	for (i = 0; i < acl->a_count; i++, entry++) {
		put_unaligned_le16(acl->a_entries[i].e_tag, &entry->e_tag);
		put_unaligned_le16(acl->a_entries[i].e_perm, &entry->e_perm);
		put_unaligned_le32(ringwalk_acl_id(path, &acl->a_entries[i]), &entry->e_id);
	}
	return len;
}

/**
 * ringwalk_acl_get - reads an ACL as an extended attribute
 * @path: the file
 * @name: XATTR_NAME_POSIX_ACL_ACCESS or XATTR_NAME_POSIX_ACL_DEFAULT
 * @value: where the value is written, NULL to get its size only
 * @size: bytes at @value
 *
 * Return: bytes of the value, or a negative errno of getxattr(2).
 */
ssize_t ringwalk_acl_get(const struct path *path, const char *name, void *value, size_t size)
{
	struct posix_acl *acl = vfs_get_acl(mnt_idmap(path->mnt), path->dentry, name);
	ssize_t len;

	if (IS_ERR(acl))
		return PTR_ERR(acl);
	len = ringwalk_acl_put(path, acl, value, size);
	posix_acl_release(acl);
	return len;
}

#endif
