//! The groups of files with the same contents, as they are reported.

use crate::inventory::{FileId, FileRecord, Inventory};
use ringwalk_hash::FileVersion;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// All groups, in little memory: 8 bytes for each file of a group.
#[derive(Debug)]
pub(crate) struct Groups {
    hashes: Vec<Option<[u8; 32]>>,
    shares: HashMap<FileId, FileId>,
    /// The members, group by group; of each inode the name that was compared.
    members: Vec<(u32, FileId)>,
}

/// Files with the same contents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// Bytes of each file.
    pub size: u64,
    /// BLAKE3 of the contents. `None` if all copies share their extents, and none was read.
    pub hash: Option<[u8; 32]>,
    /// The copies, one for each inode. The first one is the one to keep: a file of a reference, if
    /// there is one, then the oldest, then the first by its path.
    pub copies: Vec<Copy>,
    /// Bytes that are free when only the first copy and those of references are left. Files whose
    /// other names were not found, and copies that share extents, free nothing.
    pub freeable: u64,
}

/// A file of a group, with all names that were found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copy {
    /// Its names, sorted by path. There is at least one.
    pub names: Vec<Name>,
    /// Number of hard links; `None` if not known.
    pub links: Option<u32>,
    /// The version that was compared. `dev` is 0 for a file of a snapshot.
    pub version: FileVersion,
    /// The place of the copy in the group whose extents it shares.
    pub shares_with: Option<usize>,
    /// It lies in a reference, and is never changed.
    pub is_reference: bool,
    /// The number of the snapshot that it is in, if it is not live.
    pub snapshot: Option<usize>,
}

/// A name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The path of the root, as it was given.
    pub root: Vec<u8>,
    /// The path below the root; empty if the root is the file.
    pub below: Vec<u8>,
}

impl Name {
    /// Returns the whole path.
    pub fn path(&self) -> Vec<u8> {
        crate::inventory::join(&self.root, &self.below)
    }
}

impl Groups {
    pub(crate) fn new(
        inventory: &Inventory,
        hashes: Vec<Option<[u8; 32]>>,
        shares: HashMap<FileId, FileId>,
    ) -> Self {
        let files = (0..).map(FileId).zip(&inventory.files);
        let mut members: Vec<_> = files
            .filter_map(|(id, file)| Some((file.group()?, id)))
            .collect();
        members.sort_unstable();
        Self {
            hashes,
            shares,
            members,
        }
    }

    /// Returns the groups of files of at least `min` bytes, in the order of the report.
    pub(crate) fn iter<'g>(
        &'g self,
        inventory: &'g Inventory,
        min: u64,
    ) -> impl Iterator<Item = Group> + 'g {
        let mut order: Vec<(Reverse<u64>, Vec<u8>, &[(u32, FileId)])> = self
            .members
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|members| inventory.file(members[0].1).size >= min)
            .map(|members| {
                let group = self.group(inventory, members);
                let path = group
                    .copies
                    .first()
                    .map_or_else(Vec::new, |copy| copy.path());
                (Reverse(group.freeable), path, members)
            })
            .collect();
        order.sort_unstable();
        order
            .into_iter()
            .map(|(_, _, members)| self.group(inventory, members))
    }

    fn group(&self, inventory: &Inventory, members: &[(u32, FileId)]) -> Group {
        let (number, first) = members[0];
        let size = inventory.file(first).size;
        let mut copies: Vec<(FileId, Copy)> = members
            .iter()
            .map(|(_, id)| (*id, copy(inventory, *id)))
            .collect();
        copies
            .sort_by_cached_key(|(_, copy)| (!copy.is_reference, copy.version.mtime, copy.path()));
        // The first of those that share extents stands for the others.
        let mut leaders: HashMap<FileId, usize> = HashMap::new();
        let mut kept = HashSet::new();
        let mut freed = HashSet::new();
        for at in 0..copies.len() {
            let id = copies[at].0;
            let leader = self.shares.get(&id).copied().unwrap_or(id);
            let first = *leaders.entry(leader).or_insert(at);
            let copy = &mut copies[at].1;
            copy.shares_with = (first != at).then_some(first);
            if at == 0 || copy.is_reference || !copy.frees_when_removed() {
                kept.insert(leader);
            } else {
                freed.insert(leader);
            }
        }
        Group {
            size,
            hash: self.hashes.get(number as usize).copied().flatten(),
            freeable: size.saturating_mul(freed.difference(&kept).count() as u64),
            copies: copies.into_iter().map(|(_, copy)| copy).collect(),
        }
    }
}

impl Copy {
    /// Returns the first of the paths.
    pub fn path(&self) -> Vec<u8> {
        self.names.first().map_or_else(Vec::new, Name::path)
    }

    /// Returns true if the file is gone when all its names that were found are removed.
    pub fn frees_when_removed(&self) -> bool {
        let found = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.snapshot.is_none() && self.links.is_none_or(|links| links <= found)
    }
}

/// Returns a file with all its names. They stand beside each other in the inventory.
fn copy(inventory: &Inventory, id: FileId) -> Copy {
    let file = inventory.file(id);
    let is_same = |other: &&FileRecord| other.size == file.size && other.is_same_file(file);
    let at = id.0 as usize;
    let before = inventory.files[..at]
        .iter()
        .rev()
        .take_while(is_same)
        .count();
    let behind = inventory.files[at..].iter().take_while(is_same).count();
    let mut names: Vec<Name> = (at - before..at + behind)
        .filter(|at| inventory.is_saved(&inventory.files[*at]) == inventory.is_saved(file))
        .filter_map(|at| {
            let id = FileId(u32::try_from(at).ok()?);
            let root = inventory.root_of(inventory.file(id).dir);
            Some(Name {
                root: root.path.clone(),
                below: inventory.file_below_root(id),
            })
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let device = &inventory.devices[usize::from(file.device)];
    let all = &inventory.files[at - before..at + behind];
    Copy {
        names,
        links: file.links(),
        version: file.version(device.number.unwrap_or(0)),
        shares_with: None,
        is_reference: all
            .iter()
            .any(|name| inventory.directory(name.dir).is_reference),
        snapshot: inventory.root_of(file.dir).snapshot,
    }
}

#[cfg(test)]
mod tests;
