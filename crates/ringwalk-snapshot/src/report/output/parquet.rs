//! Parquet: one row group with the columns of the CSV.

use super::cells::{Cell, Column, Kind, columns, table};
use crate::report::{Ranking, Report};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// Writes a report as a Parquet file.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn parquet(
    report: &Report,
    ranking: &Ranking<'_>,
    out: impl Write + Send,
) -> Result<(), ParquetError> {
    let mut columns = columns(report);
    columns.push(("others", Kind::Integer));
    let rows: Vec<_> = table(report, ranking).collect();
    let properties = WriterProperties::builder()
        .set_created_by(concat!("ringwalk ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema(&columns)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (at, column) in columns.iter().enumerate() {
        write_column(&mut group, *column, rows.iter().map(|row| &row[at]))?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|(name, kind)| {
        let (physical, logical) = match kind {
            Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (PhysicalType::INT64, None),
            Kind::Real => (PhysicalType::DOUBLE, None),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    });
    let fields = fields.collect::<Result<_, ParquetError>>()?;
    let schema = Type::group_type_builder("report")
        .with_fields(fields)
        .build()?;
    Ok(Arc::new(schema))
}

fn write_column<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    (_, kind): Column,
    cells: impl Iterator<Item = &'c Cell> + Clone,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    let is_known = cells.clone().map(|cell| *cell != Cell::Null);
    let levels: Vec<_> = is_known.map(i16::from).collect();
    match kind {
        Kind::Text => {
            let text = cells.filter_map(|cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            });
            let values: Vec<_> = text.collect();
            let writer = column.typed::<ByteArrayType>();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        Kind::Integer => {
            let numbers = cells.filter_map(|cell| match cell {
                Cell::Integer(number) => Some(*number),
                _ => None,
            });
            let values: Vec<_> = numbers.collect();
            let writer = column.typed::<Int64Type>();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        Kind::Real => {
            let numbers = cells.filter_map(|cell| match cell {
                Cell::Real(number) => Some(*number),
                _ => None,
            });
            let values: Vec<_> = numbers.collect();
            let writer = column.typed::<DoubleType>();
            writer.write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()
}
