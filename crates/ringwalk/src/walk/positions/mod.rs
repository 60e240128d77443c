//! Positions in directories: where another walk can go on.
//!
//! A position is the `d_off` of getdents64(2), which lseek(2) takes. POSIX promises it for one open
//! file only. What more a file system promises differs:
//!
//! | file systems | positions | so |
//! |---|---|---|
//! | ext2, ext3, ext4 | hash of the name, or offset | lasting, and divided by value |
//! | XFS | offset in the data of the directory | the same |
//! | btrfs | index of the entry | the same |
//! | NFS | cookie of the server | lasting |
//! | tmpfs, since Linux 6.6 | number of the entry | lasting |
//! | tmpfs before, ramfs, overlayfs | number of entries before it, or that of a layer | only for the open file |
//! | others | not known | lasting if a probe says so |
//!
//! *Lasting*: after a seek of another open file to that position, the same entries follow.
//! *Divided by value*: an entry keeps its position while it exists, and positions rise.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | what a file system promises; seeking; the probe |
//! | `range.rs` | ranges of positions: which entries of a directory belong to one |
//! | `divide.rs` | a leftover of a large directory, divided into several |

mod divide;
mod range;

pub use divide::{divide, list_names};
pub(crate) use range::cut;

use crate::sources::raw_batch::RawBatch;
use crate::system::mounts;
use crate::visit::metadata::Metadata;
use crate::walk::descriptors::open_directory;
use ringwalk_sys::magic;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType, Statx, statx};
use rustix::fs::{AtFlags, SeekFrom};
use rustix::io::{Errno, retry_on_intr};
use std::sync::Arc;

/// What the positions of a directory are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// Lasting, and divided by value.
    ByValue,
    Lasting,
    /// Only for the open file.
    OpenFile,
    Unknown,
}

/// How another walk can go on in a directory that was read in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumePoint {
    /// From this position.
    At(i64),
    /// Nothing remains.
    AtEnd,
    /// It cannot.
    Declined,
    /// Nobody can: the position of the open file was lost.
    Lost(Errno),
}

/// Bytes of a probe: about 100 entries on a local file system, and more than the longest record on
/// each.
const PROBE: usize = 4096;

fn promise(fd: &DirectoryFd) -> Result<Promise, Errno> {
    Ok(match magic::of(fd)? {
        magic::EXT4 | magic::XFS | magic::BTRFS => Promise::ByValue,
        magic::NFS => Promise::Lasting,
        // Before Linux 6.6 a position is the number of the entries before it, which changes.
        magic::TMPFS if kernel_is_at_least(6, 6) => Promise::Lasting,
        // On ramfs this is still so, and on overlayfs in a directory of several layers
        // (`ovl_seek_cursor` of fs/overlayfs/readdir.c). The result of a probe does not last there.
        magic::TMPFS | magic::RAMFS | magic::OVERLAYFS => Promise::OpenFile,
        _ => Promise::Unknown,
    })
}

/// Returns true if a directory is the root of a mount. False before Linux 5.8.
pub(crate) fn is_mount_root(fd: &DirectoryFd) -> Result<bool, Errno> {
    let mut stat = Statx::default();
    statx(fd, c"", AtFlags::EMPTY_PATH, 0, &mut stat)?;
    Ok(mounts::is_mount_root(&Metadata::from(&stat)))
}

/// Returns true if the running kernel has at least this version. False if its version cannot be
/// read: then less is promised.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(has_major)), Some(Ok(has_minor))) => (has_major, has_minor) >= (major, minor),
        _ => false,
    }
}

/// Moves the position of an open directory.
pub(crate) fn seek(fd: &DirectoryFd, position: i64) -> Result<(), Errno> {
    rustix::fs::seek(fd, SeekFrom::Start(position.cast_unsigned())).map(drop)
}

/// Returns how another walk can go on behind what was read of an open directory. The position of
/// the directory stays as it is.
pub(crate) fn resume_point(fd: &Arc<DirectoryFd>) -> Result<ResumePoint, Errno> {
    resume_point_at(fd, rustix::fs::tell(fd)?.cast_signed())
}

/// Returns how another walk can go on at the position of an open directory.
fn resume_point_at(fd: &Arc<DirectoryFd>, position: i64) -> Result<ResumePoint, Errno> {
    if position < 0 {
        // Servers choose the 64 bits of a cookie, and lseek(2) takes no negative position.
        return Ok(ResumePoint::Declined);
    }
    match promise(fd)? {
        Promise::ByValue | Promise::Lasting => Ok(ResumePoint::At(position)),
        Promise::OpenFile => Ok(ResumePoint::Declined),
        Promise::Unknown => probe(fd, position),
    }
}

/// Looks whether another open file of the directory goes on with the same entry as this one.
fn probe(fd: &Arc<DirectoryFd>, position: i64) -> Result<ResumePoint, Errno> {
    let here = next_entry(fd);
    // Whatever was found, this file goes on where it was.
    if let Err(errno) = seek(fd, position) {
        return Ok(ResumePoint::Lost(errno));
    }
    let Some(here) = here? else {
        return Ok(ResumePoint::AtEnd);
    };
    let other = open_directory(&**fd, c".", false)?;
    // A file system that refuses the position promises nothing.
    let there = seek(&other, position).and_then(|()| next_entry(&other));
    Ok(match there {
        Ok(Some(there)) if there == here => ResumePoint::At(position),
        _ => ResumePoint::Declined,
    })
}

/// Returns name and inode number of the next entry of an open directory. `None` at its end.
fn next_entry(fd: &DirectoryFd) -> Result<Option<(Vec<u8>, u64)>, Errno> {
    let mut found = None;
    next_entries(fd, PROBE, |name, _, ino| {
        found.get_or_insert_with(|| (name.to_vec(), ino));
    })?;
    Ok(found)
}

/// Calls `each` with name, type and inode number of the entries that one buffer of the directory
/// holds. `.` and `..` are left out. Without any entry the directory has ended.
fn next_entries(
    fd: &DirectoryFd,
    bytes: usize,
    mut each: impl FnMut(&[u8], FileType, u64),
) -> Result<(), Errno> {
    let mut batch = RawBatch::default();
    batch.records.reserve(bytes);
    loop {
        let read = retry_on_intr(|| batch.records.fill(fd))?;
        batch.records.index().map_err(|_| Errno::IO)?;
        if read == 0 || !batch.records.is_empty() {
            break;
        }
        // Only `.` and `..`.
        batch.clear();
    }
    let records = &batch.records;
    for index in 0..records.len() {
        let name = records.name(index).to_bytes();
        each(name, records.file_type(index), records.ino(index));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
