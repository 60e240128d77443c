//! A leftover of a large directory, divided into several that can be read at the same time.

use super::{Promise, ResumePoint, next_entries, next_entry, promise, resume_point, seek};
use crate::sources::volume::open_root;
use crate::visit::leftover::{Leftover, ListedName, Remaining};
use crate::walk::descriptors::{identity, open_beneath};
use crate::walk::root::Root;
use ringwalk_sys::{DirectoryFd, magic};
use rustix::io::Errno;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Bytes that are read at a time for names.
const NAMES: usize = 256 * 1024;

/// Divides what remains of one directory into at most `ranges` ranges of about the same size. Each
/// entry is in exactly one of them, whatever is created and removed meanwhile among others. The
/// leftover is of one directory of the tree at `root`, as a walk has returned it.
///
/// Returns `None` where positions are not divided by value (ext4, XFS and btrfs divide them), if
/// the names are listed already, or if too little remains.
///
/// # Errors
///
/// The errors of opening the directory, of lseek(2) and getdents64(2). `ESTALE` if another
/// directory is at its place.
pub fn divide(
    root: &Root,
    leftover: &Leftover,
    ranges: NonZeroUsize,
) -> Result<Option<Vec<Leftover>>, Errno> {
    let (begin, end) = match leftover.remaining {
        Remaining::Whole => (0, None),
        Remaining::From { position, to } => (position, to),
        Remaining::Names(_) => return Ok(None),
    };
    let fd = open(root, leftover)?;
    if promise(&fd)? != Promise::ByValue {
        return Ok(None);
    }
    let last = match end {
        Some(end) => end,
        None => last_position(&fd, begin)?,
    };
    let ranges = i64::try_from(ranges.get()).unwrap_or(i64::MAX);
    let step = last.saturating_sub(begin) / ranges;
    if step == 0 || ranges < 2 {
        return Ok(None);
    }
    let divided = (0..ranges).map(|range| {
        let is_last = range == ranges - 1;
        let position = begin + range * step;
        let to = if is_last { end } else { Some(position + step) };
        Leftover {
            remaining: Remaining::From { position, to },
            read: 0,
            ..leftover.clone()
        }
    });
    Ok(Some(divided.collect()))
}

/// Reads names of what remains of one directory, for other walks to ask for their metadata. Returns
/// leftovers of at most `chunk` names each. After about `most` names it stops, if a walk can go on
/// there: the last leftover is the rest then.
///
/// # Errors
///
/// As [`divide`], and `EINVAL` if the names are listed already.
pub fn list_names(
    root: &Root,
    leftover: &Leftover,
    chunk: NonZeroUsize,
    most: NonZeroUsize,
) -> Result<Vec<Leftover>, Errno> {
    let (begin, to) = match leftover.remaining {
        Remaining::Whole => (0, None),
        Remaining::From { position, to } => (position, to),
        Remaining::Names(_) => return Err(Errno::INVAL),
    };
    if to.is_some() {
        // A range is divided by value.
        return Ok(vec![leftover.clone()]);
    }
    let fd = open(root, leftover)?;
    seek(&fd, begin)?;
    let mut listed = Vec::new();
    let mut names = Vec::new();
    let mut total = 0;
    let of = |remaining| Leftover {
        remaining,
        read: 0,
        ..leftover.clone()
    };
    loop {
        let before = total;
        next_entries(&fd, NAMES, |name, file_type, ino| {
            total += 1;
            let name = name.to_vec();
            names.push(ListedName {
                name,
                file_type,
                ino,
            });
            if names.len() == chunk.get() {
                listed.push(of(Remaining::Names(std::mem::take(&mut names))));
            }
        })?;
        if total == before {
            break;
        }
        if total < most.get() {
            continue;
        }
        match resume_point(&fd)? {
            ResumePoint::At(position) => {
                let to = None;
                listed.push(of(Remaining::From { position, to }));
                break;
            }
            ResumePoint::Lost(errno) => return Err(errno),
            ResumePoint::AtEnd | ResumePoint::Declined => {}
        }
    }
    if !names.is_empty() {
        listed.push(of(Remaining::Names(names)));
    }
    Ok(listed)
}

/// Opens the directory of a leftover for reading.
fn open(root: &Root, leftover: &Leftover) -> Result<Arc<DirectoryFd>, Errno> {
    let top = Arc::new(DirectoryFd::from(open_root(root, true)?));
    let fd = if leftover.path.is_empty() {
        top
    } else {
        open_beneath(&top, &leftover.path)?
    };
    let found = identity(&*fd)?;
    match leftover.identity {
        Some(identity) if identity.ino != found.ino => Err(Errno::STALE),
        _ => Ok(fd),
    }
}

/// Returns a position beyond every position that an entry can have on this file system.
fn beyond_all(fd: &DirectoryFd) -> Result<i64, Errno> {
    Ok(match magic::of(fd)? {
        // Positions have 31 bits. If a position is larger, a directory of one block uses its low 32
        // bits (`xfs_dir2_block_getdents` of fs/xfs/xfs_dir2_readdir.c).
        magic::XFS => 1 << 31,
        _ => i64::MAX,
    })
}

/// Returns a position behind which there is no entry, and before which there is one. Positions
/// rise, so the last one is found by halving what remains of their range.
fn last_position(fd: &DirectoryFd, begin: i64) -> Result<i64, Errno> {
    let (mut has, mut has_not) = (begin, beyond_all(fd)?);
    while has_not - has > 1 {
        let middle = has + (has_not - has) / 2;
        // A position beyond the range of the file system is refused.
        let found = match seek(fd, middle) {
            Ok(()) => next_entry(fd)?.is_some(),
            Err(Errno::INVAL) => false,
            Err(errno) => return Err(errno),
        };
        if found {
            has = middle;
        } else {
            has_not = middle;
        }
    }
    Ok(has_not)
}
