//! Answers that need no server of a FUSE or network file system, which may never reply.
//!
//! A thread that waits for a server of a FUSE or network file system cannot be interrupted before
//! that answers. A caller that must be able to give up asks here first, and has another thread make
//! the calls that this machine is not known to answer itself.

use crate::metadata::{Fields, Metadata};
use crate::mounts::{self, Mount};
use ringwalk_sys::{RawFileType as FileType, Statx, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// File systems whose directories are read and whose files are looked at without a server, by their
/// names in mountinfo.
const LOCAL: [&str; 19] = [
    "bcachefs", "btrfs", "cgroup2", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs",
    "iso9660", "overlay", "proc", "ramfs", "squashfs", "sysfs", "tmpfs", "vfat", "xfs",
];

/// Whether the directory or file that a path leads to is on such a file system, and the way to it
/// is in memory. Asks nobody.
///
/// A mount id and a device number that were a local file system's are taken for one later too.
pub fn is_local(path: impl AsRef<Path>) -> bool {
    let Ok(path) = CString::new(path.as_ref().as_os_str().as_bytes()) else {
        return true;
    };
    look(&path).is_ok_and(|file| is_local_file(&file))
}

/// The same for an open file.
pub fn is_local_file(file: impl AsFd) -> bool {
    known(file).is_ok_and(|found| is_on_local_mount(&found))
}

/// The type of what a path leads to, if that is in memory: `None` if there is no such file.
///
/// # Errors
///
/// `EAGAIN` among others, if it is not.
pub(crate) fn type_of(path: &[u8]) -> Result<Option<FileType>, Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    match look(&path) {
        Ok(file) => known(file).map(|found| Some(found.file_type())),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Goes along a path without opening what is there, as long as all of it is in memory (Linux 5.12).
fn look(path: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED)
}

/// What this machine knows of an open file: its type and its device, which never change, are right.
pub(crate) fn known(file: impl AsFd) -> Result<Metadata, Errno> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let mut stat = Statx::default();
    statx(file, c"", flags, Fields::TYPE.bits(), &mut stat)?;
    Ok(Metadata::from(&stat))
}

fn is_on_local_mount(found: &Metadata) -> bool {
    static KNOWN: Mutex<Option<HashMap<(u64, u64), bool>>> = Mutex::new(None);
    let key = (found.mnt_id, found.dev);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(local) = known.get(&key) {
        return *local;
    }
    // The table is made by the kernel, which asks no file system for it. If it cannot be read,
    // nothing is taken to be local: that costs time, and changes no answer.
    let mounts = mounts::read().unwrap_or_default();
    let Some(local) = has_local_mount(&mounts, found) else {
        return false;
    };
    known.insert(key, local);
    local
}

/// Whether a file is on a local file system, by the id of its mount; `None` if the table does not
/// have that. Files of btrfs have other device numbers than the table.
fn has_local_mount(mounts: &[Mount], found: &Metadata) -> Option<bool> {
    let mount = mounts.iter().find(|mount| mount.id == found.mnt_id)?;
    Some(LOCAL.iter().any(|name| mount.file_system == *name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_the_kernel_makes_itself_is_local() {
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
        // A subvolume's number, which no line has.
        found.dev = 52;
        for (id, local) in [(30, Some(true)), (31, Some(false)), (32, None)] {
            found.mnt_id = id;
            assert_eq!(has_local_mount(&mounts, &found), local, "{id}");
        }
    }

    #[test]
    fn types_are_those_of_what_links_lead_to() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(".", dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
        let ask = |name: &str| type_of(dir.path().join(name).as_os_str().as_bytes());
        // In memory, as it has been looked at.
        fs::metadata(dir.path().join("link")).unwrap();
        fs::metadata(dir.path().join("dangling")).unwrap_err();
        assert_eq!(ask("link"), Ok(Some(FileType::Directory)));
        assert!(matches!(ask("dangling"), Ok(None) | Err(Errno::AGAIN)));
    }
}
