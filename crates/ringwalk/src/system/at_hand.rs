//! Tests whether this machine can answer a call without a server of a FUSE or network file system.
//!
//! Such a server may never reply. A thread that waits for it cannot be interrupted before that. So
//! a caller that must be able to give up asks this module first. If the answer may depend on a
//! server, the caller lets another thread make the call.

use crate::system::mounts::{self, Mount};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::sync::lock;
use ringwalk_sys::{RawFileType as FileType, Statx, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;

/// File systems that read directories and metadata without a server, by their names in mountinfo.
const LOCAL: [&str; 19] = [
    "bcachefs", "btrfs", "cgroup2", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs",
    "iso9660", "overlay", "proc", "ramfs", "squashfs", "sysfs", "tmpfs", "vfat", "xfs",
];

/// Returns true if the directory or file at `path` is on such a file system, and the kernel has the
/// whole path in memory. Asks no server.
///
/// The answer for a mount id and a device number is kept: a later mount with the same two numbers
/// gets the same answer.
pub fn is_local(path: impl AsRef<Path>) -> bool {
    let Ok(path) = CString::new(path.as_ref().as_os_str().as_bytes()) else {
        return true;
    };
    look(&path).is_ok_and(|file| is_local_file(&file))
}

/// Returns true if an open file is on a file system that needs no server.
pub fn is_local_file(file: impl AsFd) -> bool {
    known(file).is_ok_and(|found| is_on_local_mount(&found))
}

/// Returns the type of the file that a path leads to, if the kernel has it in memory. Returns
/// `None` if there is no such file.
///
/// # Errors
///
/// `EAGAIN`, among others, if the kernel does not have the path in memory.
pub(crate) fn type_of(path: &[u8]) -> Result<Option<FileType>, Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    match look(&path) {
        Ok(file) => known(file).map(|found| Some(found.file_type())),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Resolves a path without opening the file, as long as all of it is in memory (Linux 5.12).
fn look(path: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED)
}

/// Returns what the kernel has in memory of an open file. Its type and its device are right, as
/// they never change.
pub(crate) fn known(file: impl AsFd) -> Result<Metadata, Errno> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let mut stat = Statx::default();
    statx(file, c"", flags, Fields::TYPE.bits(), &mut stat)?;
    Ok(Metadata::from(&stat))
}

fn is_on_local_mount(found: &Metadata) -> bool {
    static KNOWN: Mutex<Option<HashMap<(u64, u64), bool>>> = Mutex::new(None);
    let key = (found.mnt_id, found.dev);
    let mut known = lock(&KNOWN);
    let known = known.get_or_insert_default();
    if let Some(local) = known.get(&key) {
        return *local;
    }
    // The kernel makes the table without asking a file system. If the table cannot be read, no file
    // system counts as local: that costs time, but changes no answer.
    let mounts = mounts::read().unwrap_or_default();
    let Some(local) = has_local_mount(&mounts, found) else {
        return false;
    };
    known.insert(key, local);
    local
}

/// Returns true if the mount of a file is a local file system. Looks the mount up by its id, as
/// files of btrfs have other device numbers than the table. Returns `None` if the table lacks the
/// id.
fn has_local_mount(mounts: &[Mount], found: &Metadata) -> Option<bool> {
    let mount = mounts.iter().find(|mount| mount.id == found.mnt_id)?;
    Some(LOCAL.iter().any(|name| mount.file_system == *name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_sys::magic;
    use std::fs;

    #[test]
    fn file_systems_made_by_the_kernel_are_local() {
        let proc = fs::File::open("/proc").unwrap();
        assert!(is_local("/proc"));
        assert!(is_local_file(&proc));
        assert!(!is_local("/proc/nothing of this name"));
    }

    #[test]
    fn the_mount_of_a_file_decides() {
        let table = b"30 1 0:40 / / rw - btrfs /dev/sda rw\n31 30 0:41 / /f rw - fuse.x x rw\n";
        let mounts = mounts::parse(table).unwrap();
        let mut found = known(fs::File::open("/").unwrap()).unwrap();
        // The device number of a subvolume, which no line of the table has.
        found.dev = 52;
        for (id, local) in [(30, Some(true)), (31, Some(false)), (32, None)] {
            found.mnt_id = id;
            assert_eq!(has_local_mount(&mounts, &found), local, "{id}");
        }
    }

    #[test]
    fn types_are_those_of_the_targets_of_links() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(".", dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
        let ask = |name: &str| type_of(dir.path().join(name).as_os_str().as_bytes());
        // These calls bring the paths into memory.
        fs::metadata(dir.path().join("link")).unwrap();
        fs::metadata(dir.path().join("dangling")).unwrap_err();
        // A renaming elsewhere at the same moment is a reason for EAGAIN too.
        let answer = (0..1000)
            .map(|_| ask("link"))
            .find(|answer| *answer != Err(Errno::AGAIN));
        // XFS never reads a link without waiting (fs/xfs/xfs_iops.c, `xfs_vn_get_link`).
        let opened = fs::File::open(dir.path()).unwrap();
        if answer.is_some() || magic::of(&opened).unwrap() != magic::XFS {
            assert_eq!(answer, Some(Ok(Some(FileType::Directory))));
        }
        assert!(matches!(ask("dangling"), Ok(None) | Err(Errno::AGAIN)));
    }
}
