//! Growth by directory, owner or extension.
//!
//! Each row that differs takes its bytes away where the older snapshot has it, and adds its bytes
//! where the newer one has it. So a directory that was moved makes one directory smaller and
//! another one larger, and the growth of a directory is the difference of its totals in the two
//! snapshots.

use super::Diff;
use super::change::{Change, Location};
use super::version::{Version, ancestors};
use ringwalk::FileType;
use ringwalk_snapshot::{Column, extension};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// What changes are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By directory, to this depth below the roots. A directory includes what is below it.
    Directory {
        /// 0 for the roots alone.
        depth: usize,
    },
    /// By owner.
    Owner,
    /// By extension of the name of regular files.
    Extension,
}

/// What the changes of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupKey {
    /// They lie in this directory, or are this directory.
    Directory(Location),
    /// The owner; `None` if it is not known.
    Owner(Option<u32>),
    /// The extension; `None` for names without one, and for files that are not regular.
    Extension(Option<String>),
}

/// The sum of the changes of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the changes have in common.
    pub key: GroupKey,
    /// Allocated bytes that the group has grown by.
    pub growth: i64,
    /// Names that the group has more than before.
    pub entries: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    growth: i64,
    entries: i64,
}

impl Diff {
    /// Returns the groups that have changed in size or in the number of names, largest growth
    /// first.
    pub fn groups(&self, by: By) -> Vec<Group> {
        let mut groups: Vec<Group> = match by {
            By::Directory { depth } => {
                let keys = |version: &Version, add: &mut dyn FnMut(_)| {
                    for path in directories(version, depth) {
                        add((version.root, path.to_vec()));
                    }
                };
                let sums = sums(self.all(), keys);
                let key = |(root, path): (u32, Vec<u8>)| {
                    let path = Arc::from(path);
                    GroupKey::Directory(Location { root, path })
                };
                sums.map(|(at, sum)| group(key(at), sum)).collect()
            }
            By::Owner => {
                let owner = |version: &Version| {
                    let uid = version.get(Column::Uid)?;
                    u32::try_from(uid).ok()
                };
                let sums = sums(self.all(), |version, add| add(owner(version)));
                sums.map(|(uid, sum)| group(GroupKey::Owner(uid), sum))
                    .collect()
            }
            By::Extension => {
                let of = |version: &Version| {
                    extension(version.file_type, version.name()).map(str::to_owned)
                };
                let sums = sums(self.all(), |version, add| add(of(version)));
                sums.map(|(ext, sum)| group(GroupKey::Extension(ext), sum))
                    .collect()
            }
        };
        groups.retain(|group| group.growth != 0 || group.entries != 0);
        groups.sort_by(|a, b| b.growth.cmp(&a.growth).then_with(|| by_key(&a.key, &b.key)));
        groups
    }
}

fn group(key: GroupKey, sum: Sum) -> Group {
    Group {
        key,
        growth: sum.growth,
        entries: sum.entries,
    }
}

/// Adds up changes by the keys that `keys` passes on for each version.
fn sums<'a, K: Hash + Eq>(
    changes: impl Iterator<Item = &'a Change>,
    keys: impl Fn(&Version, &mut dyn FnMut(K)),
) -> impl Iterator<Item = (K, Sum)> {
    let mut sums: HashMap<K, Sum> = HashMap::new();
    for change in changes {
        for (version, sign) in [(&change.old, -1), (&change.new, 1)] {
            if let Some(version) = version {
                keys(version, &mut |key| {
                    let sum = sums.entry(key).or_default();
                    sum.growth = sum.growth.saturating_add(sign * version.bytes());
                    sum.entries += sign;
                });
            }
        }
    }
    sums.into_iter()
}

/// Returns the directories to this depth that a file counts for.
fn directories(version: &Version, depth: usize) -> impl Iterator<Item = &[u8]> {
    let is_directory = version.file_type == FileType::Directory;
    let own = is_directory.then_some(&*version.path);
    let depth_of = |path: &[u8]| match path {
        [] => 0,
        path => 1 + path.split(|byte| *byte == b'/').skip(1).count(),
    };
    own.into_iter()
        .chain(ancestors(&version.path))
        .filter(move |path| depth_of(path) <= depth)
}

fn by_key(a: &GroupKey, b: &GroupKey) -> std::cmp::Ordering {
    match (a, b) {
        (GroupKey::Directory(a), GroupKey::Directory(b)) => {
            (a.root, &a.path).cmp(&(b.root, &b.path))
        }
        (GroupKey::Owner(a), GroupKey::Owner(b)) => a.cmp(b),
        (GroupKey::Extension(a), GroupKey::Extension(b)) => a.cmp(b),
        // Groups of one kind only are compared.
        _ => std::cmp::Ordering::Equal,
    }
}
