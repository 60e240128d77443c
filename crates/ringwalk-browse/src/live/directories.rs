//! The directories that are or will be read, with the totals of what is in them.

use super::entries::{DirIndex, EntryIndex, NONE};
use std::ops::Range;

/// What is kept of a directory.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// Its own entry.
    pub(super) entry: EntryIndex,
    /// Entries of its listing, which stand in one piece as a rule.
    listing: Range<EntryIndex>,
    /// Further pieces, in [`Directories::pieces`].
    more: u32,
    pub(super) device: u64,
    /// Its own apparent size.
    pub(super) own_size: u64,
    pub(super) totals: Totals,
    /// Everything below it was left by the walk.
    pub(super) is_done: bool,
    /// It could not be read, or not to its end.
    pub(super) has_failed: bool,
}

/// Sums over an entry and everything below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) entries: u64,
    /// Bytes; each inode counts once.
    pub(super) size: u64,
    pub(super) alloc: u64,
    pub(super) freeable: u64,
    pub(super) errors: u32,
    /// The latest change.
    pub(super) mtime: Option<i64>,
}

impl Totals {
    pub(super) fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.size = self.size.saturating_add(other.size);
        self.alloc = self.alloc.saturating_add(other.alloc);
        self.freeable = self.freeable.saturating_add(other.freeable);
        self.errors = self.errors.saturating_add(other.errors);
        self.mtime = self.mtime.max(other.mtime);
    }

    /// Takes away what was added before. The latest change stays.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.entries = self.entries.saturating_sub(other.entries);
        self.size = self.size.saturating_sub(other.size);
        self.alloc = self.alloc.saturating_sub(other.alloc);
        self.freeable = self.freeable.saturating_sub(other.freeable);
        self.errors = self.errors.saturating_sub(other.errors);
    }
}

/// All directories.
#[derive(Debug, Default)]
pub(super) struct Directories {
    all: Vec<Directory>,
    /// Pieces of listings, each with the number of the one before it.
    pieces: Vec<(Range<EntryIndex>, u32)>,
}

impl Directories {
    pub(super) fn push(
        &mut self,
        entry: EntryIndex,
        device: u64,
        own_size: u64,
    ) -> Option<DirIndex> {
        let index = u32::try_from(self.all.len())
            .ok()
            .filter(|at| *at != NONE)?;
        self.all.push(Directory {
            entry,
            listing: 0..0,
            more: NONE,
            device,
            own_size,
            totals: Totals::default(),
            is_done: false,
            has_failed: false,
        });
        Some(index)
    }

    pub(super) fn get(&self, index: DirIndex) -> &Directory {
        &self.all[index as usize]
    }

    pub(super) fn get_mut(&mut self, index: DirIndex) -> &mut Directory {
        &mut self.all[index as usize]
    }

    /// Adds entries to the listing of a directory.
    pub(super) fn add_to_listing(&mut self, index: DirIndex, added: Range<EntryIndex>) {
        let directory = &mut self.all[index as usize];
        if directory.listing.is_empty() {
            directory.listing = added;
        } else if directory.listing.end == added.start {
            directory.listing.end = added.end;
        } else if !added.is_empty() {
            // No more pieces than entries, which have 32-bit numbers.
            let number = u32::try_from(self.pieces.len()).unwrap_or(NONE);
            let old = std::mem::replace(&mut directory.listing, added);
            self.pieces.push((old, directory.more));
            directory.more = number;
        }
    }

    /// Empties the listing of a directory.
    pub(super) fn clear_listing(&mut self, index: DirIndex) {
        let directory = &mut self.all[index as usize];
        directory.listing = 0..0;
        directory.more = NONE;
    }

    /// Returns the entries of a directory, those that are gone included.
    pub(super) fn listing(&self, index: DirIndex) -> impl Iterator<Item = EntryIndex> + '_ {
        let directory = self.get(index);
        let mut more = directory.more;
        let pieces = std::iter::from_fn(move || {
            let (range, before) = self.pieces.get(more as usize)?;
            more = *before;
            Some(range.clone())
        });
        std::iter::once(directory.listing.clone())
            .chain(pieces)
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_may_come_in_pieces() {
        let mut directories = Directories::default();
        let a = directories.push(0, 1, 0).unwrap();
        let b = directories.push(1, 1, 0).unwrap();
        for (directory, range) in [
            (a, 2..5),
            (b, 5..6),
            (a, 6..8),
            (a, 8..9),
            (b, 9..9),
            (a, 12..13),
        ] {
            directories.add_to_listing(directory, range);
        }
        let sorted = |directory| {
            let mut entries: Vec<_> = directories.listing(directory).collect();
            entries.sort_unstable();
            entries
        };
        assert_eq!(sorted(a), [2, 3, 4, 6, 7, 8, 12]);
        assert_eq!(sorted(b), [5]);
    }
}
