// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about names and attributes: lookups, and operations that make, move or remove names.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "mirror.h"

static void reply_entry(const struct fuse_in_header *in, int made, const char *name)
{
	struct fuse_entry_out entry;

	if (made < 0 || enter(in->nodeid, name, &entry) < 0)
		reply_status(in, -1);
	else
		reply(in, 0, &entry, sizeof(entry));
}

static void reply_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = 1 };
	struct stat stat;

	if (fstat(fd_of(in->nodeid), &stat)) {
		reply_status(in, -1);
		return;
	}
	out.attr = attr_of(&stat);
	reply(in, 0, &out, sizeof(out));
}

static struct timespec time_to_set(unsigned int valid, unsigned int bit, unsigned int now_bit, uint64_t sec, uint32_t nsec)
{
	if (valid & now_bit)
		return (struct timespec){ .tv_nsec = UTIME_NOW };
	if (!(valid & bit))
		return (struct timespec){ .tv_nsec = UTIME_OMIT };
	return (struct timespec){ .tv_sec = sec, .tv_nsec = nsec };
}

static void set_attr(const struct fuse_in_header *in, const struct fuse_setattr_in *set)
{
	const char *path = path_of(in->nodeid);
	int ret = 0;

	if (set->valid & (FATTR_UID | FATTR_GID))
		ret = fchownat(fd_of(in->nodeid), "", set->valid & FATTR_UID ? set->uid : -1u,
			       set->valid & FATTR_GID ? set->gid : -1u, AT_EMPTY_PATH);
	if (!ret && set->valid & FATTR_MODE)
		ret = chmod(path, set->mode & 07777);
	if (!ret && set->valid & FATTR_SIZE)
		ret = truncate(path, set->size);
	if (!ret && set->valid & (FATTR_ATIME | FATTR_MTIME)) {
		struct timespec times[2] = {
			time_to_set(set->valid, FATTR_ATIME, FATTR_ATIME_NOW, set->atime, set->atimensec),
			time_to_set(set->valid, FATTR_MTIME, FATTR_MTIME_NOW, set->mtime, set->mtimensec),
		};

		ret = utimensat(AT_FDCWD, path, times, 0);
	}
	if (ret)
		reply_status(in, -1);
	else
		reply_attr(in);
}

/* A new file belongs to the caller. */
int give_to_caller(const struct fuse_in_header *in, const char *name, int made)
{
	if (made < 0 || (!in->uid && !in->gid))
		return made;
	return fchownat(fd_of(in->nodeid), name, in->uid, in->gid, AT_SYMLINK_NOFOLLOW);
}

/* getxattr and listxattr: the size if the caller asks for it, else the bytes. */
static void reply_bytes(const struct fuse_in_header *in, uint32_t size, ssize_t got)
{
	struct fuse_getxattr_out out = { .size = got };

	if (got < 0)
		reply_status(in, -1);
	else if (!size)
		reply(in, 0, &out, sizeof(out));
	else
		reply(in, 0, answer, got);
}

/* Links and special files have their attributes too; /proc/self/fd leads to the node itself. */
static void attributes(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_getxattr_in *get = body;
	const struct fuse_setxattr_in *set = body;
	const char *path = path_of(in->nodeid), *name;
	/* Without FUSE_SETXATTR_EXT the structure is shorter. */
	const char *set_name = (const char *)body + FUSE_COMPAT_SETXATTR_IN_SIZE;
	uint32_t size = get->size < sizeof(answer) ? get->size : sizeof(answer);

	name = (const char *)(get + 1);
	switch (in->opcode) {
	case FUSE_GETXATTR:
		reply_bytes(in, get->size, getxattr(path, name, answer, size));
		return;
	case FUSE_LISTXATTR:
		reply_bytes(in, get->size, listxattr(path, answer, size));
		return;
	case FUSE_SETXATTR:
		reply_status(in, setxattr(path, set_name, set_name + strlen(set_name) + 1, set->size, set->flags));
		return;
	case FUSE_REMOVEXATTR:
		reply_status(in, removexattr(path, body));
		return;
	}
}

static void rename_entry(const struct fuse_in_header *in, uint64_t folder, unsigned int flags, const char *name)
{
	reply_status(in, syscall(__NR_renameat2, fd_of(in->nodeid), name, fd_of(folder), name + strlen(name) + 1, flags));
}

static void link_entry(const struct fuse_in_header *in, const struct fuse_link_in *request)
{
	const char *name = (const char *)(request + 1);

	reply_entry(in, linkat(AT_FDCWD, path_of(request->oldnodeid), fd_of(in->nodeid), name, AT_SYMLINK_FOLLOW), name);
}

static void read_link(const struct fuse_in_header *in)
{
	ssize_t len = readlinkat(fd_of(in->nodeid), "", answer, sizeof(answer));

	reply(in, len < 0 ? -errno : 0, answer, len < 0 ? 0 : len);
}

bool serve_names(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_mknod_in *mknod = body;
	const struct fuse_mkdir_in *mkdir = body;
	const char *name = body;
	int folder = fd_of(in->nodeid);

	switch (in->opcode) {
	case FUSE_LOOKUP:
		reply_entry(in, 0, name);
		return true;
	case FUSE_MKNOD:
		name = (const char *)(mknod + 1);
		reply_entry(in, give_to_caller(in, name, mknodat(folder, name, mknod->mode, mknod->rdev)), name);
		return true;
	case FUSE_MKDIR:
		name = (const char *)(mkdir + 1);
		reply_entry(in, give_to_caller(in, name, mkdirat(folder, name, mkdir->mode)), name);
		return true;
	case FUSE_SYMLINK:
		reply_entry(in, give_to_caller(in, name, symlinkat(name + strlen(name) + 1, folder, name)), name);
		return true;
	case FUSE_LINK:
		link_entry(in, body);
		return true;
	case FUSE_UNLINK:
		reply_status(in, unlinkat(folder, name, 0));
		return true;
	case FUSE_RMDIR:
		reply_status(in, unlinkat(folder, name, AT_REMOVEDIR));
		return true;
	case FUSE_RENAME:
		rename_entry(in, ((const struct fuse_rename_in *)body)->newdir, 0, name + sizeof(struct fuse_rename_in));
		return true;
	case FUSE_RENAME2:
		rename_entry(in, ((const struct fuse_rename2_in *)body)->newdir, ((const struct fuse_rename2_in *)body)->flags,
			     name + sizeof(struct fuse_rename2_in));
		return true;
	}
	return false;
}

bool serve_attributes(const struct fuse_in_header *in, const void *body)
{
	switch (in->opcode) {
	case FUSE_GETATTR:
		reply_attr(in);
		return true;
	case FUSE_SETATTR:
		set_attr(in, body);
		return true;
	case FUSE_READLINK:
		read_link(in);
		return true;
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
	case FUSE_SETXATTR:
	case FUSE_REMOVEXATTR:
		attributes(in, body);
		return true;
	}
	return false;
}
