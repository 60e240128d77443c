//! One numbering for the file systems of two snapshots.
//!
//! `st_dev` may change at every mount, so it identifies no file system. The UUID does. Without a
//! UUID, type and mount point do. An imported snapshot may know none of them: then equal devices
//! are taken as the same file system, and others as unknown.

use crate::info::FileSystemInfo;
use std::collections::HashMap;

/// The number of a file system that may be any of the other snapshot's.
pub(super) const UNKNOWN: i64 = -1;

/// The number of each file system of each snapshot. A file system that both snapshots have has one
/// number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// For the column `fs` of the older snapshot.
    pub(super) old: Vec<i64>,
    /// For the column `fs` of the newer snapshot.
    pub(super) new: Vec<i64>,
}

impl Numbers {
    pub(super) fn of(old: &[FileSystemInfo], new: &[FileSystemInfo]) -> Self {
        let number = |(fs, number)| if is_placeless(fs) { UNKNOWN } else { number };
        let mut numbers = Self {
            old: old.iter().zip(0..).map(number).collect(),
            new: Vec::with_capacity(new.len()),
        };
        let mut is_taken = vec![false; old.len()];
        let mut next = i64::try_from(old.len()).unwrap_or(i64::MAX);
        let counts = (counts(old), counts(new));
        for fs in new {
            let partner = partner(fs, old, &is_taken, &counts);
            if let Some(at) = partner {
                is_taken[at] = true;
                numbers.old[at] = i64::try_from(at).unwrap_or(i64::MAX);
                numbers.new.push(numbers.old[at]);
            } else {
                numbers.new.push(number((fs, next)));
                next += 1;
            }
        }
        numbers
    }
}

/// Returns true if nothing but the device is known of a file system.
fn is_placeless(fs: &FileSystemInfo) -> bool {
    fs.uuid.is_none() && fs.mount_point.is_none()
}

/// The number of file systems with each UUID.
type Counts<'a> = HashMap<&'a str, usize>;

/// Counts the file systems with each UUID.
fn counts(all: &[FileSystemInfo]) -> Counts<'_> {
    let mut counts = HashMap::new();
    for uuid in all.iter().filter_map(|fs| fs.uuid.as_deref()) {
        *counts.entry(uuid).or_insert(0) += 1;
    }
    counts
}

/// Returns the file system of the older snapshot that is this one of the newer.
///
/// Several may have one UUID: subvolumes of btrfs, and a copy of a whole disk. Inode numbers are
/// then the same for different files, so mount point and type must agree, too. Subvolumes without a
/// mount of their own have the mount point of another one; of those, also the device must agree.
fn partner(
    fs: &FileSystemInfo,
    old: &[FileSystemInfo],
    is_taken: &[bool],
    counts: &(Counts<'_>, Counts<'_>),
) -> Option<usize> {
    let shares = |uuid: &str, counts: &Counts<'_>| counts.get(uuid).is_some_and(|n| *n > 1);
    let is_ambiguous = |uuid: &String| shares(uuid, &counts.0) || shares(uuid, &counts.1);
    let needs_place = fs.uuid.as_ref().is_none_or(is_ambiguous);
    let has_place = |old: &FileSystemInfo| {
        if is_placeless(fs) {
            return is_placeless(old) && old.device == fs.device;
        }
        fs.mount_point.is_some() && old.mount_point == fs.mount_point && old.kind == fs.kind
    };
    let candidates = || {
        old.iter().enumerate().filter(|(at, old)| {
            let is_same = match (&old.uuid, &fs.uuid) {
                (Some(old), Some(new)) => old == new,
                // One snapshot was made where the UUID could not be read.
                (None, Some(_)) | (Some(_), None) => has_place(old),
                (None, None) => true,
            };
            !is_taken[*at] && is_same && (!needs_place || has_place(old))
        })
    };
    let mut all = candidates();
    let first = all.next()?;
    if all.next().is_none() {
        return Some(first.0);
    }
    let same_device = candidates().find(|(_, old)| old.device == fs.device);
    same_device.map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
