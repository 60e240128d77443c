//! The cells of a page of rows.

use crate::kind::type_of_letter;
use crate::schema::{COLUMNS, Column, HASH_BYTES};
use ringwalk::FileType;
use std::ops::Range;

/// The cells of one column.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// True for each row with a value. Empty if all have one.
    pub(super) present: Vec<bool>,
    /// True if no row has a value.
    pub(super) is_absent: bool,
    pub(super) numbers: Vec<i64>,
    pub(super) data: Vec<u8>,
    /// The end of each value in `data`.
    pub(super) ends: Vec<u32>,
}

impl Cells {
    /// Removes all cells, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.is_absent = true;
        self.present.clear();
        self.numbers.clear();
        self.data.clear();
        self.ends.clear();
    }

    /// Returns true if each value has so many bytes. Rows without a value have none.
    pub(super) fn have_length(&self, length: usize) -> bool {
        let mut begin = 0;
        self.ends.iter().enumerate().all(|(at, end)| {
            let expected = if self.has(at) { length } else { 0 };
            let actual = (*end - begin) as usize;
            begin = *end;
            actual == expected
        })
    }

    fn has(&self, at: usize) -> bool {
        !self.is_absent && self.present.get(at).copied().unwrap_or(true)
    }
}

/// Up to a page of rows, with the columns that were asked for. The other columns have no values.
#[derive(Debug)]
pub struct Chunk {
    pub(super) first_row: u64,
    pub(super) len: usize,
    /// The number of cells before the cells of the first row.
    pub(super) offset: usize,
    pub(super) cells: Vec<Cells>,
}

impl Chunk {
    pub(super) fn new() -> Self {
        let cells = || Cells {
            is_absent: true,
            ..Cells::default()
        };
        Self {
            first_row: 0,
            len: 0,
            offset: 0,
            cells: COLUMNS.iter().map(|_| cells()).collect(),
        }
    }

    /// Removes all cells, and keeps their memory.
    pub(super) fn clear(&mut self) {
        for cells in &mut self.cells {
            cells.clear();
        }
    }

    /// Returns the number of the first row.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if no row of the page has a value of this column, as far as the file says so
    /// without reading the page.
    pub fn is_absent(&self, column: Column) -> bool {
        self.cells[column as usize].is_absent
    }

    /// Returns the cell of a column of numbers, times (nanoseconds since 1970-01-01 00:00 UTC) or
    /// truth values (0 or 1), in the row `at` of this chunk; `None` for a null. An unsigned number
    /// of 64 bits is given by its bits.
    #[inline]
    pub fn integer(&self, column: Column, at: usize) -> Option<i64> {
        let (cells, at) = (&self.cells[column as usize], at + self.offset);
        if cells.has(at) {
            cells.numbers.get(at).copied()
        } else {
            None
        }
    }

    /// Returns the cells of such a column, with 0 for each null. Empty if the column was not asked
    /// for, or the file lacks it.
    pub fn integers(&self, column: Column) -> &[i64] {
        let numbers = &self.cells[column as usize].numbers;
        let end = self.offset + self.len;
        numbers.get(self.offset..end).unwrap_or_default()
    }

    /// Returns the cell of a column of text or bytes; `None` for a null.
    #[inline]
    pub fn bytes(&self, column: Column, at: usize) -> Option<&[u8]> {
        let (cells, at) = (&self.cells[column as usize], at + self.offset);
        if !cells.has(at) {
            return None;
        }
        let end = *cells.ends.get(at)? as usize;
        let begin = if at == 0 {
            0
        } else {
            cells.ends[at - 1] as usize
        };
        Some(&cells.data[begin..end])
    }

    /// Returns the hash of the contents; `None` for a null. The column [`Column::Hash`] must have
    /// been asked for.
    pub fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]> {
        // The length was checked when the column was read.
        self.bytes(Column::Hash, at)?.try_into().ok()
    }

    /// Returns true if this column of text has the same cells in these rows as in the rows of
    /// another chunk.
    pub fn has_same_texts(
        &self,
        column: Column,
        rows: Range<usize>,
        other: &Self,
        other_first: usize,
    ) -> bool {
        let at = |row: usize| row - rows.start + other_first;
        let own = self.texts(column, rows.clone());
        let others = other.texts(column, other_first..at(rows.end));
        if let (Some((begin, ends, data)), Some((other_begin, other_ends, other_data))) =
            (own, others)
        {
            let ends = ends.iter().map(|end| end - begin);
            return data == other_data && ends.eq(other_ends.iter().map(|end| end - other_begin));
        }
        rows.clone()
            .all(|row| self.bytes(column, row) == other.bytes(column, at(row)))
    }

    /// Returns the begin of the first text in these rows, the end of each, and their bytes. Returns
    /// `None` if rows may have no text.
    fn texts(&self, column: Column, rows: Range<usize>) -> Option<(u32, &[u32], &[u8])> {
        let cells = &self.cells[column as usize];
        if cells.is_absent || !cells.present.is_empty() {
            return None;
        }
        let rows = rows.start + self.offset..rows.end + self.offset;
        let begin = match rows.start.checked_sub(1) {
            Some(before) => *cells.ends.get(before)?,
            None => 0,
        };
        let ends = cells.ends.get(rows)?;
        let bytes = begin as usize..ends.last().map_or(begin, |end| *end) as usize;
        Some((begin, ends, cells.data.get(bytes)?))
    }

    /// Returns the path relative to the root, as it was. The columns [`Column::Path`] and
    /// [`Column::PathRaw`] must have been asked for.
    pub fn path(&self, at: usize) -> &[u8] {
        let raw = self.bytes(Column::PathRaw, at);
        raw.or_else(|| self.bytes(Column::Path, at))
            .unwrap_or_default()
    }

    /// Returns the name: the last component of the path.
    pub fn name(&self, at: usize) -> &[u8] {
        let path = self.path(at);
        let slash = path.iter().rposition(|byte| *byte == b'/');
        &path[slash.map_or(0, |slash| slash + 1)..]
    }

    /// Returns the type of the file. The column [`Column::Type`] must have been asked for.
    pub fn file_type(&self, at: usize) -> FileType {
        type_of_letter(self.bytes(Column::Type, at))
    }
}
