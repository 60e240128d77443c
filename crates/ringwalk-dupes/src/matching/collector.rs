//! From hashes to groups.

use crate::inventory::{FileId, Inventory};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What has been seen with one hash.
#[derive(Debug)]
struct Seen {
    first: FileId,
    /// The number of the group, once there are two files.
    group: Option<u32>,
}

/// Files with their hashes, as they come.
#[derive(Debug, Default)]
pub(super) struct Collector {
    seen: HashMap<[u8; 32], Seen>,
    /// The hash of each group. `None` if its files share all extents, and none was read.
    hashes: Vec<Option<[u8; 32]>>,
}

impl Collector {
    /// Adds a file. Files with the same hash get the same group.
    pub(super) fn add(&mut self, inventory: &Inventory, file: FileId, hash: [u8; 32]) {
        match self.seen.entry(hash) {
            Entry::Vacant(entry) => {
                entry.insert(Seen {
                    first: file,
                    group: None,
                });
            }
            Entry::Occupied(mut entry) => {
                let seen = entry.get_mut();
                let group = *seen.group.get_or_insert_with(|| {
                    let group = new_group(&mut self.hashes, Some(hash));
                    inventory.file(seen.first).set_group(group);
                    group
                });
                inventory.file(file).set_group(group);
            }
        }
    }

    /// Makes a group of a file and those that share all its extents, without a hash.
    pub(super) fn add_shared(&mut self, inventory: &Inventory, leader: FileId, others: &[FileId]) {
        let group = new_group(&mut self.hashes, None);
        for file in std::iter::once(&leader).chain(others) {
            inventory.file(*file).set_group(group);
        }
    }

    /// Forgets single files, when no file of their sizes comes any more.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// Returns the hash of each group.
    pub(super) fn into_hashes(self) -> Vec<Option<[u8; 32]>> {
        self.hashes
    }
}

fn new_group(hashes: &mut Vec<Option<[u8; 32]>>, hash: Option<[u8; 32]>) -> u32 {
    // There are fewer groups than files, which have 31 bits.
    let group = u32::try_from(hashes.len()).unwrap_or(u32::MAX >> 2);
    hashes.push(hash);
    group
}
