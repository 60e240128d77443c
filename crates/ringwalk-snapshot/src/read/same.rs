//! Pages that two files store alike.
//!
//! A page and its dictionary have all that the cells depend on. So equal bytes mean equal cells,
//! and comparing them takes a tenth of the time of decoding them. Different bytes mean nothing.

use super::layout::{Pages, Place};
use super::unpack::Unpacker;
use super::{ReadError, Snapshot};
use crate::schema::{COLUMN_COUNT, Column, PAGE_ROWS};
use std::ops::Range;

/// Compares pages of two snapshots.
#[derive(Debug)]
pub struct StoredAlike<'s> {
    a: &'s Snapshot,
    b: &'s Snapshot,
    /// For each column what is known of the row groups used last.
    columns: [Option<Columns>; COLUMN_COUNT],
    buffers: [Unpacker; 2],
}

/// A column of a row group of each file.
#[derive(Debug)]
struct Columns {
    groups: [usize; 2],
    pages: [Pages; 2],
    /// True if both have the same dictionary, or none.
    has_dictionary: bool,
}

impl<'s> StoredAlike<'s> {
    /// Compares nothing yet.
    pub fn new(a: &'s Snapshot, b: &'s Snapshot) -> Self {
        Self {
            a,
            b,
            columns: [const { None }; COLUMN_COUNT],
            buffers: Default::default(),
        }
    }

    /// Returns true if both files have the same cells of a column in a page, and store them alike.
    ///
    /// # Errors
    ///
    /// If a file is damaged or cannot be read.
    pub fn has(&mut self, column: Column, page: &Range<u64>) -> Result<bool, ReadError> {
        let (a, b) = (self.a, self.b);
        if page.is_empty() || a.page_of(page.start) != *page || b.page_of(page.start) != *page {
            return Ok(false);
        }
        let groups = [a.group_of_row(page.start), b.group_of_row(page.start)];
        let place_a = a.places[groups[0]][column as usize].as_ref();
        let place_b = b.places[groups[1]][column as usize].as_ref();
        let (Some(place_a), Some(place_b)) = (place_a, place_b) else {
            return Ok(false);
        };
        if place_a.is_all_null || place_b.is_all_null {
            return Ok(place_a.is_all_null && place_b.is_all_null);
        }
        let form = |place: &Place| (place.is_required, place.is_compressed);
        if form(place_a) != form(place_b) {
            return Ok(false);
        }
        let at = |of: &Snapshot, group: usize| {
            let page = (page.start - of.groups[group].start) / PAGE_ROWS as u64;
            usize::try_from(page).unwrap_or(usize::MAX)
        };
        let at = [at(a, groups[0]), at(b, groups[1])];
        let columns = match self.columns[column as usize].take() {
            Some(columns) if columns.groups == groups => columns,
            _ => self.open([place_a, place_b], groups)?,
        };
        let columns = self.columns[column as usize].insert(columns);
        let stored = |file: usize| columns.pages[file].data.get(at[file]).cloned();
        match (stored(0), stored(1), columns.has_dictionary) {
            (Some(a), Some(b), true) => self.is_same([a, b]),
            _ => Ok(false),
        }
    }

    /// Reads where the pages of a column of a row group of each file are, and compares the
    /// dictionaries.
    fn open(&mut self, places: [&Place; 2], groups: [usize; 2]) -> Result<Columns, ReadError> {
        let [buffer_a, buffer_b] = &mut self.buffers;
        let a = self.a.pages_at(places[0], groups[0], buffer_a);
        let b = self.b.pages_at(places[1], groups[1], buffer_b);
        let a = a.map_err(|reason| self.a.error(reason))?;
        let b = b.map_err(|reason| self.b.error(reason))?;
        let has_dictionary = match (&a.dictionary, &b.dictionary) {
            (None, None) => true,
            (Some(a), Some(b)) => self.is_same([a.clone(), b.clone()])?,
            _ => false,
        };
        Ok(Columns {
            groups,
            pages: [a, b],
            has_dictionary,
        })
    }

