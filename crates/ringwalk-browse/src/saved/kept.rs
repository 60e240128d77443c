//! What is kept of the last questions, in bounded memory.

use crate::tree::{Id, Item};
use ringwalk_snapshot::Cursor;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Entries of one generation. A screen shows 300 at most, and comes back to them with every key.
const ITEMS: usize = 4096;
/// Listings whose directory is known without a look into the file.
const LISTINGS: usize = 64;

/// The place from which rows are read, and the entries that were read last.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) cursor: Cursor,
    items: HashMap<Id, Item>,
    /// The generation before. If an entry of it is used again, it moves to `items`.
    older: HashMap<Id, Item>,
    /// The rows of listings, and the rows of their directories.
    listings: VecDeque<(Range<u64>, u64)>,
}

impl Kept {
    /// Returns an entry, if it is kept.
    pub(super) fn item(&mut self, id: Id) -> Option<Item> {
        if let Some(item) = self.items.get(&id) {
            return Some(item.clone());
        }
        let item = self.older.remove(&id)?;
        self.keep(item.clone());
        Some(item)
    }

    /// Keeps an entry.
    pub(super) fn keep(&mut self, item: Item) {
        if self.items.len() >= ITEMS {
            self.older = std::mem::take(&mut self.items);
        }
        self.items.insert(item.id, item);
    }

    /// Returns the row of the directory that lists a row, if it is known.
    pub(super) fn directory_of(&self, row: u64) -> Option<u64> {
        let mut listings = self.listings.iter();
        let found = listings.find(|(rows, _)| rows.contains(&row));
        found.map(|(_, directory)| *directory)
    }

    /// Notes the rows that a directory lists.
    pub(super) fn note_listing(&mut self, rows: Range<u64>, directory: u64) {
        if rows.is_empty() || self.directory_of(rows.start).is_some() {
            return;
        }
        if self.listings.len() >= LISTINGS {
            self.listings.pop_front();
        }
        self.listings.push_back((rows, directory));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.items.len() + self.older.len()
    }
}
