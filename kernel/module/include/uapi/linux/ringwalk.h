/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Interface of the ringwalk module. One request reads a batch of directory entries: names, metadata
 * and extended attributes.
 *
 * A request is a structure in the caller's memory. The caller passes it to /dev/ringwalk either
 *
 * - by ioctl(2), with the structure's address as argument, or
 * - by io_uring's IORING_OP_URING_CMD, with the same command number in ``cmd_op`` and a struct
 *   ringwalk_sqe in the 16 bytes of ``cmd`` of the submission entry.
 *
 * Both return a negative errno, or the result of the command. The structure and everything that it
 * points to must stay valid until the request has completed. The request then writes the fields
 * marked "out"; a request that fails does not write them. 32-bit tasks on 64-bit kernels may use
 * ioctl(2), with the positions that getdents64(2) gives to them. Their rings are refused with
 * EOPNOTSUPP: positions of some file systems would depend on the thread that runs the request.
 *
 * Every request begins with the size of its structure, as the caller knows it, and flags. Later
 * versions of the module may add fields at the end of a structure; 0 in such a field is what a
 * caller without it gets. The module refuses
 *
 * - a structure smaller than in its first version with EINVAL,
 * - a larger one than the module knows with E2BIG, unless the bytes that it does not know are zero,
 * - unknown flags, unknown bits of a mask, and nonzero reserved fields with EINVAL,
 * - unknown commands with ENOTTY.
 *
 * Descriptors named in requests are ordinary descriptors of the calling task (no registered files,
 * no O_PATH), open for reading. A request that a worker thread of a ring runs looks its descriptor
 * up when it begins to run, so a descriptor must stay open, and must not be given to another file,
 * until the request has completed. (With RINGWALK_F_INLINE the submission looks it up.) Each
 * permission check and each security hook of getdents64(2), statx(2) and getxattr(2) applies.
 *
 * Signals: a request ends early when its task gets a signal, or when a ring cancels it in a worker
 * thread. It then returns the entries that are done, at least one, and the position is behind the
 * last of them. The next request goes on from there. A task that is being killed gets nothing.
 */
#ifndef _UAPI_LINUX_RINGWALK_H
#define _UAPI_LINUX_RINGWALK_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * RINGWALK_VERSION - the version of this interface: &struct ringwalk_info.version. It changes only
 * if programs must change. Additions are recognised by &struct ringwalk_info.commands and flags.
 */
#define RINGWALK_VERSION	2

/**
 * RINGWALK_MAGIC - the value of &struct ringwalk_info.magic: the bytes of "ringwalk" in memory on
 * little-endian machines.
 */
#define RINGWALK_MAGIC		0x6b6c6177676e6972ULL

/**
 * RINGWALK_BUFFER_MAX - the largest number of bytes of output that one request uses, and of names
 * for RINGWALK_IOC_STAT_BATCH. A larger buffer is not an error.
 */
#define RINGWALK_BUFFER_MAX	(1U << 20)

/**
 * RINGWALK_F_INLINE - run the request in the submitting task, even if it must wait for a device.
 *
 * Use this flag for cached data: the request then needs no other thread. While it waits, the ring
 * accepts no other submission. Without the flag, a ring runs the request in one of its worker
 * threads, so many requests can wait at a time. With ioctl(2) every request is inline. On a ring
 * whose queue a thread polls, the flag has no effect.
 */
#define RINGWALK_F_INLINE	(1U << 0)
/**
 * RINGWALK_F_XATTR_ALL - return every extended attribute that listxattr(2) would name, instead of
 * those in ``xattr_names``.
 */
#define RINGWALK_F_XATTR_ALL	(1U << 1)
/**
 * RINGWALK_F_XATTR_BLOCKS - RINGWALK_IOC_READAHEAD also reads the blocks of extended attributes
 * into the cache.
 */
#define RINGWALK_F_XATTR_BLOCKS	(1U << 2)

/**
 * RINGWALK_RESULT_END - in ``result_flags``: no entry follows the returned ones.
 */
#define RINGWALK_RESULT_END	(1U << 0)

/**
 * RINGWALK_OFF_CURRENT - in ``off``: read from the current position of the directory, and move it.
 */
#define RINGWALK_OFF_CURRENT	(-1LL)

/**
 * struct ringwalk_sqe - the 16 bytes of ``cmd`` in a submission entry.
 * @request: address of the request's structure
 * @reserved: zero
 */
struct ringwalk_sqe {
	__u64 request;
	__u64 reserved;
};

