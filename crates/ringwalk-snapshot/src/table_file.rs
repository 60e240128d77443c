//! Tables as Parquet files and as CSV: results of `diff`, `report` and `dupes`, not snapshots.
//!
//! Every column may have nulls. `csv.rs` writes CSV.
//!
//! ```
//! use ringwalk_snapshot::table_file::{Cell, Column, TableWriter, Values};
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

use crate::info::CREATED_BY;
use crate::schema::GROUP_ROWS;
use parquet::basic::{
    Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::borrow::Borrow;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

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

    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.values {
            Values::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Bytes => (PhysicalType::BYTE_ARRAY, None),
            Values::Number => (PhysicalType::INT64, None),
            Values::Unsigned => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            Values::Time => {
                let nanoseconds = LogicalType::timestamp(true, TimeUnit::NANOS);
                (PhysicalType::INT64, Some(nanoseconds))
            }
            Values::Real => (PhysicalType::DOUBLE, None),
            Values::Boolean => (PhysicalType::BOOLEAN, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }
}

/// Writes one row after the other. Rows are in memory until there are [`GROUP_ROWS`] of them.
pub struct TableWriter<'a, R, W: Write + Send> {
    columns: Vec<Column<'a, R>>,
    rows: Vec<R>,
    writer: SerializedFileWriter<W>,
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
            writer: begin(name, &columns, out).map_err(io_error)?,
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
        self.writer.close().map_err(io_error)?;
        Ok(())
    }

    fn write_rows(&mut self) -> io::Result<()> {
        let rows = mem::take(&mut self.rows);
        write_group(&mut self.writer, &self.columns, &rows).map_err(io_error)
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
) -> Result<(), ParquetError> {
    let mut writer = begin(name, columns, out)?;
    // A group is in memory while it is written.
    for rows in rows.chunks(GROUP_ROWS) {
        write_group(&mut writer, columns, rows)?;
    }
    writer.close()?;
    Ok(())
}

fn begin<R, W: Write + Send>(
    name: &str,
    columns: &[Column<'_, R>],
    out: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let schema = Type::group_type_builder(name)
        .with_fields(fields.collect::<Result<_, _>>()?)
        .build()?;
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .build();
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
}

fn write_group<R, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[Column<'_, R>],
    rows: &[impl Borrow<R>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        write_column(&mut group, column, rows)?;
    }
    group.close()?;
    Ok(())
}

/// Returns an error of the file unchanged, so that its kind is kept.
pub(crate) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<'_, R>,
    rows: &[impl Borrow<R>],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Ok(());
    };
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    let (mut reals, mut booleans) = (Vec::new(), Vec::new());
    let mut levels = Vec::with_capacity(rows.len());
    for row in rows {
        let cell = column.cell(row.borrow());
        levels.push(i16::from(!matches!(cell, Cell::Null)));
        match cell {
            Cell::Null => {}
            Cell::Text(text) => texts.push(ByteArray::from(text)),
            Cell::Number(number) => numbers.push(number),
            Cell::Real(real) => reals.push(real),
            Cell::Boolean(boolean) => booleans.push(boolean),
        }
    }
    let levels = Some(&levels[..]);
    match column.values {
        Values::Text | Values::Bytes => {
            let writer = writer.typed::<ByteArrayType>();
            writer.write_batch(&texts, levels, None)?
        }
        Values::Number | Values::Unsigned | Values::Time => {
            let writer = writer.typed::<Int64Type>();
            writer.write_batch(&numbers, levels, None)?
        }
        Values::Real => {
            let writer = writer.typed::<DoubleType>();
            writer.write_batch(&reals, levels, None)?
        }
        Values::Boolean => {
            let writer = writer.typed::<BoolType>();
            writer.write_batch(&booleans, levels, None)?
        }
    };
    writer.close()
}

#[cfg(test)]
mod tests;
