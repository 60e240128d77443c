//! The directory on the screen, whose cursor stays on its entry.

use super::{Cursor, Listing};
use crate::tree::Id;

/// What a row of the list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// An entry.
    Entry(Id),
    /// An entry of the older tree that is gone: its number among those.
    Departed(usize),
}

/// The list of one directory.
#[derive(Default)]
pub(crate) struct List {
    /// The directory.
    pub(crate) directory: Id,
    /// The path of the directory, relative to the top.
    pub(crate) path: Vec<u8>,
    /// The cursor.
    pub(crate) cursor: Cursor,
    /// The size of the largest entry.
    pub(crate) largest: u64,
    /// Entries of the older tree that are gone: names and allocated sizes.
    pub(crate) departed: Vec<(Vec<u8>, u64)>,
    /// True once the listing is there.
    pub(crate) is_loaded: bool,
    ids: Vec<Id>,
    /// True once a key was pressed in this directory. Until then the cursor stays on the first row,
    /// whatever comes there.
    is_held: bool,
    /// The entry that the cursor shall be on when the listing comes.
    wanted: Option<Id>,
}

impl List {
    /// Returns the list of a directory whose listing is still to come.
    pub(crate) fn open(directory: Id, path: Vec<u8>, wanted: Option<Id>, old: &Self) -> Self {
        let mut cursor = old.cursor;
        cursor.at = 0;
        cursor.top = 0;
        Self {
            directory,
            path,
            cursor,
            is_held: wanted.is_some(),
            wanted,
            ..Self::default()
        }
    }

    /// Takes a new listing. The cursor stays on its entry and on its line.
    pub(crate) fn replace(&mut self, listing: Listing) {
        let wanted = self.wanted.take();
        let on = wanted.or_else(|| {
            if self.is_held {
                self.current_id()
            } else {
                None
            }
        });
        self.ids = listing.ids;
        self.departed = listing.departed;
        self.largest = listing.largest;
        self.is_loaded = true;
        let row = on.and_then(|id| self.row_of(id));
        match row {
            Some(row) if wanted.is_some() => self.cursor.set(row, self.len()),
            Some(row) => self.cursor.follow(row, self.len()),
            None => self.cursor.limit(self.len()),
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ids.len() + self.departed.len()
    }

    /// Returns the entries, in order.
    pub(crate) fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// Returns a row.
    pub(crate) fn row(&self, row: usize) -> Option<Row> {
        match self.ids.get(row) {
            Some(&id) => Some(Row::Entry(id)),
            None if row < self.len() => Some(Row::Departed(row - self.ids.len())),
            None => None,
        }
    }

    /// Returns the entry under the cursor.
    pub(crate) fn current_id(&self) -> Option<Id> {
        self.ids.get(self.cursor.at).copied()
    }

    /// Returns the row of an entry.
    pub(crate) fn row_of(&self, id: Id) -> Option<usize> {
        self.ids.iter().position(|&other| other == id)
    }

    /// Keeps the cursor on its entry from now on.
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(ids: &[u64]) -> Listing {
        Listing {
            directory: Id(0),
            ids: ids.iter().copied().map(Id).collect(),
            departed: Vec::new(),
            largest: 0,
        }
    }

    fn opened(ids: &[u64]) -> List {
        let mut list = List::open(Id(0), Vec::new(), None, &List::default());
        list.cursor.set_height(3);
        list.replace(listing(ids));
        list
    }

    #[test]
    fn the_cursor_stays_on_its_entry_and_its_line() {
        let mut list = opened(&[1, 2, 3, 4, 5]);
        list.hold();
        list.cursor.set(1, 5);
        list.replace(listing(&[7, 8, 9, 1, 2, 3]));
        assert_eq!(list.current_id(), Some(Id(2)));
        assert_eq!((list.cursor.at, list.cursor.top), (4, 3));
    }

    #[test]
    fn an_untouched_cursor_stays_on_the_first_row() {
        let mut list = opened(&[1, 2]);
        list.replace(listing(&[9, 1, 2]));
        assert_eq!(list.current_id(), Some(Id(9)));
    }

    #[test]
    fn the_cursor_stays_on_its_row_if_its_entry_is_gone() {
        let mut list = opened(&[1, 2, 3]);
        list.hold();
        list.cursor.set(1, 3);
        list.replace(listing(&[1, 3]));
        assert_eq!(list.current_id(), Some(Id(3)));
        list.replace(listing(&[]));
        assert_eq!(list.current_id(), None);
    }

    #[test]
    fn the_wanted_entry_gets_the_cursor() {
        let mut list = List::open(Id(0), Vec::new(), Some(Id(4)), &opened(&[1]));
        list.replace(listing(&[1, 2, 3, 4]));
        assert_eq!(list.current_id(), Some(Id(4)));
    }
}