/**
 * struct ringwalk_info - version and features of the module.
 * @size: size of this structure; the module fills in as much as fits (in), and returns the size
 *	that it knows (out)
 * @version: RINGWALK_VERSION of the module (out)
 * @magic: RINGWALK_MAGIC (out)
 * @flags: every RINGWALK_F_ flag that the module knows (out)
 * @commands: bit n is set if the module knows the command with the _IOC_NR n (out)
 * @buffer_max: RINGWALK_BUFFER_MAX (out)
 * @stat_mask: the statx mask bits that a request may have; bits that the kernel or a file system
 *	cannot answer are not set in &struct ringwalk_stat.mask (out)
 * @readahead_max: maximum bytes of names that one RINGWALK_IOC_READAHEAD holds (out)
 * @reserved: zero (out)
 */
struct ringwalk_info {
	__u32 size;
	__u32 version;
	__u64 magic;
	__u32 flags;
	__u32 commands;
	__u32 buffer_max;
	__u32 stat_mask;
	__u32 readahead_max;
	__u32 reserved;
};

/**
 * struct ringwalk_getdents - names of a directory, as getdents64(2) returns them.
 * @size: size of this structure
 * @flags: RINGWALK_F_INLINE
 * @fd: the directory
 * @len: bytes at @buf; EINVAL if the next record does not fit, as with getdents64
 * @buf: address of the buffer for records (struct linux_dirent64)
 * @off: RINGWALK_OFF_CURRENT, or an earlier ``d_off`` of the same open file, 0 for the beginning;
 *	the position is set as by lseek(2), under the same hold of the position lock
 * @result_flags: RINGWALK_RESULT_END, also together with the last records, so that no further
 *	request is needed (out)
 * @reserved: zero
 *
 * Returns the number of bytes written, 0 at the end. RINGWALK_RESULT_END may be missing at the end
 * of a directory if the request ended early for another reason; the next request then returns 0.
 * If @buf ends before @len, the request returns the records that fit, as getdents64 does; EFAULT if
 * none fits.
 */
struct ringwalk_getdents {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 len;
	__u64 buf;
	__s64 off;
	__u32 result_flags;
	__u32 reserved;
};

/**
 * struct ringwalk_fields - the wanted data of every entry.
 * @mask: STATX_ bits of &struct ringwalk_info.stat_mask; 0 for no metadata
 * @stat_flags: 0, AT_STATX_FORCE_SYNC or AT_STATX_DONT_SYNC; links are never followed, automounts
 *	never triggered
 * @xattr_names: names of extended attributes, each ended by a NUL; 0 for none
 * @xattr_names_len: bytes at @xattr_names, the last NUL included; at most 64 KiB (XATTR_LIST_MAX)
 * @xattr_value_max: a longer value is skipped with the error E2BIG
 * @xattr_entry_max: maximum bytes of struct ringwalk_xattr records for each entry; if not all
 *	fit, RINGWALK_ENTRY_XATTR_CUT is set. This space is reserved for each entry while names are
 *	read, so a large value makes small batches. At most 128 KiB, and less than the output buffer
 * @reserved: zero
 *
 * RINGWALK_F_XATTR_ALL excludes @xattr_names. A name that getxattr(2) would refuse (empty, or
 * longer than 255 bytes) is refused with ERANGE. If no attributes are wanted, the two limits are
 * ignored.
 */
struct ringwalk_fields {
	__u32 mask;
	__u32 stat_flags;
	__u64 xattr_names;
	__u32 xattr_names_len;
	__u32 xattr_value_max;
	__u32 xattr_entry_max;
	__u32 reserved;
};

/**
 * struct ringwalk_readdirplus - names of a directory with metadata and extended attributes.
 * @size: size of this structure
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_ALL
 * @fd: the directory
 * @len: bytes at @buf
 * @buf: address of the buffer for &struct ringwalk_entry records, aligned to 8 bytes
 * @off: as in &struct ringwalk_getdents
 * @max_entries: maximum number of records; 0 for as many as fit
 * @entries: records written (out)
 * @result_flags: as in &struct ringwalk_getdents (out)
 * @reserved: zero
 * @fields: the wanted data of every entry
 *
 * Records come in the order of the directory, including "." and "..". The record of ".." has only
 * its name, no metadata and no error, because ".." may lie outside of the caller's root. Files are
 * looked up in the order of their inode numbers where that saves seeks. The position lock is held
 * only while names are read. So several requests may be in flight on one open directory, and each
 * gets its next piece. If a signal ends a request after another one has read on, or while that
 * reads, or among many entries with one cookie, the entries that were not looked up have the error
 * EINTR; look them up by RINGWALK_IOC_STAT_BATCH or statx(2). The end that a request reports while
 * another one is in flight is not final: the other one sets the position back if it ends early or
 * fails. Read on until a request that was alone reports the end.
 *
 * Returns the number of bytes written, 0 at the end; EINVAL if the next record does not fit. If the
 * request fails after it read names, for example because @buf is not writable, it restores the
 * position, unless another request has moved the position meanwhile, or still reads while a signal
 * or a cancel ends this one.
 */
