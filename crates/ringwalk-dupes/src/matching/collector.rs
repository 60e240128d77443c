//! From hashes to groups.

use crate::inventory::{FileId, Inventory};
use hashbrown::HashTable;
use std::collections::HashSet;

/// What has been seen with one hash.
#[derive(Clone, Copy, Debug)]
enum Seen {
    /// One file: its place in [`Collector::singles`].
    Single(usize),
    Group(u32),
}

/// [`Seen`] in 4 bytes. Places and groups have 31 bits, as files have.
#[derive(Clone, Copy, Debug)]
struct PackedSeen(u32);

impl PackedSeen {
    const GROUP: u32 = 1 << 31;

    fn single(place: u32) -> Self {
        debug_assert!(place < Self::GROUP);
        Self(place)
    }

    fn group(group: u32) -> Self {
        debug_assert!(group < Self::GROUP);
        Self(Self::GROUP | group)
    }

    fn get(self) -> Seen {
        if self.0 & Self::GROUP == 0 {
            Seen::Single(self.0 as usize)
        } else {
            Seen::Group(self.0 & !Self::GROUP)
        }
    }
}

/// Files with their hashes, as they come.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// 5 bytes for each slot; the hashes themselves are in the two lists.
    table: HashTable<PackedSeen>,
    singles: Vec<([u8; 32], FileId)>,
    /// Places of singles that have become groups.
    free: Vec<usize>,
    groups: GroupHashes,
}

/// The hash of each group, in 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct GroupHashes {
    /// Zeros for a group without a hash.
    hashes: Vec<[u8; 32]>,
    /// Groups whose files share all extents, so that none was read.
    unread: HashSet<u32>,
}

impl GroupHashes {
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn get(&self, group: u32) -> Option<&[u8; 32]> {
        let hash = self.hashes.get(group as usize)?;
        (!self.unread.contains(&group)).then_some(hash)
    }

    /// Makes a group, and returns its number.
    fn push(&mut self, hash: Option<[u8; 32]>) -> u32 {
        // There are fewer groups than files, which have 31 bits.
        let group = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX >> 2);
        if hash.is_none() {
            self.unread.insert(group);
        }
        self.hashes.push(hash.unwrap_or_default());
        group
    }
}

impl Collector {
    /// Adds a file. Files with the same hash get the same group.
    pub(super) fn add(&mut self, inventory: &Inventory, file: FileId, hash: [u8; 32]) {
        let Self {
            table,
            singles,
            free,
            groups,
        } = self;
        let hash_of = |seen: PackedSeen| match seen.get() {
            Seen::Single(place) => Some(&singles[place].0),
            Seen::Group(group) => groups.get(group),
        };
        if let Some(seen) = table.find_mut(short(&hash), |seen| hash_of(*seen) == Some(&hash)) {
            let group = match seen.get() {
                Seen::Group(group) => group,
                Seen::Single(place) => {
                    let group = groups.push(Some(hash));
                    inventory.file(singles[place].1).set_group(group);
                    *seen = PackedSeen::group(group);
                    free.push(place);
                    group
                }
            };
            inventory.file(file).set_group(group);
            return;
        }
        let place = free.pop().unwrap_or_else(|| {
            singles.push((hash, file));
            singles.len() - 1
        });
        singles[place] = (hash, file);
        // There are fewer than files, which have 31 bits.
        let seen = PackedSeen::single(u32::try_from(place).unwrap_or(0));
        table.insert_unique(short(&hash), seen, |seen| match seen.get() {
            Seen::Single(place) => short(&singles[place].0),
            Seen::Group(group) => groups.get(group).map_or(0, short),
        });
    }

    /// Makes a group of a file and those that share all its extents, without a hash.
    pub(super) fn add_shared(&mut self, inventory: &Inventory, leader: FileId, others: &[FileId]) {
        let group = self.groups.push(None);
        for file in std::iter::once(&leader).chain(others) {
            inventory.file(*file).set_group(group);
        }
    }

    /// Forgets what it has seen, when no file of those sizes comes any more. Groups stay.
    pub(super) fn forget(&mut self) {
        self.table = HashTable::new();
        self.singles = Vec::new();
        self.free = Vec::new();
    }

    /// Returns the hash of each group.
    pub(super) fn into_groups(self) -> GroupHashes {
        self.groups
    }
}

/// Returns the part of a hash that chooses its place in the table.
fn short(hash: &[u8; 32]) -> u64 {
    hash.first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
