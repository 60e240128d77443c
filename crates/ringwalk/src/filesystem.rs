//! What a file system is like, as far as it matters for reading directories.

use crate::device;
use rustix::fs::{fstat, fstatfs, major, minor};
use std::os::fd::AsFd;

/// File systems whose directories come from a server or a daemon, where each `getdents64` is a round trip: by `f_type`,
/// from `include/uapi/linux/magic.h` and statfs(2).
const REMOTE: [u64; 11] = [
    0x6573_5546, // FUSE and virtiofs: since Linux 6.16 its requests are as large as the caller's buffer
    0x6969,      // NFS
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x517b,      // SMB
    0x00c3_6400, // Ceph
    0x0102_1997, // 9P
    0x0bd0_0bd0, // Lustre
    0x5346_414f, // AFS
    0x0116_1970, // GFS2
    0x7461_636f, // OCFS2
];

/// Bytes of the buffer for such a file system, half of which every `getdents64` has at least. On `GlusterFS` 4 KiB brought
/// 16 entries a call, 32 KiB 125, 128 KiB and more 500, which is what its server sends at most.
const REMOTE_BUFFER: usize = 256 * 1024;

/// The buffer that the file system of `fd` rewards, if it is a larger one than a local file system
/// needs. That it cannot be told only costs time.
pub(crate) fn rewarded_buffer(fd: impl AsFd) -> Option<usize> {
    let f_type = fstatfs(fd).ok()?.f_type;
    // Magic numbers have 32 bits, and a signed field of that size has its sign extended.
    let magic = f_type.cast_unsigned() & 0xffff_ffff;
    REMOTE.contains(&magic).then_some(REMOTE_BUFFER)
}

/// File systems of this machine whose directories bear the time of their last change, whoever made it: by `f_type` again.
const SURE_CHANGE_TIMES: [u64; 6] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0xf2f5_2010, // F2FS
    0x794c_7630, // overlayfs: its upper directory's, which all changes go to
];

/// Whether a directory of the file system of `fd` that was changed tells so by its time of change
/// (`st_ctime`). One of which nothing can be told does not.
pub(crate) fn has_sure_change_times(fd: impl AsFd) -> bool {
    fstatfs(fd).is_ok_and(|found| {
        let f_type = found.f_type.cast_unsigned() & 0xffff_ffff;
        SURE_CHANGE_TIMES.contains(&f_type)
    })
}

/// Whether the file system of `fd` is on a disk that the kernel takes for a rotating one. Only the
/// order of calls depends on it.
pub(crate) fn is_rotational(fd: impl AsFd) -> bool {
    let Ok(stat) = fstat(fd) else { return false };
    device::is_rotational(major(stat.st_dev), minor(stat.st_dev)).unwrap_or(false)
}