struct ringwalk_readdirplus {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 len;
	__u64 buf;
	__s64 off;
	__u32 max_entries;
	__u32 entries;
	__u32 result_flags;
	__u32 reserved;
	struct ringwalk_fields fields;
};

/**
 * struct ringwalk_stat_batch - metadata and extended attributes of known names.
 * @size: size of this structure
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_ALL
 * @fd: the directory with the names
 * @len: bytes at @buf
 * @buf: address of the buffer for &struct ringwalk_entry records, aligned to 8 bytes
 * @names: complete struct linux_dirent64 records of getdents64(2) or RINGWALK_IOC_GETDENTS; d_ino
 *	is a hint for the order and may be 0; d_off and d_type are copied to the answer
 * @names_len: bytes at @names
 * @names_done: bytes of @names that were answered; less than @names_len if @buf or
 *	RINGWALK_BUFFER_MAX was too small for all, or if a signal came (out)
 * @entries: records written (out)
 * @reserved: zero
 * @fields: the wanted data of every name
 *
 * Records come in the order of @names, without names (name_len 0). "." is the directory itself.
 * The record of a refused name has an error: EXDEV for "..", EINVAL for an empty name or one with a
 * slash, ENAMETOOLONG for one that is too long for any path (4096 bytes or more). Returns the
 * number of bytes written.
 */
struct ringwalk_stat_batch {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 len;
	__u64 buf;
	__u64 names;
	__u32 names_len;
	__u32 names_done;
	__u32 entries;
	__u32 reserved;
	struct ringwalk_fields fields;
};

/**
 * struct ringwalk_readahead - reads the inodes of a directory's next entries into the kernel's
 * caches.
 * @size: size of this structure
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_BLOCKS
 * @fd: the directory; its position is not moved
 * @max_entries: maximum number of entries; 0 for as many as @max_bytes allows
 * @off: RINGWALK_OFF_CURRENT, or a d_off, 0 for the beginning
 * @max_bytes: maximum bytes of names and inode numbers that are held for sorting; 0 for 4 MiB, at
 *	most &struct ringwalk_info.readahead_max
 * @entries: entries that were read or already cached (out)
 * @next: the d_off at which the next RINGWALK_IOC_READAHEAD continues (out); it belongs to another
 *	open file, so other commands cannot use it where cookies are valid for one open file only
 * @result_flags: RINGWALK_RESULT_END (out)
 * @reserved1: zero; it was the length of memory that the caller lent
 * @reserved2: zero; it was the address of that memory
 * @done: entries from @off on that a request has brought in before a signal ended it; 0 otherwise
 *	(in, out)
 * @reserved: zero
 *
 * Like any request of a ring, this request is asynchronous: it completes when the inodes are
 * cached. Names that cannot be looked up are skipped. Returns 0.
 *
 * If a signal ends the request, @next is where it began, RINGWALK_RESULT_END is not set, and @done
 * counts the entries that are done, in the order of their inode numbers. The same request with this
 * @done goes on with the others. @done is 0 again when all entries up to @next are done. If the
 * signal came while the names were read, the request does one entry, or none if only "." and ".."
 * were read; @next is behind it, and @done is 0. After a request with @done the following ones then
 * count entries again that were done.
 */
struct ringwalk_readahead {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 max_entries;
	__s64 off;
	__u32 max_bytes;
	__u32 entries;
	__s64 next;
	__u32 result_flags;
	__u32 reserved1;
	__u64 reserved2;
	__u32 done;
	__u32 reserved;
};

