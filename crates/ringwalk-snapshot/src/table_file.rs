//! Small tables as Parquet files: results of `diff` and `report`, not snapshots.
//!
//! Every column may have nulls.

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
use std::io::Write;
use std::sync::Arc;

/// A cell.
#[derive(Debug)]
pub(crate) enum Cell {
    Null,
    /// Text or bytes.
    Text(Vec<u8>),
    /// A number or a time. Unsigned numbers of 64 bits keep their bits.
    Number(i64),
    Real(f64),
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
pub(crate) enum Values {
    Text,
    Bytes,
    Number,
    Unsigned,
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    Time,
    Real,
    Boolean,
}

/// A column: its name, its values, and the cell of a row.
pub(crate) struct Column<'a, R> {
    name: String,
    values: Values,
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

impl<'a, R> Column<'a, R> {
    pub(crate) fn new(
        name: impl Into<String>,
        values: Values,
        cell: impl Fn(&R) -> Cell + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            values,
            cell: Box::new(cell),
        }
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
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let schema = Type::group_type_builder(name)
        .with_fields(fields.collect::<Result<_, _>>()?)
        .build()?;
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    // A group is in memory while it is written.
    for rows in rows.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for column in columns {
            write_column(&mut group, column, rows)?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<'_, R>,
    rows: &[&R],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Ok(());
    };
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    let (mut reals, mut booleans) = (Vec::new(), Vec::new());
    let mut levels = Vec::with_capacity(rows.len());
    for row in rows {
        let cell = (column.cell)(row);
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
