//! The cells of a page of rows.

use crate::schema::{COLUMNS, Column};
use ringwalk::FileType;

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

    fn has(&self, at: usize) -> bool {
        !self.is_absent && self.present.get(at).copied().unwrap_or(true)
    }
}

/// Up to a page of rows, with the columns that were asked for. The other columns have no values.
#[derive(Debug)]
pub struct Chunk {
    pub(super) first_row: u64,
    pub(super) len: usize,
    /// The number of cells before those of the first row.
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
        match self.bytes(Column::Type, at) {
            Some(b"f") => FileType::Regular,
            Some(b"d") => FileType::Directory,
            Some(b"l") => FileType::Symlink,
            Some(b"b") => FileType::BlockDevice,
            Some(b"c") => FileType::CharacterDevice,
            Some(b"p") => FileType::Fifo,
            Some(b"s") => FileType::Socket,
            _ => FileType::Unknown,
        }
    }
}
