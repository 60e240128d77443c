//! Rows as columns: what the encoders are given.

use crate::columnar::{ATTRIBUTE, Cells};
use crate::schema::{COLUMN_COUNT, COLUMNS, Column, FULL_ATTRIBUTE_BYTES, FULL_ATTRIBUTES};

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

/// Names and values of the extended attributes of rows.
pub(crate) type Lists = [Cells; 2];

/// The index of the names of extended attributes among the cells.
pub(crate) const XATTR_NAMES: usize = COLUMN_COUNT;
/// The index of the values of extended attributes among the cells.
pub(crate) const XATTR_VALUES: usize = COLUMN_COUNT + 1;
const XATTR_CELLS: [usize; 2] = [XATTR_NAMES, XATTR_VALUES];

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
            cells.numbers.extend_from_slice(&other.numbers);
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
        clippy::inline_always,
        reason = "the facts of the column are constants then"
    )]
    #[inline(always)]
    pub(crate) fn number(&mut self, column: Column, value: Option<i64>) {
        let Some(value) = value else { return };
        self.defined(column).numbers.push(value);
    }

    /// Adds a cell to a column of truth values.
    #[inline]
    pub(crate) fn boolean(&mut self, column: Column, value: bool) {
        self.defined(column).numbers.push(value.into());
    }

    /// Adds a cell to a column of text or bytes. `None` is a null.
    #[inline]
    pub(crate) fn bytes(&mut self, column: Column, value: Option<&[u8]>) {
        let Some(value) = value else { return };
        self.defined(column).push_bytes(value);
    }

    /// Removes the extended attributes of the rows so far and returns them, if a page has no room
    /// for those of a further row.
    pub(crate) fn full_lists<'a>(
        &mut self,
        further: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Option<Lists> {
        let [names, values] = XATTR_CELLS.map(|index| &self.cells[index]);
        let mut number = names.repetitions.len();
        let mut bytes = [names.data.len(), values.data.len()];
        if number == 0 {
            return None;
        }
        for (name, value) in further {
            number += 1;
            bytes[0] += name.len();
            bytes[1] += value.len();
        }
        let is_full =
            number > FULL_ATTRIBUTES || bytes.iter().any(|&bytes| bytes > FULL_ATTRIBUTE_BYTES);
        is_full.then(|| XATTR_CELLS.map(|index| std::mem::take(&mut self.cells[index])))
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
                cells.definitions.push(ATTRIBUTE);
                cells.repetitions.push(repetition);
            }
            repetition = 1;
        }
        if repetition == 0 {
            for index in XATTR_CELLS {
                let cells = &mut self.cells[index];
                cells.definitions.push(u8::from(is_known));
                cells.repetitions.push(0);
            }
        }
    }
}
