//! Pages that have the same paths in both files.
//!
//! Most directories keep their names from one snapshot to the next. Then many pages have the same
//! paths at the same rows, and most of their columns are stored alike in both files. Such a column
//! is decoded once at most. Everything between these pages is merged row by row:
//!
//! ```text
//!   old  | merged | same | same | merged     | same |
//!   new  | merged     | same | same | merged | same |      same: equal row numbers
//! ```

use super::choices::Which;
use super::merge::{Block, Findings, Merge, is_compared};
use super::pieces::SharedRoot;
use super::scan::{PageBlock, Pages, Reader};
use ringwalk::FileType;
use ringwalk_snapshot::{Column, ColumnSet, HASH_BYTES, ReadError, StoredAlike};
use std::ops::Range;

const PATHS: [Column; 2] = [Column::PathRaw, Column::Path];

/// The columns that say what a snapshot does not know.
const NOTES: [Column; 3] = [Column::Errno, Column::Operation, Column::Skipped];

/// The merge of a piece of one root.
pub(super) struct SamePages<'a> {
    reader: &'a Reader<'a>,
    merge: Merge<'a>,
    stored: StoredAlike<'a>,
    old: Pages<'a>,
    new: Pages<'a>,
    is_dirty: Vec<bool>,
    found: Findings,
}

impl<'a> SamePages<'a> {
    pub(super) fn new(reader: &'a Reader<'a>, merge: Merge<'a>) -> Self {
        Self {
            reader,
            merge,
            stored: StoredAlike::new(reader.old, reader.new),
            old: Pages::new(reader.old, 0..0, reader.columns),
            new: Pages::new(reader.new, 0..0, reader.columns),
            is_dirty: Vec::new(),
            found: Findings::default(),
        }
    }

    /// Merges a piece. Calls `compared` with numbers of rows.
    pub(super) fn run(
        mut self,
        piece: &SharedRoot,
        mut compared: impl FnMut(u64),
    ) -> Result<Findings, ReadError> {
        let mut rest = piece.clone();
        let both = piece.old.start.max(piece.new.start)..piece.old.end.min(piece.new.end);
        let mut at = both.start;
        while at < both.end {
            let page = self.reader.old.page_of(at);
            at = page.end.max(at + 1);
            let is_within = both.start <= page.start && page.end <= both.end;
            if !is_within || page.is_empty() || !has_same_paths(&mut self.stored, &page)? {
                continue;
            }
            self.merge_rows(&rest, page.start, page.start, &mut compared)?;
            self.compare_page(&page)?;
            compared(2 * (page.end - page.start));
            (rest.old.start, rest.new.start) = (page.end, page.end);
        }
        self.merge_rows(&rest, rest.old.end, rest.new.end, &mut compared)?;
        Ok(self.found)
    }

    /// Merges the rows before these.
    fn merge_rows(
        &mut self,
        rest: &SharedRoot,
        old: u64,
        new: u64,
        compared: &mut impl FnMut(u64),
    ) -> Result<(), ReadError> {
        if rest.old.start == old && rest.new.start == new {
            return Ok(());
        }
        self.old.turn_to(rest.old.start..old);
        self.new.turn_to(rest.new.start..new);
        let found = self.merge.run(&mut self.old, &mut self.new, |rows| {
            compared(rows as u64);
        })?;
        self.found.append(found);
        Ok(())
    }

    /// Compares a page that has the same paths in both files.
    fn compare_page(&mut self, page: &Range<u64>) -> Result<(), ReadError> {
        let mut alike = ColumnSet::default();
        for &column in self.reader.columns {
            if PATHS.contains(&column) || self.stored.has(column, page)? {
                alike.insert(column);
            }
        }
        let numbers = self.merge.numbers;
        let mut compared = self
            .reader
            .columns
            .iter()
            .filter(|column| is_compared(**column));
        let is_same = compared.all(|column| alike.contains(*column)) && numbers.old == numbers.new;
        let old = self.old.load_page(page, |column| NOTES.contains(&column))?;
        let new = self.new.load_page(page, |column| NOTES.contains(&column))?;
        let has_notes = |block: &PageBlock| NOTES.iter().any(|column| !block.is_absent(*column));
        let has_notes = has_notes(old) || has_notes(new);
        if is_same && !has_notes {
            return Ok(());
        }
        let old = &*self.old.load_more(|_| true)?;
        let new = &*self.new.load_more(|column| !alike.contains(column))?;
        let (old, new) = (
            View {
                own: old,
                other: old,
                alike: ColumnSet::default(),
            },
            View {
                own: new,
                other: old,
                alike,
            },
        );
        let (merge, found) = (&self.merge, &mut self.found);
        merge.note_unread(Which::Old, &old, found);
        merge.note_unread(Which::New, &new, found);
        merge.compare_run((&old, 0), (&new, 0), old.len(), &mut self.is_dirty, found);
        Ok(())
    }
}

/// Returns true if both files have the same paths in a page, and store them alike.
pub(super) fn has_same_paths(
    stored: &mut StoredAlike<'_>,
    page: &Range<u64>,
) -> Result<bool, ReadError> {
    for column in PATHS {
        if !stored.has(column, page)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A whole page, with columns that the page of the other snapshot has, too.
struct View<'b> {
    own: &'b PageBlock,
    other: &'b PageBlock,
    /// The columns that are read from the other page.
    alike: ColumnSet,
}

impl View<'_> {
    fn of(&self, column: Column) -> &PageBlock {
        if self.alike.contains(column) {
            self.other
        } else {
            self.own
        }
    }
}

impl Block for View<'_> {
    fn first_row(&self) -> u64 {
        self.own.first_row()
    }

    fn len(&self) -> usize {
        self.own.len()
    }

    fn path(&self, at: usize) -> &[u8] {
        self.of(Column::Path).path(at)
    }

    fn file_type(&self, at: usize) -> FileType {
        self.of(Column::Type).file_type(at)
    }

    fn integers(&self, column: Column) -> &[i64] {
        self.of(column).integers(column)
    }

    fn integer(&self, column: Column, at: usize) -> Option<i64> {
        self.of(column).integer(column, at)
    }

    fn text(&self, column: Column, at: usize) -> Option<&[u8]> {
        self.of(column).text(column, at)
    }

    fn is_absent(&self, column: Column) -> bool {
        self.of(column).is_absent(column)
    }

    fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]> {
        self.of(Column::Hash).hash(at)
    }

    fn has_same_types(&self, rows: Range<usize>, other: &Self, other_first: usize) -> bool {
        let (own, other) = (self.of(Column::Type), other.of(Column::Type));
        std::ptr::eq(own, other) || own.has_same_types(rows, other, other_first)
    }
}

#[cfg(test)]
mod tests;