/**
 * struct ringwalk_readtree - entries of a directory and of the directories below it, with metadata
 * and extended attributes.
 * @size: size of this structure
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_ALL
 * @fd: the directory
 * @len: bytes at @buf
 * @buf: address of the buffer for &struct ringwalk_group, aligned to 8 bytes
 * @off: as in &struct ringwalk_getdents
 * @max_entries: maximum number of records; 0 for as many as fit
 * @max_depth: levels below @fd that are read; 0 for @fd alone
 * @max_ms: after this many milliseconds the request opens no directory, looks up no name that is
 *	not in the kernel's caches, and ends as if a signal had come; 0 for no limit. The names of
 *	an open directory are still read, and the first records are always completed.
 * @entries: records written (out)
 * @groups: groups written (out)
 * @result_flags: RINGWALK_RESULT_END if @fd has no more entries (out)
 * @fields: the wanted data of every entry, which must include metadata or attributes
 *
 * The first group has entries of @fd, like the output of RINGWALK_IOC_READDIRPLUS. If they do not
 * fit, the next request reads on. Each other group has all entries of one directory, or the error
 * of opening or reading it. A group comes after that of its parent, not always directly after it.
 *
 * A directory without RINGWALK_ENTRY_READ was not read: there was no room, no time, or a signal
 * came; a file system is mounted on it; it was moved or removed; it is too deep; or its file system
 * validates names each time they are used (FUSE, NFS, some of overlayfs). Before Linux 6.6 a
 * request reads at most 256 directories. The caller opens a directory that was not read by its
 * name, relative to its parent, and goes on there. The request never leaves the mount of @fd.
 *
 * A directory is opened with the checks of openat(2) with O_NOFOLLOW and O_DIRECTORY, with the
 * O_NOATIME of @fd, and needs no descriptor. Audit has no record of it. Returns the number of bytes
 * written, which is never 0: RINGWALK_RESULT_END marks the end. EINVAL if not even one record fits.
 */
struct ringwalk_readtree {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 len;
	__u64 buf;
	__s64 off;
	__u32 max_entries;
	__u32 max_depth;
	__u32 max_ms;
	__u32 entries;
	__u32 groups;
	__u32 result_flags;
	struct ringwalk_fields fields;
};

/**
 * struct ringwalk_group - the entries of one directory; &struct ringwalk_entry records follow.
 * @reclen: bytes of this group, a multiple of 8
 * @parent: offset in the output of the record that names the directory; 0 for the directory of the
 *	request
 * @depth: levels below the directory of the request
 * @entries: number of records
 * @error: 0, or the negative errno with which opening or reading the directory failed
 * @flags: RINGWALK_RESULT_END if these are all entries up to the end of the directory
 * @reserved: zero
 */
struct ringwalk_group {
	__u32 reclen;
	__u32 parent;
	__u32 depth;
	__u32 entries;
	__s32 error;
	__u32 flags;
	__u64 reserved;
};

/**
 * RINGWALK_ENTRY_STAT - the record has a &struct ringwalk_stat and its groups. The flag is not set
 * for an entry with an error, nor for "..".
 */
#define RINGWALK_ENTRY_STAT	(1U << 0)
/**
 * RINGWALK_ENTRY_XATTR_CUT - not all extended attributes fit into xattr_entry_max bytes.
 */
#define RINGWALK_ENTRY_XATTR_CUT (1U << 1)
/**
 * RINGWALK_ENTRY_READ - RINGWALK_IOC_READTREE: the entry is a directory, and a group of the same
 * output has its entries, or the error of opening or reading it.
 */
#define RINGWALK_ENTRY_READ	(1U << 2)

/**
 * struct ringwalk_entry - one entry of a batch.
 * @d_ino: inode number in the directory
 * @d_off: cookie of the position after this entry
 * @reclen: bytes of this record, a multiple of 8
 * @xattr_len: bytes of &struct ringwalk_xattr records at the end of this record
 * @error: 0, or the negative errno with which statx(2) would have failed; ENOENT if the entry was
 *	removed meanwhile
 * @name_len: bytes of the name, without the NUL that follows it; 0 if there is no name
 * @d_type: DT_ value, DT_UNKNOWN if the directory does not store the type
 * @flags: RINGWALK_ENTRY_ flags
 *
 * Three parts follow, each aligned to 8 bytes: the metadata if RINGWALK_ENTRY_STAT is set, the name
 * with a NUL if there is one, and @xattr_len bytes of extended attributes, which end the record. A
 * record with an error may be longer than its parts; the bytes between them are zero. Such a record
 * may have extended attributes.
 */
struct ringwalk_entry {
	__u64 d_ino;
	__u64 d_off;
	__u32 reclen;
	__u32 xattr_len;
	__s32 error;
	__u16 name_len;
	__u8 d_type;
	__u8 flags;
};

