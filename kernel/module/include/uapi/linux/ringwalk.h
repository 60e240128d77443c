/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Interface of the ringwalk module: directories with names, metadata and extended attributes, a
 * batch a request.
 *
 * A request is a structure in the caller's memory. It is given to /dev/ringwalk either
 *
 *  - by ioctl(2), with the structure's address as argument, or
 *  - by io_uring's IORING_OP_URING_CMD, with the same command number in ``cmd_op`` and a struct
 *    ringwalk_sqe in the 16 bytes of ``cmd`` of the submission entry.
 *
 * Both return the same: a negative errno, or what the command says. The structure and all it points
 * to must stay in place until the request has completed, as fields marked "out" are written then.
 * On failure they are not written. Rings of 32-bit tasks on 64-bit kernels are refused with
 * EOPNOTSUPP: some file systems give such tasks other positions, and a ring's worker threads cannot
 * tell. ioctl(2) is there for them.
 *
 * Every request begins with the version of this interface and flags. Another version is refused
 * with EPROTONOSUPPORT; unknown flags, unknown bits of a mask, and reserved fields that are not
 * zero with EINVAL; a command that the module does not know with ENOTTY.
 *
 * Descriptors named in requests are ordinary descriptors of the calling task (no registered files,
 * no O_PATH), open for reading. Each permission check and each security hook that getdents64(2),
 * statx(2) and getxattr(2) would meet is met here.
 */
#ifndef _UAPI_LINUX_RINGWALK_H
#define _UAPI_LINUX_RINGWALK_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * RINGWALK_VERSION - the version of this interface, for the ``version`` field of every request.
 */
#define RINGWALK_VERSION	1

/**
 * RINGWALK_MAGIC - what &struct ringwalk_info.magic holds: "ringwalk", in the order of its bytes
 * on little-endian machines.
 */
#define RINGWALK_MAGIC		0x6b6c6177676e6972ULL

/**
 * RINGWALK_BUFFER_MAX - bytes of output, and of names given to RINGWALK_IOC_STAT_BATCH, used in
 * one request; more is not an error.
 */
#define RINGWALK_BUFFER_MAX	(1U << 20)

/**
 * RINGWALK_F_INLINE - run the request in the task that submits it, even if it has to wait for a
 * device.
 *
 * Right for what is cached: nothing is handed to a thread. While it waits, the ring takes no other
 * submission. Without it a request submitted to a ring runs in one of the ring's worker threads, so
 * that many of them can wait at a time. By ioctl every request is inline.
 */
#define RINGWALK_F_INLINE	(1U << 0)
/**
 * RINGWALK_F_XATTR_ALL - every extended attribute that listxattr(2) would name, instead of those in
 * ``xattr_names``.
 */
#define RINGWALK_F_XATTR_ALL	(1U << 1)
/**
 * RINGWALK_F_XATTR_BLOCKS - RINGWALK_IOC_READAHEAD brings in the blocks of extended attributes as
 * well.
 */
#define RINGWALK_F_XATTR_BLOCKS	(1U << 2)

/**
 * RINGWALK_RESULT_END - in ``result_flags``: there is nothing after the entries given.
 */
#define RINGWALK_RESULT_END	(1U << 0)

/**
 * RINGWALK_OFF_CURRENT - in ``off``: from the directory's current position, which moves.
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
 * struct ringwalk_info - what the module is and can do.
 * @magic: RINGWALK_MAGIC (out)
 * @version: RINGWALK_VERSION of the module (out)
 * @flags: every RINGWALK_F_ flag that is known (out)
 * @commands: bit n is set if the command with the _IOC_NR 0xd0 + n is known (out)
 * @buffer_max: RINGWALK_BUFFER_MAX (out)
 * @stat_mask: the statx mask bits that may be asked for; those that the kernel or a file
 *	system cannot give are not set in &struct ringwalk_stat.mask (out)
 * @readahead_max: most bytes of names that one RINGWALK_IOC_READAHEAD holds (out)
 */
