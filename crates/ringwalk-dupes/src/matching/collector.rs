//! From hashes to groups.

use crate::inventory::{FileId, Inventory};
use hashbrown::HashTable;

/// What has been seen with one hash.
#[derive(Clone, Copy, Debug)]
enum Seen {
    /// One file: its place in [`Collector::singles`].
    Single(u32),
    Group(u32),
}

/// Files with their hashes, as they come.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// 8 bytes for each hash; the hashes themselves are in the two lists.
    table: HashTable<Seen>,
    singles: Vec<([u8; 32], FileId)>,
    /// Places of singles that have become groups.
    free: Vec<u32>,
    /// The hash of each group. `None` if its files share all extents, and none was read.
    groups: Vec<Option<[u8; 32]>>,
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
        let hash_of = |seen: &Seen| match seen {
            Seen::Single(place) => Some(&singles[*place as usize].0),
            Seen::Group(group) => groups[*group as usize].as_ref(),
        };
        if let Some(seen) = table.find_mut(short(&hash), |seen| hash_of(seen) == Some(&hash)) {
            let group = match *seen {
                Seen::Group(group) => group,
                Seen::Single(place) => {
                    let group = new_group(groups, Some(hash));
                    inventory.file(singles[place as usize].1).set_group(group);
                    *seen = Seen::Group(group);
                    free.push(place);
                    group
                }
            };
            inventory.file(file).set_group(group);
            return;
        }
        let place = free.pop().unwrap_or_else(|| {
            singles.push((hash, file));
            // There are fewer than files, which have 31 bits.
            u32::try_from(singles.len() - 1).unwrap_or(u32::MAX)
        });
        singles[place as usize] = (hash, file);
        table.insert_unique(short(&hash), Seen::Single(place), |seen| match seen {
            Seen::Single(place) => short(&singles[*place as usize].0),
            Seen::Group(group) => groups[*group as usize].as_ref().map_or(0, short),
        });
    }

    /// Makes a group of a file and those that share all its extents, without a hash.
    pub(super) fn add_shared(&mut self, inventory: &Inventory, leader: FileId, others: &[FileId]) {
        let group = new_group(&mut self.groups, None);
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
    pub(super) fn into_groups(self) -> Vec<Option<[u8; 32]>> {
        self.groups
    }
}

/// Returns the part of a hash that chooses its place in the table.
fn short(hash: &[u8; 32]) -> u64 {
    hash.first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn new_group(groups: &mut Vec<Option<[u8; 32]>>, hash: Option<[u8; 32]>) -> u32 {
    // There are fewer groups than files, which have 31 bits.
    let group = u32::try_from(groups.len()).unwrap_or(u32::MAX >> 2);
    groups.push(hash);
    group
}
