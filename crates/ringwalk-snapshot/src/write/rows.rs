//! Rows as columns: what the encoders are given.

use crate::schema::{COLUMN_COUNT, COLUMNS, Column, Values};

/// The cells of one column.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// 1 for each value, 0 for each null. Empty for columns without nulls. For the extended
    /// attributes: 0 for null, 1 for none, 2 for each attribute.
    pub(crate) definitions: Vec<i16>,
    /// The number of first rows that have a value, before `definitions` begins.
    dense: usize,
    /// For the extended attributes: 0 for the first attribute of a row, 1 for the others.
    pub(crate) repetitions: Vec<i16>,
    pub(crate) i32s: Vec<i32>,
    pub(crate) i64s: Vec<i64>,
    pub(crate) booleans: Vec<bool>,
    /// Values of text and bytes, one after the other, and the end of each.
    pub(crate) data: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl Cells {
    fn clear(&mut self) {
        self.definitions.clear();
        self.dense = 0;
        self.repetitions.clear();
        self.i32s.clear();
        self.i64s.clear();
        self.booleans.clear();
        self.data.clear();
        self.ends.clear();
    }

    /// Notes that a row has a value, and that the rows before it without one have nulls.
    #[inline]
    fn define(&mut self, row: usize) {
        // Most columns have no nulls, or few values.
        if self.dense == row {
            self.dense += 1;
        } else {
            self.fill(row);
            self.definitions.push(1);
        }
    }

    /// Writes out the definitions of the rows before this one.
    fn fill(&mut self, row: usize) {
        if self.definitions.is_empty() {
            self.definitions.resize(self.dense, 1);
        }
        self.definitions.resize(row, 0);
    }

    #[inline]
    fn push_bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
        self.ends.push(self.data.len());
    }
}

/// Up to a page of rows, as columns in the order of [`COLUMNS`]. Two more hold names and values of
/// extended attributes.
#[derive(Debug)]
pub(crate) struct Rows {
    cells: Box<[Cells; COLUMN_COUNT + 2]>,
    len: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            cells: Box::new(std::array::from_fn(|_| Cells::default())),
            len: 0,
        }
    }
}

/// The index of the names of extended attributes among the cells.
pub(crate) const XATTR_NAMES: usize = COLUMN_COUNT;
/// The index of the values of extended attributes among the cells.
pub(crate) const XATTR_VALUES: usize = COLUMN_COUNT + 1;

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.cells.iter_mut().for_each(Cells::clear);
        self.len = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn cells(&self, index: usize) -> &Cells {
        &self.cells[index]
    }

    /// Ends a row. A column without a cell has a null.
    pub(crate) fn end_row(&mut self) {
        self.len += 1;
    }

    /// Ends the page: adds the nulls behind the last value of each column.
    pub(crate) fn end_page(&mut self) {
        for (facts, cells) in COLUMNS.iter().zip(self.cells.iter_mut()) {
            if !facts.required {
                cells.fill(self.len);
            }
        }
    }

    /// Appends other rows. No single row may be added behind them.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.end_page();
        other.end_page();
        for (cells, other) in self.cells.iter_mut().zip(other.cells.iter()) {
            let begin = cells.data.len();
            cells.definitions.extend_from_slice(&other.definitions);
            cells.repetitions.extend_from_slice(&other.repetitions);
            cells.i32s.extend_from_slice(&other.i32s);
            cells.i64s.extend_from_slice(&other.i64s);
            cells.booleans.extend_from_slice(&other.booleans);
            cells.data.extend_from_slice(&other.data);
            cells.ends.extend(other.ends.iter().map(|end| begin + end));
        }
        self.len += other.len;
    }

    /// Returns the cells of a column that has a value in this row. Adds the nulls before it.
    #[expect(
        clippy::inline_always,
        reason = "the facts of the column are constants then"
    )]
    #[inline(always)]
    fn defined(&mut self, column: Column) -> &mut Cells {
        let cells = &mut self.cells[column as usize];
        if !column.facts().required {
            cells.define(self.len);
        }
        cells
    }

    /// Adds a cell to a column of numbers or times. `None` is a null.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "values of a column of 32 bits have 32 bits"
    )]
    #[expect(
        clippy::inline_always,
        reason = "the facts of the column are constants then"
    )]
    #[inline(always)]
    pub(crate) fn number(&mut self, column: Column, value: Option<i64>) {
        let Some(value) = value else { return };
        let is_narrow = matches!(column.facts().values, Values::Int32 | Values::Uint32);
        let cells = self.defined(column);
        if is_narrow {
            cells.i32s.push(value as i32);
        } else {
            cells.i64s.push(value);
        }
    }

    /// Adds a cell to a column of truth values.
    #[inline]
    pub(crate) fn boolean(&mut self, column: Column, value: bool) {
        self.defined(column).booleans.push(value);
    }

    /// Adds a cell to a column of text or bytes. `None` is a null.
    #[inline]
    pub(crate) fn bytes(&mut self, column: Column, value: Option<&[u8]>) {
        let Some(value) = value else { return };
        self.defined(column).push_bytes(value);
    }

    /// Adds the extended attributes of a row. `None` are attributes that could not be read.
    pub(crate) fn xattrs<'a>(
        &mut self,
        attributes: Option<impl Iterator<Item = (&'a [u8], &'a [u8])>>,
    ) {
        let is_known = attributes.is_some();
        let mut repetition = 0;
        for (name, value) in attributes.into_iter().flatten() {
            for (index, bytes) in [(XATTR_NAMES, name), (XATTR_VALUES, value)] {
                let cells = &mut self.cells[index];
                cells.push_bytes(bytes);
                cells.definitions.push(2);
                cells.repetitions.push(repetition);
            }
            repetition = 1;
        }
        if repetition == 0 {
            for index in [XATTR_NAMES, XATTR_VALUES] {
                let cells = &mut self.cells[index];
                cells.definitions.push(i16::from(is_known));
                cells.repetitions.push(0);
            }
        }
    }
}