struct ringwalk_info {
	__u64 magic;
	__u32 version;
	__u32 flags;
	__u32 commands;
	__u32 buffer_max;
	__u32 stat_mask;
	__u32 readahead_max;
};

/**
 * struct ringwalk_getdents - names of a directory, as getdents64(2) gives them.
 * @version: RINGWALK_VERSION
 * @flags: RINGWALK_F_INLINE
 * @fd: the directory
 * @len: bytes at @buf; EINVAL if the next record does not fit, as with getdents64
 * @buf: where records (struct linux_dirent64) go
 * @off: RINGWALK_OFF_CURRENT, or a ``d_off`` got earlier from the same open file, 0 for the
 *	beginning; set as by lseek(2), under the same hold of the position lock
 * @result_flags: RINGWALK_RESULT_END, also together with the last records, so that no further
 *	request is needed (out)
 * @reserved: zero
 *
 * Returns bytes written, 0 at the end. RINGWALK_RESULT_END may be missing at the end of a directory
 * if the request ended early for another reason; then the next request returns 0. Where memory ends
 * within the records, those before are given, as by getdents64; EFAULT if there are none.
 */
struct ringwalk_getdents {
	__u32 version;
	__u32 flags;
	__s32 fd;
	__u32 len;
	__u64 buf;
	__s64 off;
	__u32 result_flags;
	__u32 reserved;
};

/**
 * struct ringwalk_fields - what is wanted of every entry.
 * @mask: STATX_ bits of &struct ringwalk_info.stat_mask; 0 for no metadata
 * @stat_flags: 0, AT_STATX_FORCE_SYNC or AT_STATX_DONT_SYNC; links are never followed,
 *	automounts never triggered
 * @xattr_names: names of extended attributes, each ended by a NUL; 0 for none
 * @xattr_names_len: bytes at @xattr_names, the last NUL included; at most 64 KiB (XATTR_LIST_MAX)
 * @xattr_value_max: a longer value is left out with the error E2BIG
 * @xattr_entry_max: most bytes of struct ringwalk_xattr records an entry; what does not fit
 *	sets RINGWALK_ENTRY_XATTR_CUT. Room for so much is kept free for each entry while names
 *	are read, so large values make small batches. At most 128 KiB, and less than the output
 *	buffer
 * @reserved: zero
 *
 * RINGWALK_F_XATTR_ALL goes without @xattr_names. A name that getxattr(2) would refuse (empty, or
 * longer than 255 bytes) is refused with ERANGE. The two limits have no meaning if no attributes
 * are wanted.
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
 * @version: RINGWALK_VERSION
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_ALL
 * @fd: the directory
 * @len: bytes at @buf
 * @buf: where &struct ringwalk_entry records go, aligned to 8 bytes
 * @off: as in &struct ringwalk_getdents
 * @max_entries: most records; 0 for as many as fit
 * @entries: records written (out)
 * @result_flags: as in &struct ringwalk_getdents (out)
 * @reserved: zero
 * @fields: what is wanted of every entry
 *
 * Records come in the order of the directory, including "." and "..". Of ".." only the name is
 * given: it may lie outside of the caller's root. Its record has no metadata and no error. Files
 * are looked up in the order of their inode numbers where that spares seeks. The position lock is
 * held while names are read only, so several requests may be in flight on one open directory,
 * each with the next piece of it. Returns bytes written, 0 at the end; EINVAL if the next record
 * does not fit. If the request fails after names were read, as when @buf turns out not to be
 * writable, the position goes back to where they began, unless another request has moved it
 * meanwhile.
 */
