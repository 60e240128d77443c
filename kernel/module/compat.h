/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, one section for each change of the kernel's internal interfaces. The
 * rest of the module is the same for all. Built and tested with 6.1, 6.12 and 7.3.
 */
#ifndef RINGWALK_COMPAT_H
#define RINGWALK_COMPAT_H

#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/security.h>
#include <linux/stat.h>
#include <linux/version.h>
#include <linux/xattr.h>

/*
 * Before 6.3 a user namespace maps the identifiers of an idmapped mount, and POSIX ACLs come from
 * vfs_getxattr(): see acl.c.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define ringwalk_idmap(mnt)	mnt_user_ns(mnt)
#define RINGWALK_ACL_BY_XATTR
#else
#define ringwalk_idmap(mnt)	mnt_idmap(mnt)
#endif

/* Since 6.4 follow_down() takes lookup flags. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define ringwalk_follow_down(path)	follow_down(path)
#else
#define ringwalk_follow_down(path)	follow_down(path, 0)
#endif

/* Declarations for commands through io_uring have their own header since 6.8. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#include <linux/io_uring.h>
#else
#include <linux/io_uring/cmd.h>
#endif

/* Functions for unaligned memory have another header since 6.12. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

/* Since 6.5 the payload of a command is reached through the submission entry. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define ringwalk_uring_payload(command)	((command)->cmd)
#else
#define ringwalk_uring_payload(command)	((const void *)(command)->sqe->cmd)
#endif

/*
 * In 6.1 a positive result of a command is lost in a worker thread, and breaks links in the
 * submitter. The request must be completed by hand. 6.12 is known to be right.
 */
static inline int ringwalk_uring_result(struct io_uring_cmd *cmd, int result,
					unsigned int issue_flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	io_uring_cmd_done(cmd, result, 0, issue_flags);
	return -EIOCBQUEUED;
#else
	return result;
#endif
}

/*
 * Returns true for a ring of a 32-bit task. Since 6.6 the ring itself says so. Before, the threads
 * of the task say it, its worker threads included: unlike in_compat_syscall(), whose answer in a
 * worker depends on where that was started.
 */
static inline bool ringwalk_uring_compat(unsigned int issue_flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return issue_flags & IO_URING_F_COMPAT;
#elif defined(CONFIG_X86_64)
	return test_thread_flag(TIF_ADDR32);
#else
	return in_compat_syscall();
#endif
}

/* Submitters can set flags of a command since registered buffers for commands exist. */
#ifndef IORING_URING_CMD_MASK
#ifdef IORING_URING_CMD_FIXED
#define IORING_URING_CMD_MASK	IORING_URING_CMD_FIXED
#else
#define IORING_URING_CMD_MASK	0
#endif
#endif

/* Since 6.16 the name to look up is a qstr. */
static inline struct dentry *ringwalk_lookup(struct vfsmount *mnt, struct dentry *dir,
					     const char *name, unsigned int len)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return lookup_one_positive_unlocked(ringwalk_idmap(mnt), name, dir, len);
#else
	return lookup_one_positive_unlocked(ringwalk_idmap(mnt), &QSTR_LEN(name, len), dir);
#endif
}

/* Since 6.16 a reader of directories declares the size of its buffer. */
static inline void ringwalk_set_count(struct dir_context *ctx, u32 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	ctx->count = min_t(u32, bytes, INT_MAX);
#endif
}

/*
 * Since 6.6 any task may close a file at once. Before, the file is closed when the task returns
 * from its system call, or ends its work for a ring.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
static inline void ringwalk_close(struct file *file)
{
	fput(file);
}

/* So many files may wait to be closed for one request. */
#define RINGWALK_OPEN_MAX	256
#else
static inline void ringwalk_close(struct file *file)
{
	__fput_sync(file);
}

#define RINGWALK_OPEN_MAX	U32_MAX
#endif

/*
 * Opens a directory for reading, and does what openat(2) does after dentry_open(): notifies
 * watchers of the open, which dentry_open() does itself since 6.5, and asks the security module
 * once more, since 6.9. The close of a file is always notified. Returns an errno as a pointer on
 * failure.
 */
static inline struct file *ringwalk_open_directory(const struct path *path, unsigned int flags)
{
	struct file *file = dentry_open(path, O_RDONLY | O_DIRECTORY | O_LARGEFILE | flags,
					current_cred());

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	if (!IS_ERR(file))
		fsnotify_open(file);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	if (!IS_ERR(file)) {
		int error = security_file_post_open(file, MAY_READ);

		if (error) {
			fput(file);
			file = ERR_PTR(error);
		}
	}
#endif
	return file;
}

/* Fields of kstat, with their bits: unique mount identifiers came in 6.8, subvolumes in 6.10. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE	0x00004000U
#endif
#ifdef STATX_SUBVOL
#define RINGWALK_KSTAT_SUBVOL
#else
#define STATX_SUBVOL		0x00008000U
#endif

static inline u64 ringwalk_kstat_subvol(const struct kstat *stat)
{
#ifdef RINGWALK_KSTAT_SUBVOL
	return stat->subvol;
#else
	return 0;
#endif
}

/* Since 6.5 some attributes are internal to the kernel. */
#ifndef STATX_ATTR_CHANGE_MONOTONIC
#define STATX_ATTR_CHANGE_MONOTONIC	0ULL
#endif

#endif /* RINGWALK_COMPAT_H */
