//! Kinds of file systems, as far as they matter for reading directories.

use crate::system::device;
use ringwalk_sys::magic;
use rustix::fs::{fstat, major, minor};
use std::os::fd::AsFd;

/// File systems whose directories come from a server or a daemon, where each `getdents64` is a
/// round trip.
const REMOTE: [u64; 11] = [
    magic::FUSE, // since Linux 6.16 its requests are as large as the caller's buffer
    magic::NFS,
    magic::CIFS,
    magic::SMB2,
    magic::SMB,
    magic::CEPH,
    magic::V9FS,
    magic::LUSTRE,
    magic::AFS,
    magic::GFS2,
    magic::OCFS2,
];

/// Bytes of the buffer for such a file system. Every `getdents64` has at least half of it. On
/// `GlusterFS` 4 KiB brought 16 entries a call, 32 KiB 125, 128 KiB and more 500, which is what its
/// server sends at most.
const REMOTE_BUFFER: usize = 256 * 1024;

/// Returns the size of a buffer, larger than for a local file system, with which the file system of
/// `fd` is faster. `None` for local file systems, and where the type is unknown, which only costs
/// time.
pub(crate) fn rewarded_buffer(fd: impl AsFd) -> Option<usize> {
    let found = magic::of(fd).ok()?;
    REMOTE.contains(&found).then_some(REMOTE_BUFFER)
}

/// Local file systems that set a directory's time of change at each change, by any process.
const SURE_CHANGE_TIMES: [u64; 6] = [
    magic::EXT4,
    magic::XFS,
    magic::BTRFS,
    magic::TMPFS,
    magic::F2FS,
    magic::OVERLAYFS, // the time of its upper directory, which all changes go to
];

/// Returns true if each change of a directory on the file system of `fd` sets its time of change
/// (`st_ctime`). False where the type is unknown.
pub(crate) fn has_sure_change_times(fd: impl AsFd) -> bool {
    magic::of(fd).is_ok_and(|found| SURE_CHANGE_TIMES.contains(&found))
}

/// File systems whose inode numbers come from the disk or the server, so that other processes and
/// machines see the same numbers.
const LASTING_INODES: [u64; 8] = [
    magic::EXT4,
    magic::XFS,
    magic::BTRFS,
    magic::NFS,
    magic::TMPFS,
    magic::CEPH,
    magic::LUSTRE,
    magic::F2FS,
];

/// Returns true if inode numbers of the file system of `fd` last: those that another process or
/// machine sees are the same. False where the type is unknown.
pub(crate) fn has_lasting_inodes(fd: impl AsFd) -> bool {
    magic::of(fd).is_ok_and(|found| LASTING_INODES.contains(&found))
}

/// Returns true if the inode number that a directory lists for a subdirectory is certainly the same
/// as from statx(2), except for mount points. On btrfs it can differ for subvolumes. False where
/// the type is unknown.
pub(crate) fn lists_inodes(fd: impl AsFd) -> bool {
    magic::of(fd).is_ok_and(|found| matches!(found, magic::EXT4 | magic::XFS | magic::TMPFS))
}

/// Returns true if the kernel reports the disk of the file system of `fd` as rotating. Only the
/// order of calls depends on it.
pub(crate) fn is_rotational(fd: impl AsFd) -> bool {
    let Ok(stat) = fstat(fd) else { return false };
    device::is_rotational(major(stat.st_dev), minor(stat.st_dev)).unwrap_or(false)
}
