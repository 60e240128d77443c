//! What is kept of each entry: 32 bytes beside the name.

use super::column::{Column, WideColumn};
use super::names::{NamePlace, Names};
use crate::tree::Kind;
use ringwalk_delete::Mark;
use std::collections::HashMap;

/// The number of an entry.
pub(super) type EntryIndex = u32;

/// The number of a directory among those that are or will be read.
pub(super) type DirIndex = u32;

/// Says that an entry is no directory that is read, or has no directory above it.
pub(super) const NONE: u32 = u32::MAX;

/// Flags of an entry, beside its kind in the lowest bits.
pub(super) mod flags {
    pub(in crate::live) const KIND: u8 = 0b111;
    /// The metadata could not be read.
    pub(in crate::live) const FAILED: u8 = 1 << 3;
    /// It is a directory on another file system, which is left out.
    pub(in crate::live) const OTHER: u8 = 1 << 4;
    /// The inode has several names.
    pub(in crate::live) const LINKED: u8 = 1 << 5;
    /// It is a directory of the list of directories: `size` is its number there.
    pub(in crate::live) const IN_LIST: u8 = 1 << 6;
    /// It was deleted or has vanished.
    pub(in crate::live) const GONE: u8 = 1 << 7;
}

/// Owners that are kept in two bytes.
const MOST_OWNERS: usize = u16::MAX as usize;

/// What is found out about one entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found<'n> {
    pub(super) name: &'n [u8],
    pub(super) kind: Kind,
    /// Bytes.
    pub(super) size: u64,
    /// Blocks of 512 bytes.
    pub(super) blocks: u64,
    /// Seconds since 1970.
    pub(super) mtime: Option<i64>,
    pub(super) uid: Option<u32>,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) links: u32,
    /// What distinguishes it from a later file with its inode number.
    pub(super) mark: Option<Mark>,
    pub(super) failed: bool,
    /// It is a directory on another file system, which is left out.
    pub(super) other: bool,
}

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Entries {
    names: Names,
    name: Column<u32>,
    parent: Column<DirIndex>,
    size: WideColumn,
    blocks: WideColumn,
    /// Seconds since 1970. Times before that stand as very large numbers.
    mtime: WideColumn,
    inode: WideColumn,
    mark: Column<u32>,
    owner: Column<u16>,
    flags: Column<u8>,
    owners: Vec<Option<u32>>,
    owner_numbers: HashMap<Option<u32>, u16>,
    /// Owners for whom there is no number left.
    more_owners: HashMap<EntryIndex, Option<u32>>,
}

const KINDS: [Kind; 5] = [
    Kind::Unknown,
    Kind::Directory,
    Kind::File,
    Kind::Link,
    Kind::Special,
];