/**
 * struct ringwalk_stat - metadata of an entry; fields and mask as in struct statx.
 * @mask: the fields that are valid
 * @blksize: preferred size of reads and writes, bytes
 * @attributes: STATX_ATTR_ bits
 * @attributes_mask: the bits of @attributes that are valid
 * @nlink: hard links
 * @uid: owner, in the caller's user namespace
 * @gid: group, in the caller's user namespace
 * @mode: type and permissions
 * @reserved: zero
 * @ino: inode number; differs from &struct ringwalk_entry.d_ino at a mount point
 * @size: bytes
 * @blocks: units of 512 bytes
 * @dev_major: major number of the file system's device
 * @dev_minor: minor number of the file system's device
 * @rdev_major: major number of the device, for device files
 * @rdev_minor: minor number of the device, for device files
 *
 * One group follows for each of these bits in the *requested* mask, in this order, so all entries
 * of a request have the same layout: STATX_ATIME, STATX_MTIME, STATX_CTIME, STATX_BTIME (struct
 * ringwalk_time each); STATX_MNT_ID or STATX_MNT_ID_UNIQUE (one __u64 for both); STATX_DIOALIGN
 * (__u32 dio_mem_align, __u32 dio_offset_align); STATX_SUBVOL (__u64). A group whose bit is not in
 * @mask is zero; @mask has no bit of a group that was not requested.
 */
struct ringwalk_stat {
	__u32 mask;
	__u32 blksize;
	__u64 attributes;
	__u64 attributes_mask;
	__u32 nlink;
	__u32 uid;
	__u32 gid;
	__u16 mode;
	__u16 reserved;
	__u64 ino;
	__u64 size;
	__u64 blocks;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 rdev_major;
	__u32 rdev_minor;
};

/**
 * struct ringwalk_time - a time stamp, as struct statx_timestamp.
 * @sec: seconds since 1970-01-01 00:00 UTC
 * @nsec: nanoseconds, 0 to 999 999 999
 * @reserved: zero
 */
struct ringwalk_time {
	__s64 sec;
	__u32 nsec;
	__u32 reserved;
};

/**
 * struct ringwalk_xattr - one extended attribute.
 * @reclen: bytes of this record, a multiple of 8
 * @value_len: bytes of the value
 * @error: 0, or the negative errno with which getxattr(2) would have failed; E2BIG for values over
 *	xattr_value_max
 * @name_len: bytes of the name, without the NUL that follows it
 *
 * The name with a NUL follows, and directly after it the value. A missing attribute (ENODATA,
 * EOPNOTSUPP) has no record. If RINGWALK_F_XATTR_ALL could not list the names, there is one record
 * with an empty name and the error of listxattr(2). Links are not followed, as by lgetxattr(2).
 */
struct ringwalk_xattr {
	__u32 reclen;
	__u32 value_len;
	__s32 error;
	__u32 name_len;
};

/*
 * The numbers have no size, because the structures have it themselves and may grow. The block 0xd7
 * 00-1f is free in Documentation/userspace-api/ioctl/ioctl-number.rst of Linux 6.1 to 7.3.
 */
#define RINGWALK_IOC_TYPE	  0xd7
#define RINGWALK_IOC_INFO	  _IO(RINGWALK_IOC_TYPE, 0x00)
#define RINGWALK_IOC_GETDENTS	  _IO(RINGWALK_IOC_TYPE, 0x01)
#define RINGWALK_IOC_READDIRPLUS  _IO(RINGWALK_IOC_TYPE, 0x02)
#define RINGWALK_IOC_STAT_BATCH	  _IO(RINGWALK_IOC_TYPE, 0x03)
#define RINGWALK_IOC_READAHEAD	  _IO(RINGWALK_IOC_TYPE, 0x04)
#define RINGWALK_IOC_READTREE	  _IO(RINGWALK_IOC_TYPE, 0x05)

#if defined(__cplusplus)
#define RINGWALK_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define RINGWALK_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif

RINGWALK_ASSERT_SIZE(ringwalk_sqe, 16);
RINGWALK_ASSERT_SIZE(ringwalk_info, 40);
RINGWALK_ASSERT_SIZE(ringwalk_getdents, 40);
RINGWALK_ASSERT_SIZE(ringwalk_fields, 32);
RINGWALK_ASSERT_SIZE(ringwalk_readdirplus, 80);
RINGWALK_ASSERT_SIZE(ringwalk_stat_batch, 80);
RINGWALK_ASSERT_SIZE(ringwalk_readahead, 64);
RINGWALK_ASSERT_SIZE(ringwalk_readtree, 88);
RINGWALK_ASSERT_SIZE(ringwalk_group, 32);
RINGWALK_ASSERT_SIZE(ringwalk_entry, 32);
RINGWALK_ASSERT_SIZE(ringwalk_stat, 80);
RINGWALK_ASSERT_SIZE(ringwalk_time, 16);
RINGWALK_ASSERT_SIZE(ringwalk_xattr, 16);

#endif /* _UAPI_LINUX_RINGWALK_H */
