//! Tables as Parquet files and as CSV: results of `diff`, `report` and `dupes`, not snapshots.
//!
//! Every column may have nulls. `csv.rs` writes CSV.
//!
//! ```
//! use ringwalk_answers::table_file::{Cell, Column, TableWriter, Values};
//!
//! let columns = vec![
//!     Column::new("name", Values::Text, |row: &(&str, i64)| row.0.into()),
//!     Column::new("size", Values::Number, |row: &(&str, i64)| Cell::Number(row.1)),
//! ];
//! let mut file = Vec::new();
//! let mut table = TableWriter::new("files", columns, &mut file)?;
//! table.push(("a", 5))?;
//! table.finish()?;
//! assert!(file.starts_with(b"PAR1"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod csv;

pub use csv::{push_csv_names, push_csv_row};

use ringwalk_snapshot::columnar::{
    Cells, ColumnWriter, Encoding, Field, FileWriter, Logical, Physical, Repetition, Settings,
    compressor,
};
use ringwalk_snapshot::{CREATED_BY, GROUP_ROWS, PAGE_ROWS};
use std::borrow::Borrow;
use std::fmt;
use std::io::{self, Write};
use std::mem;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// Text or bytes.
    Text(Vec<u8>),
    /// A number or a time. Unsigned numbers of 64 bits keep their bits.
    Number(i64),
    /// A fraction.
    Real(f64),
    /// True or false.
    Boolean(bool),
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into_bytes())
    }
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Text in UTF-8: `BYTE_ARRAY` with the logical type `STRING`.
    Text,
    /// Bytes: `BYTE_ARRAY`.
    Bytes,
    /// Signed numbers: `INT64`.
    Number,
    /// Unsigned numbers: `INT64` with the logical type `INTEGER(64, false)`.
    Unsigned,
    /// Nanoseconds since 1970-01-01 00:00 UTC: `INT64` with the logical type `TIMESTAMP`.
    Time,
    /// Fractions: `DOUBLE`.
    Real,
    /// `BOOLEAN`.
    Boolean,
}

/// A column: its name, its values, and the cell of a row.
pub struct Column<'a, R> {
    name: String,
    values: Values,
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

impl<R> fmt::Debug for Column<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, values, .. } = self;
        f.debug_tuple("Column").field(name).field(values).finish()
    }
}

impl<'a, R> Column<'a, R> {
    /// Creates a column whose cells `cell` returns. Each cell is null, or one of `values`.
    pub fn new(name: impl Into<String>, values: Values, cell: impl Fn(&R) -> Cell + 'a) -> Self {
        Self {
            name: name.into(),
            values,
            cell: Box::new(cell),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the cells hold.
    pub fn values(&self) -> Values {
        self.values
    }

    /// Returns the cell of a row.
    pub fn cell(&self, row: &R) -> Cell {
        (self.cell)(row)
    }

    fn field(&self) -> Field {
        let (physical, logical) = match self.values {
            Values::Text => (Physical::ByteArray, Some(Logical::String)),
            Values::Bytes => (Physical::ByteArray, None),
            Values::Number => (Physical::Int64, None),
            Values::Unsigned => (Physical::Int64, Some(Logical::Unsigned)),
            Values::Time => (Physical::Int64, Some(Logical::Nanoseconds)),
            Values::Real => (Physical::Double, None),
            Values::Boolean => (Physical::Boolean, None),
        };
        Field::column(&self.name, Repetition::Optional, physical, logical)
    }
}

/// Writes one row after the other. Rows are in memory until there are [`GROUP_ROWS`] of them.
pub struct TableWriter<'a, R, W: Write + Send> {
    columns: Vec<Column<'a, R>>,
    rows: Vec<R>,
    writer: FileWriter<W>,
}

impl<R, W: Write + Send> fmt::Debug for TableWriter<'_, R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWriter")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl<'a, R, W: Write + Send> TableWriter<'a, R, W> {
    /// Begins a Parquet file whose schema has this name.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn new(name: &str, columns: Vec<Column<'a, R>>, out: W) -> io::Result<Self> {
        Ok(Self {
            writer: begin(name, &columns, out)?,
            columns,
            rows: Vec::new(),
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn push(&mut self, row: R) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() < GROUP_ROWS {
            return Ok(());
        }
        self.write_rows()
    }

    /// Writes the last rows and the footer. Without this call the file is not complete.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_rows()?;
        }
        self.writer.finish(CREATED_BY, &[]).map(drop)
    }

    fn write_rows(&mut self) -> io::Result<()> {
        let rows = mem::take(&mut self.rows);
        write_group(&mut self.writer, &self.columns, &rows)
    }
}

/// Writes rows as a Parquet file whose schema has this name.
///
/// # Errors
///
/// When `out` cannot be written.
pub(crate) fn write<R>(
    name: &str,
    columns: &[Column<'_, R>],
    rows: &[&R],
    out: impl Write + Send,
) -> io::Result<()> {
    let mut writer = begin(name, columns, out)?;
    // A group is in memory while it is written.
    for rows in rows.chunks(GROUP_ROWS) {
        write_group(&mut writer, columns, rows)?;
    }
    writer.finish(CREATED_BY, &[]).map(drop)
}

fn begin<R, W: Write + Send>(
    name: &str,
    columns: &[Column<'_, R>],
    out: W,
) -> io::Result<FileWriter<W>> {
    let fields = columns.iter().map(Column::field).collect();
    FileWriter::new(out, Field::group(name, None, fields))
}

fn write_group<R, W: Write + Send>(
    writer: &mut FileWriter<W>,
    columns: &[Column<'_, R>],
    rows: &[impl Borrow<R>],
) -> io::Result<()> {
    const SETTINGS: Settings = Settings {
        dictionary: true,
        encoding: Encoding::Plain,
        bounds: true,
    };
    let mut zstd = compressor()?;
    let mut chunks = Vec::with_capacity(columns.len());
    for (column, leaf) in columns.iter().zip(writer.leaves()) {
        let mut encoded = ColumnWriter::new(leaf.clone(), SETTINGS);
        let mut cells = Cells::default();
        for rows in rows.chunks(PAGE_ROWS) {
            cells.clear();
            for row in rows {
                push_cell(&column.cell(row.borrow()), &mut cells);
            }
            encoded.page(&cells, &mut zstd)?;
        }
        chunks.push(encoded.finish(&mut zstd)?);
    }
    writer.group(chunks)
}

fn push_cell(cell: &Cell, cells: &mut Cells) {
    cells.definitions.push(u8::from(*cell != Cell::Null));
    match cell {
        Cell::Null => {}
        Cell::Text(text) => cells.push_bytes(text),
        Cell::Number(number) => cells.numbers.push(*number),
        Cell::Real(real) => cells.numbers.push(real.to_bits().cast_signed()),
        Cell::Boolean(boolean) => cells.numbers.push((*boolean).into()),
    }
}

#[cfg(test)]
mod tests;