struct ringwalk_readdirplus {
	__u32 version;
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
 * struct ringwalk_stat_batch - metadata and extended attributes of names that are known.
 * @version: RINGWALK_VERSION
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_ALL
 * @fd: the directory that the names are in
 * @len: bytes at @buf
 * @buf: where &struct ringwalk_entry records go, aligned to 8 bytes
 * @names: struct linux_dirent64 records, whole ones, as getdents64(2) or
 *	RINGWALK_IOC_GETDENTS gave them; d_ino is a hint for the order and may be 0; d_off and
 *	d_type are copied to the answer
 * @names_len: bytes at @names
 * @names_done: bytes of @names that were answered; less than @names_len if @buf or
 *	RINGWALK_BUFFER_MAX was too small for all (out)
 * @entries: records written (out)
 * @reserved: zero
 * @fields: what is wanted of every name
 *
 * Records come in the order of @names, without names (name_len 0). "." is the directory itself;
 * ".." is refused with the error EXDEV in its record, a name with a slash or without bytes with
 * EINVAL, one that no path can end in (4096 bytes or more) with ENAMETOOLONG. Returns bytes
 * written.
 */
struct ringwalk_stat_batch {
	__u32 version;
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
 * struct ringwalk_readahead - brings the inodes of a directory's next entries into the kernel's
 * caches.
 * @version: RINGWALK_VERSION
 * @flags: RINGWALK_F_INLINE, RINGWALK_F_XATTR_BLOCKS
 * @fd: the directory; its position is not moved
 * @max_entries: most entries; 0 for as many as @max_bytes allows
 * @off: RINGWALK_OFF_CURRENT, or a d_off, 0 for the beginning
 * @max_bytes: most bytes of names and inode numbers held while they are sorted; 0 for 4 MiB,
 *	at most &struct ringwalk_info.readahead_max
 * @entries: entries brought in, or found to be there (out)
 * @next: the d_off for the next RINGWALK_IOC_READAHEAD to go on with (out); it is of an open file
 *	of its own, so where cookies are not for every open file, other commands cannot use it
 * @result_flags: RINGWALK_RESULT_END (out)
 * @reserved: zero
 *
 * Asynchronous as any request of a ring is: it completes when the inodes are there, and is cut
 * short when the task is killed. On a ring whose queue a thread polls, RINGWALK_F_INLINE has no
 * effect. Names that cannot be looked up are passed over. A request from the beginning (@off 0)
 * brings in the blocks of an ext4 directory of 8 and more first, in the order of the device, as
 * names alone are read from here and there; to learn where they are, up to half a MiB of memory is
 * mapped into the calling process for that time. Returns 0.
 */
struct ringwalk_readahead {
	__u32 version;
	__u32 flags;
	__s32 fd;
	__u32 max_entries;
	__s64 off;
	__u32 max_bytes;
	__u32 entries;
	__s64 next;
	__u32 result_flags;
	__u32 reserved;
};

/**
 * RINGWALK_ENTRY_STAT - the record has a &struct ringwalk_stat with what follows it. Not set if the
 * entry has an error, nor for "..".
 */
#define RINGWALK_ENTRY_STAT	(1U << 0)
/**
 * RINGWALK_ENTRY_XATTR_CUT - not all extended attributes fitted into xattr_entry_max bytes.
 */
#define RINGWALK_ENTRY_XATTR_CUT (1U << 1)

/**
 * struct ringwalk_entry - one entry of a batch.
 * @d_ino: inode number as the directory has it
 * @d_off: cookie of the position behind this entry
 * @reclen: bytes of this record, a multiple of 8
 * @xattr_len: bytes of &struct ringwalk_xattr records at the end of this record
 * @error: 0, or the negative errno that statx(2) would have failed with; ENOENT if the entry
 *	was removed meanwhile
 * @name_len: bytes of the name, without the NUL that follows it; 0 if there is no name
 * @d_type: DT_ value, DT_UNKNOWN if the directory does not say
 * @flags: RINGWALK_ENTRY_ flags
 *
 * After it come, each aligned to 8 bytes: the metadata if RINGWALK_ENTRY_STAT is set, the name with
 * a NUL if there is one, and @xattr_len bytes of extended attributes, which end the record. A
 * record with an error may be longer than its parts: what lies between them is zero. It may have
 * extended attributes.
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
 * struct ringwalk_stat - metadata of an entry; fields as in struct statx, with stx_mask's rules.
 * @mask: the fields that are valid
 * @blksize: preferred size of reads and writes, bytes
 * @attributes: STATX_ATTR_ bits
 * @attributes_mask: the bits of @attributes that are known
 * @nlink: hard links
 * @uid: owner, in the caller's user namespace
 * @gid: group, in the caller's user namespace
 * @mode: type and permissions
 * @reserved: zero
 * @ino: inode number; other than &struct ringwalk_entry.d_ino where something is mounted
 * @size: bytes
 * @blocks: units of 512 bytes
 * @dev_major: of the file system's device
 * @dev_minor: of the file system's device
 * @rdev_major: of the device, for device files
 * @rdev_minor: of the device, for device files
 *
 * It is followed by one group for each of these bits in the *requested* mask, in this order, so all
 * entries of a request have the same layout: STATX_ATIME, STATX_MTIME, STATX_CTIME, STATX_BTIME
 * (struct ringwalk_time each); STATX_MNT_ID or STATX_MNT_ID_UNIQUE (one __u64 for both);
 * STATX_DIOALIGN (__u32 dio_mem_align, __u32 dio_offset_align); STATX_SUBVOL (__u64). A group whose
 * bit is not in @mask is zero; @mask has no bit of a group that was not requested.
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
 * @error: 0, or the negative errno that getxattr(2) would have failed with, E2BIG for values
 *	over xattr_value_max
 * @name_len: bytes of the name, without the NUL that follows it
 *
 * After it come the name with a NUL and, directly behind it, the value. An attribute that is not
 * there (ENODATA, EOPNOTSUPP) has no record. If the names could not be listed for
 * RINGWALK_F_XATTR_ALL, the one record has an empty name and listxattr(2)'s error. Links are not
 * followed, as by lgetxattr(2).
 */
struct ringwalk_xattr {
	__u32 reclen;
	__u32 value_len;
	__s32 error;
	__u32 name_len;
};

#define RINGWALK_IOC_INFO	  _IOR('w', 0xd0, struct ringwalk_info)
#define RINGWALK_IOC_GETDENTS	  _IOWR('w', 0xd1, struct ringwalk_getdents)
#define RINGWALK_IOC_READDIRPLUS  _IOWR('w', 0xd2, struct ringwalk_readdirplus)
#define RINGWALK_IOC_STAT_BATCH	  _IOWR('w', 0xd3, struct ringwalk_stat_batch)
#define RINGWALK_IOC_READAHEAD	  _IOWR('w', 0xd4, struct ringwalk_readahead)

#if defined(__cplusplus)
#define RINGWALK_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define RINGWALK_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif

RINGWALK_ASSERT_SIZE(ringwalk_sqe, 16);
RINGWALK_ASSERT_SIZE(ringwalk_info, 32);
RINGWALK_ASSERT_SIZE(ringwalk_getdents, 40);
RINGWALK_ASSERT_SIZE(ringwalk_fields, 32);
RINGWALK_ASSERT_SIZE(ringwalk_readdirplus, 80);
RINGWALK_ASSERT_SIZE(ringwalk_stat_batch, 80);
RINGWALK_ASSERT_SIZE(ringwalk_readahead, 48);
RINGWALK_ASSERT_SIZE(ringwalk_entry, 32);
RINGWALK_ASSERT_SIZE(ringwalk_stat, 80);
RINGWALK_ASSERT_SIZE(ringwalk_time, 16);
RINGWALK_ASSERT_SIZE(ringwalk_xattr, 16);

#endif /* _UAPI_LINUX_RINGWALK_H */