fn number_of(kind: Kind) -> u8 {
    match kind {
        Kind::Unknown => 0,
        Kind::Directory => 1,
        Kind::File => 2,
        Kind::Link => 3,
        Kind::Special => 4,
    }
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// Adds an entry. Returns `None` if there is no room for more entries or names.
    pub(super) fn push(&mut self, parent: DirIndex, found: &Found<'_>) -> Option<EntryIndex> {
        let index = u32::try_from(self.len()).ok().filter(|at| *at != NONE)?;
        let name = self.names.push(found.name)?;
        self.name.push(name.to_number());
        self.parent.push(parent);
        self.size.push(found.size);
        self.blocks.push(found.blocks);
        self.mtime.push(mtime_to_number(found.mtime));
        self.inode.push(found.inode);
        self.mark.push(found.mark.map_or(0, Mark::to_bits));
        let owner = self.owner_number(index, found.uid);
        self.owner.push(owner);
        let mut flags = number_of(found.kind);
        for (is_set, flag) in [
            (found.failed, flags::FAILED),
            (found.other, flags::OTHER),
            (
                found.links > 1 && found.kind != Kind::Directory,
                flags::LINKED,
            ),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        self.flags.push(flags);
        Some(index)
    }

    /// Replaces what is known of a directory in the list, except its name and its place.
    pub(super) fn update(&mut self, index: EntryIndex, found: &Found<'_>) {
        let at = index as usize;
        self.blocks.set(at, found.blocks);
        self.mtime.set(at, mtime_to_number(found.mtime));
        self.inode.set(at, found.inode);
        self.mark.set(at, found.mark.map_or(0, Mark::to_bits));
        self.more_owners.remove(&index);
        let owner = self.owner_number(index, found.uid);
        self.owner.set(at, owner);
    }

    fn owner_number(&mut self, index: EntryIndex, uid: Option<u32>) -> u16 {
        if let Some(number) = self.owner_numbers.get(&uid) {
            return *number;
        }
        match u16::try_from(self.owners.len()) {
            Ok(number) if self.owners.len() < MOST_OWNERS => {
                self.owners.push(uid);
                self.owner_numbers.insert(uid, number);
                number
            }
            _ => {
                self.more_owners.insert(index, uid);
                u16::MAX
            }
        }
    }

    pub(super) fn name(&self, index: EntryIndex) -> &[u8] {
        self.names
            .get(NamePlace::of_number(self.name.get(index as usize)))
    }

    pub(super) fn parent(&self, index: EntryIndex) -> DirIndex {
        self.parent.get(index as usize)
    }

    /// Returns the apparent size of a file. For a directory in the list the number is not a size.
    pub(super) fn size(&self, index: EntryIndex) -> u64 {
        self.size.get(index as usize)
    }

    /// Returns the number of a directory in the list.
    pub(super) fn directory(&self, index: EntryIndex) -> Option<DirIndex> {
        if !self.has(index, flags::IN_LIST) {
            return None;
        }
        u32::try_from(self.size(index)).ok()
    }

    pub(super) fn set_directory(&mut self, index: EntryIndex, directory: DirIndex) {
        self.size.set(index as usize, u64::from(directory));
        self.set(index, flags::IN_LIST);
    }

    /// Returns the allocated bytes of the entry alone.
    pub(super) fn alloc(&self, index: EntryIndex) -> u64 {
        self.blocks.get(index as usize).saturating_mul(512)
    }

    pub(super) fn mtime(&self, index: EntryIndex) -> Option<i64> {
        mtime_of_number(self.mtime.get(index as usize))
    }

    pub(super) fn inode(&self, index: EntryIndex) -> u64 {
        self.inode.get(index as usize)
    }

    pub(super) fn mark(&self, index: EntryIndex) -> Option<Mark> {
        Mark::from_bits(self.mark.get(index as usize))
    }

    pub(super) fn uid(&self, index: EntryIndex) -> Option<u32> {
        let number = self.owner.get(index as usize);
        let found = self.owners.get(usize::from(number)).copied();
        found.unwrap_or_else(|| self.more_owners.get(&index).copied().flatten())
    }

    pub(super) fn kind(&self, index: EntryIndex) -> Kind {
        let number = self.flags.get(index as usize) & flags::KIND;
        KINDS.get(usize::from(number)).copied().unwrap_or_default()
    }

    pub(super) fn has(&self, index: EntryIndex, flag: u8) -> bool {
        self.flags.get(index as usize) & flag != 0
    }

    pub(super) fn set(&mut self, index: EntryIndex, flag: u8) {
        let flags = self.flags.get(index as usize);
        self.flags.set(index as usize, flags | flag);
    }
}

/// Stands for a time that is not known. No file system has a time so long ago.
const UNKNOWN: i64 = i64::MIN;

fn mtime_to_number(mtime: Option<i64>) -> u64 {
    mtime.unwrap_or(UNKNOWN).cast_unsigned()
}

fn mtime_of_number(number: u64) -> Option<i64> {
    Some(number.cast_signed()).filter(|mtime| *mtime != UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_comes_back() {
        let mut entries = Entries::default();
        let found = [
            Found {
                name: b"small",
                kind: Kind::File,
                size: 10,
                blocks: 8,
                mtime: Some(1_700_000_000),
                uid: Some(1000),
                inode: 12,
                links: 1,
                mark: Some(Mark::of_birth(ringwalk::Timestamp { secs: 77, nanos: 1 })),
                ..Found::default()
            },
            Found {
                name: b"huge\xff",
                kind: Kind::File,
                size: 1 << 45,
                blocks: 1 << 36,
                mtime: Some(-5),
                uid: None,
                inode: u64::MAX,
                links: 2,
                mark: None,
                failed: true,
                ..Found::default()
            },
        ];
        for found in &found {
            let index = entries.push(3, found).unwrap();
            assert_eq!(entries.name(index), found.name);
            assert_eq!(entries.parent(index), 3);
            assert_eq!(entries.kind(index), found.kind);
            assert_eq!(entries.size(index), found.size);
            assert_eq!(entries.alloc(index), found.blocks * 512);
            assert_eq!(entries.mtime(index), found.mtime);
            assert_eq!(entries.uid(index), found.uid);
            assert_eq!(entries.inode(index), found.inode);
            assert_eq!(entries.mark(index), found.mark);
            assert_eq!(entries.has(index, flags::FAILED), found.failed);
            assert_eq!(entries.has(index, flags::LINKED), found.links > 1);
            assert_eq!(entries.directory(index), None);
        }
        entries.set_directory(0, 9);
        assert_eq!(entries.directory(0), Some(9));
    }

    #[test]
    fn more_owners_than_have_a_number_are_kept() {
        let mut entries = Entries::default();
        for uid in 0..70_000 {
            let found = Found {
                name: b"x",
                uid: Some(uid),
                ..Found::default()
            };
            entries.push(0, &found).unwrap();
        }
        assert!((0..70_000).all(|uid| entries.uid(uid) == Some(uid)));
    }

    #[test]
    fn times_around_1970_are_kept() {
        for mtime in [
            None,
            Some(0),
            Some(-1),
            Some(-2),
            Some(i64::MIN + 1),
            Some(1 << 40),
        ] {
            assert_eq!(mtime_of_number(mtime_to_number(mtime)), mtime);
        }
    }
}
