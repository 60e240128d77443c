//! Project ids, which statx(2) does not return: one more call for each entry, if a caller asks.
//!
//! ext4 and XFS read past the VFS bring the project ids of regular files and directories along.
//! This module asks the kernel for all others. It adds an id to metadata, or leaves
//! [`Fields::PROJECT_ID`] out of the mask where the id cannot be known:
//!
//! - the file system has no project ids, or has none for links and special files (ext4, btrfs);
//! - the kernel is older than 6.17, and the file is a link or a special file, or may not be opened;
//! - the file was replaced since `statx` was called, and this module opened it to ask.
//!
//! `file_getattr` looks up the name again. If another file has taken the name since `statx`, the id
//! is the id of that file. A call that fails for another reason, such as `EIO`, is an error of the
//! entry.
//!
//! `file_getattr(2)` (Linux 6.17) is asked first: it opens nothing. Without that call the file is
//! opened for `FS_IOC_FSGETXATTR`. Opening a device or a FIFO can have effects, so only a regular
//! file or a directory is opened: `O_PATH` gets hold of the file without opening it, and its type
//! and identity are checked before it is opened through `/proc/self/fd`.

use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::visit::metadata::{Fields, Identity, Metadata};
use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::{project_id, project_id_at};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// True once the kernel turns out to have no `file_getattr`.
static WITHOUT_CALL: AtomicBool = AtomicBool::new(false);

/// Adds the project id to the metadata of each entry that has metadata and lacks the id. Returns
/// the number of calls.
#[cold]
pub(crate) fn add_to_entries(raw: &mut RawBatch, place: NamesAt<'_>) -> u64 {
    let RawBatch {
        records,
        known,
        failed,
        ..
    } = raw;
    let mut calls = 0;
    for (index, known) in known.iter_mut().enumerate() {
        let (metadata, follow) = match known {
            Known::Metadata(metadata) => (metadata, false),
            Known::Followed(metadata) => (metadata, true),
            Known::Nothing | Known::Failed(_) => continue,
        };
        if !metadata.mask.contains(Fields::PROJECT_ID) {
            calls += 1;
            if let Err(errno) = add_at(metadata, place, index, records.name(index), follow) {
                *known = Known::Failed(errno);
                *failed += 1;
            }
        }
    }
    calls
}

/// Adds the project id of the entry `index` of `place` to its metadata.
///
/// # Errors
///
/// The errors of [`add`], and of opening the directory again.
pub(crate) fn add_at(
    metadata: &mut Metadata,
    place: NamesAt<'_>,
    index: usize,
    name: &CStr,
    follow: bool,
) -> Result<(), Errno> {
    match place {
        NamesAt::Directory(fd) => add(metadata, fd, name, follow),
        NamesAt::Unopened(directory) => match directory.open() {
            Ok(fd) => add(metadata, fd, name, follow),
            Err(errno) => unknown(errno).map(|_| ()),
        },
        NamesAt::Roots(roots) => match &roots[index].fd {
            Some(fd) => add(metadata, fd, c"", follow),
            None => add(metadata, CWD, name, follow),
        },
    }
}

/// Adds the project id of the file with this metadata: `name` below `base`, or `base` itself if the
/// name is empty.
///
/// # Errors
///
/// If a call fails, for example with `EIO` or `EMFILE`. An id that cannot be known is no failure.
pub(crate) fn add(
    metadata: &mut Metadata,
    base: impl AsFd,
    name: &CStr,
    follow: bool,
) -> Result<(), Errno> {
    // A descriptor may be one of `O_PATH`, which the kernel takes with a name only.
    let name = if name.is_empty() { c"." } else { name };
    if let Some(id) = ask(metadata, base.as_fd(), name, follow)? {
        metadata.project_id = id;
        metadata.mask |= Fields::PROJECT_ID;
    }
    Ok(())
}

/// Returns `None` after an error that leaves the id unknown: the file system has no ids, the file
/// may not be opened, or it has gone or become another. Returns any other error.
fn unknown(errno: Errno) -> Result<Option<u32>, Errno> {
    match errno {
        Errno::OPNOTSUPP
        | Errno::NOTTY
        | Errno::INVAL
        | Errno::NOSYS
        | Errno::ACCESS
        | Errno::PERM
        | Errno::NOENT
        | Errno::NOTDIR
        | Errno::LOOP => Ok(None),
        other => Err(other),
    }
}

/// Returns the project id, or `None` where it cannot be known.
fn ask(
    metadata: &Metadata,
    base: BorrowedFd<'_>,
    name: &CStr,
    follow: bool,
) -> Result<Option<u32>, Errno> {
    if !WITHOUT_CALL.load(Relaxed) {
        let mut flags = AtFlags::empty();
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        match retry_on_intr(|| project_id_at(base, name, flags)) {
            Ok(id) => return Ok(Some(id)),
            Err(Errno::NOSYS) => WITHOUT_CALL.store(true, Relaxed),
            // A filter of system calls answers this as well, so the file is opened.
            Err(Errno::PERM) => {}
            Err(errno) => return unknown(errno),
        }
    }
    open_and_ask(metadata, base, name, follow)
}

/// Returns the project id of a regular file or a directory, which is opened; `None` where it cannot
/// be known.
fn open_and_ask(
    metadata: &Metadata,
    base: BorrowedFd<'_>,
    name: &CStr,
    follow: bool,
) -> Result<Option<u32>, Errno> {
    if !is_file_or_directory(metadata.mode) {
        return Ok(None);
    }
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follow);
    let path = match retry_on_intr(|| openat(base, name, flags, Mode::empty())) {
        Ok(path) => path,
        Err(errno) => return unknown(errno),
    };
    let stat = fstat(&path)?;
    let found = Identity {
        dev: stat.st_dev,
        ino: stat.st_ino,
    };
    if metadata.identity() != Some(found) || !is_file_or_directory(stat.st_mode) {
        return Ok(None);
    }
    let path = format!("/proc/self/fd/{}", path.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| openat(CWD, &path, flags, Mode::empty()))
        .and_then(|file| retry_on_intr(|| project_id(&file)))
        .map(Some)
        .or_else(unknown)
}

/// Returns true for a regular file or a directory. Every kernel returns the project ids of these. A
/// source that has ids leaves other types to the kernel, so that a directory looks the same from
/// every source.
#[inline]
pub(crate) fn is_file_or_directory(mode: u32) -> bool {
    matches!(
        FileType::from_mode(mode),
        FileType::Regular | FileType::Directory
    )
}

#[cfg(test)]
mod tests;