    /// Returns true if both files have the same bytes at these places.
    fn is_same(&mut self, [a, b]: [Range<u64>; 2]) -> Result<bool, ReadError> {
        if a.end - a.start != b.end - b.start {
            return Ok(false);
        }
        let [buffer_a, buffer_b] = &mut self.buffers;
        let a = buffer_a.read(&self.a.file, a);
        let b = buffer_b.read(&self.b.file, b);
        let a = a.map_err(|reason| self.a.error(reason))?;
        let b = b.map_err(|reason| self.b.error(reason))?;
        Ok(a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attributes, Entry, Info, TreeBuilder, WriteOptions};
    use ringwalk::FileType;

    /// Writes 20 000 files, whose attributes `of` returns.
    fn snapshot(of: impl Fn(u64) -> Attributes) -> Snapshot {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshot");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        let root = Entry::new(b"", FileType::Directory);
        tree.begin_root(b"/r", &root).unwrap();
        for number in 0..20_000 {
            let name = format!("{number:05}");
            let mut entry = Entry::new(name.as_bytes(), FileType::Regular);
            entry.attributes = of(number);
            tree.file(&entry).unwrap();
        }
        tree.end_directory().unwrap();
        tree.finish(Info::default(), &path).unwrap();
        Snapshot::open(&path).unwrap()
    }

    fn attributes(number: u64) -> Attributes {
        Attributes {
            ino: Some(number * 3),
            size: Some(number % 5),
            uid: Some(1),
            ..Attributes::default()
        }
    }

    /// Returns for each page whether a column is stored alike.
    fn alike(a: &Snapshot, b: &Snapshot, column: Column) -> [bool; 3] {
        let mut alike = StoredAlike::new(a, b);
        [0, 8192, 16_384].map(|row| alike.has(column, &a.page_of(row)).unwrap())
    }

    #[test]
    fn only_pages_with_the_same_cells_are_alike() {
        let old = snapshot(attributes);
        for column in Column::all().filter(|column| old.has(*column)) {
            assert_eq!(alike(&old, &old, column), [true; 3], "{column:?}");
        }
        let new = snapshot(|number| Attributes {
            ino: Some(number * 3 + u64::from(number == 9000)),
            ..attributes(number)
        });
        assert_eq!(alike(&old, &new, Column::Ino), [true, false, true]);
        assert_eq!(alike(&old, &new, Column::Path), [true; 3]);
        assert_eq!(alike(&old, &new, Column::Rdev), [true; 3]);
    }

    #[test]
    fn pages_that_refer_to_other_values_are_not_alike() {
        let old = snapshot(attributes);
        // The pages are the same: each cell is the first value of the dictionary.
        let new = snapshot(|number| Attributes {
            uid: Some(2),
            ..attributes(number)
        });
        assert_eq!(alike(&old, &new, Column::Uid), [false; 3]);
        assert_eq!(alike(&old, &new, Column::Size), [true; 3]);
    }

    #[test]
    fn unknown_values_are_not_like_known_ones() {
        let old = snapshot(attributes);
        let new = snapshot(|number| Attributes {
            size: None,
            ..attributes(number)
        });
        assert_eq!(alike(&old, &new, Column::Size), [false; 3]);
        assert_eq!(alike(&new, &old, Column::Size), [false; 3]);
        assert_eq!(alike(&new, &new, Column::Size), [true; 3]);
    }

    #[test]
    fn pages_of_other_lengths_are_not_alike() {
        let old = snapshot(attributes);
        let page = old.page_of(0);
        let mut alike = StoredAlike::new(&old, &old);
        let part = page.start..page.end - 1;
        assert!(alike.has(Column::Ino, &page).unwrap());
        assert!(!alike.has(Column::Ino, &part).unwrap());
    }
}
