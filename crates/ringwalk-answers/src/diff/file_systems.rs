//! One numbering for the file systems of two snapshots, and what their inode numbers prove.
//!
//! `ringwalk::identity` knows what names a file system. Here each one of the newer snapshot gets
//! the number of its partner of the older one. An imported snapshot may know nothing but devices:
//! then equal devices are taken as the same file system, and others as unknown.

use super::version::Version;
use ringwalk::identity::{IdentityTrust, KnownFileSystem, Sameness};
use ringwalk_snapshot::{Column, FileSystemInfo};
use std::collections::HashMap;

/// The number of a file system that may be any of the other snapshot's.
pub(super) const UNKNOWN: i64 = -1;

/// The number of each file system of each snapshot. A file system that both snapshots have has one
/// number.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers<'a> {
    /// For the column `fs` of the older snapshot.
    pub(super) old: Vec<i64>,
    /// For the column `fs` of the newer snapshot.
    pub(super) new: Vec<i64>,
    /// The file system of each number.
    known: Vec<KnownFileSystem<'a>>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(old: &'a [FileSystemInfo], new: &'a [FileSystemInfo]) -> Self {
        let own_number = |at| i64::try_from(at).unwrap_or(i64::MAX);
        let number = |(at, fs): (usize, &KnownFileSystem<'_>)| {
            if is_placeless(fs) {
                UNKNOWN
            } else {
                own_number(at)
            }
        };
        let old: Vec<_> = old.iter().map(FileSystemInfo::known).collect();
        let new: Vec<_> = new.iter().map(FileSystemInfo::known).collect();
        let mut numbers = Self {
            old: (0..).zip(&old).map(number).collect(),
            new: Vec::with_capacity(new.len()),
            known: old.clone(),
        };
        for (fs, partner) in new.iter().zip(partners(&old, &new)) {
            if let Some(at) = partner {
                if fs.kind.is_none() {
                    // If one of the two does not know its type, the type of the other cannot be
                    // trusted.
                    numbers.known[at] = *fs;
                }
                numbers.old[at] = own_number(at);
                numbers.new.push(own_number(at));
            } else {
                numbers.new.push(number((numbers.known.len(), fs)));
                numbers.known.push(*fs);
            }
        }
        numbers
    }

    /// Returns how far inode numbers can be trusted on the file system of this number.
    pub(super) fn trust(&self, number: i64) -> IdentityTrust {
        self.known(Some(number)).trust()
    }

    /// Returns how far inode numbers prove that two versions of one path are one file, or `None` if
    /// they certainly lie on two file systems.
    pub(super) fn trust_between(&self, old: &Version, new: &Version) -> Option<IdentityTrust> {
        let (old, new) = (old.get(Column::Fs), new.get(Column::Fs));
        let (a, b) = (self.known(old), self.known(new));
        if old != new && a.is_surely_other(&b) {
            return None;
        }
        let is_one_type = a.trust() == b.trust();
        let shared = if is_one_type {
            a
        } else {
            KnownFileSystem::default()
        };
        Some(shared.trust())
    }

    /// Returns what is known of the file system of this number: nothing without a number.
    fn known(&self, number: Option<i64>) -> KnownFileSystem<'a> {
        let number = number.and_then(|number| usize::try_from(number).ok());
        let known = number.and_then(|number| self.known.get(number));
        known.copied().unwrap_or_default()
    }
}

/// Returns true if nothing but the device is known of a file system.
fn is_placeless(fs: &KnownFileSystem<'_>) -> bool {
    fs.uuid.is_none() && fs.mount_point.is_none()
}

/// Returns for each file system of the newer snapshot the same file system in the older snapshot.
/// Each is the partner of at most one. Names come before places.
fn partners(old: &[KnownFileSystem<'_>], new: &[KnownFileSystem<'_>]) -> Vec<Option<usize>> {
    let copies = [copies(old), copies(new)];
    let mut partners = vec![None; new.len()];
    let mut is_taken = vec![false; old.len()];
    for least in [Sameness::SameName, Sameness::SamePlace] {
        for (fs, partner) in new.iter().zip(&mut partners) {
            if partner.is_none() {
                // Copies have the same inode numbers for different files.
                let is_copied = fs.uuid.is_some_and(|uuid| {
                    let count = |copies: &Copies<'_>| copies.get(uuid).copied().unwrap_or(0);
                    fs.subvolume.is_none() && copies.iter().any(|copies| count(copies) > 1)
                });
                let may_be = |at: usize| {
                    !is_taken[at]
                        && fs.compare(&old[at]) >= least
                        && (!is_copied || fs.mount_point == old[at].mount_point)
                };
                *partner = best(fs, old, may_be);
                if let Some(at) = *partner {
                    is_taken[at] = true;
                }
            }
        }
    }
    partners
}

/// The number of file systems with each UUID. Subvolumes have another name.
type Copies<'a> = HashMap<&'a str, usize>;

fn copies<'a>(all: &[KnownFileSystem<'a>]) -> Copies<'a> {
    let mut copies = HashMap::new();
    for uuid in all.iter().filter_map(|fs| fs.uuid) {
        *copies.entry(uuid).or_insert(0) += 1;
    }
    copies
}

/// Returns the file system that may be this one. If several may be, place and device decide, or
/// there is none.
fn best(
    fs: &KnownFileSystem<'_>,
    old: &[KnownFileSystem<'_>],
    may_be: impl Fn(usize) -> bool,
) -> Option<usize> {
    let rank = |at: &usize| {
        let old = &old[*at];
        (old.mount_point == fs.mount_point, old.device == fs.device)
    };
    let mut all: Vec<_> = (0..old.len()).filter(|at| may_be(*at)).collect();
    all.sort_by_key(rank);
    match all[..] {
        [.., second, last] if rank(&second) == rank(&last) => None,
        [.., last] => Some(last),
        [] => None,
    }
}

#[cfg(test)]
mod tests;
