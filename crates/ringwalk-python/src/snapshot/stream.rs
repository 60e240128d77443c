//! A snapshot as a stream of Arrow's C stream interface: all rows, a row group at a time.

use crate::scan::TIME_ZONE;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, MapBuilder, MapFieldNames, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use ringwalk_snapshot::{Chunk, Column, ReadError, Snapshot, Values, XattrReader};
use std::io;
use std::sync::Arc;

/// The name of the column of extended attributes.
const XATTRS: &str = "xattrs";

/// The rows of a snapshot.
pub(super) struct Rows {
    snapshot: Arc<Snapshot>,
    columns: Vec<Column>,
    has_xattrs: bool,
    schema: SchemaRef,
    /// The row group to read next.
    group: usize,
}

impl Rows {
    /// Returns a stream of all rows, with the columns that the file has.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Result<Self, ReadError> {
        let columns = Column::all().filter(|column| snapshot.has(*column));
        let columns: Vec<Column> = columns.collect();
        let has_xattrs = XattrReader::of(&snapshot)?.is_some();
        let fields = columns.iter().map(|column| {
            let data_type = data_type(column.facts().values);
            Field::new(column.name(), data_type, !column.facts().required)
        });
        let xattrs = has_xattrs.then(|| Field::new(XATTRS, map_type(), true));
        let schema = Schema::new(fields.chain(xattrs).collect::<Vec<_>>());
        Ok(Self {
            snapshot,
            columns,
            has_xattrs,
            schema: Arc::new(schema),
            group: 0,
        })
    }

    /// Reads the next row group; `None` at the end.
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(rows) = self.snapshot.row_groups().get(self.group) else {
            return Ok(None);
        };
        let types = self.columns.iter().map(|column| column.facts().values);
        let mut filling: Vec<Filling> = types.map(Filling::new).collect();
        let mut scan = self
            .snapshot
            .scan(rows.clone(), &self.columns)
            .map_err(failed)?;
        while let Some(chunk) = scan.next_chunk().map_err(failed)? {
            for (filling, column) in filling.iter_mut().zip(&self.columns) {
                filling.add(chunk, *column)?;
            }
        }
        let mut arrays: Vec<ArrayRef> = filling.into_iter().map(Filling::finish).collect();
        if self.has_xattrs {
            let count = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
            arrays.push(xattrs(&self.snapshot, self.group, count)?);
        }
        self.group += 1;
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map(Some)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn failed(error: ReadError) -> ArrowError {
    let text = error.to_string();
    ArrowError::IoError(text, io::Error::other(error))
}

fn data_type(column: Values) -> DataType {
    match column {
        Values::Int32 => DataType::Int32,
        Values::Uint32 => DataType::UInt32,
        Values::Int64 => DataType::Int64,
        Values::Uint64 => DataType::UInt64,
        Values::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(TIME_ZONE.into())),
        Values::Boolean => DataType::Boolean,
        Values::Text => DataType::Utf8,
        Values::Bytes => DataType::Binary,
    }
}

/// A column that is being filled.
enum Filling {
    Int32(PrimitiveBuilder<Int32Type>),
    Uint32(PrimitiveBuilder<UInt32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Uint64(PrimitiveBuilder<UInt64Type>),
    Time(PrimitiveBuilder<TimestampNanosecondType>),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
}

impl Filling {
    fn new(column: Values) -> Self {
        match column {
            Values::Int32 => Self::Int32(PrimitiveBuilder::new()),
            Values::Uint32 => Self::Uint32(PrimitiveBuilder::new()),
            Values::Int64 => Self::Int64(PrimitiveBuilder::new()),
            Values::Uint64 => Self::Uint64(PrimitiveBuilder::new()),
            Values::Time => Self::Time(PrimitiveBuilder::new().with_data_type(data_type(column))),
            Values::Boolean => Self::Boolean(BooleanBuilder::new()),
            Values::Text => Self::Text(StringBuilder::new()),
            Values::Bytes => Self::Bytes(BinaryBuilder::new()),
        }
    }

    /// Adds a page of the column.
    fn add(&mut self, chunk: &Chunk, column: Column) -> Result<(), ArrowError> {
        let numbers = (0..chunk.len()).map(|at| chunk.integer(column, at));
        let texts = (0..chunk.len()).map(|at| chunk.bytes(column, at));
        match self {
            Self::Int32(builder) => numbers_of(builder, numbers)?,
            Self::Uint32(builder) => numbers_of(builder, numbers)?,
            Self::Int64(builder) => builder.extend(numbers),
            Self::Time(builder) => builder.extend(numbers),
            Self::Uint64(builder) => {
                builder.extend(numbers.map(|number| number.map(i64::cast_unsigned)));
            }
            Self::Boolean(builder) => {
                builder.extend(numbers.map(|number| number.map(|number| number != 0)));
            }
            Self::Text(builder) => {
                for text in texts {
                    let text = text.map(str::from_utf8).transpose();
                    builder.append_option(text.map_err(|_| damaged("a text is not UTF-8"))?);
                }
            }
            Self::Bytes(builder) => builder.extend(texts),
        }
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Int32(mut builder) => Arc::new(builder.finish()),
            Self::Uint32(mut builder) => Arc::new(builder.finish()),
            Self::Int64(mut builder) => Arc::new(builder.finish()),
            Self::Uint64(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Bytes(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// Adds numbers of 32 bits.
fn numbers_of<T: ArrowPrimitiveType<Native: TryFrom<i64>>>(
    builder: &mut PrimitiveBuilder<T>,
    numbers: impl Iterator<Item = Option<i64>>,
) -> Result<(), ArrowError> {
    for number in numbers {
        let number = number.map(T::Native::try_from).transpose();
        builder.append_option(number.map_err(|_| damaged("a number has more than 32 bits"))?);
    }
    Ok(())
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::ParseError(format!("the snapshot is damaged: {what}"))
}

fn map_names() -> MapFieldNames {
    MapFieldNames {
        entry: "key_value".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    }
}

fn map_builder() -> MapBuilder<BinaryBuilder, BinaryBuilder> {
    let value = Field::new("value", DataType::Binary, false);
    MapBuilder::new(
        Some(map_names()),
        BinaryBuilder::new(),
        BinaryBuilder::new(),
    )
    .with_values_field(value)
}

fn map_type() -> DataType {
    map_builder().finish().data_type().clone()
}

/// Reads the extended attributes of a row group.
fn xattrs(snapshot: &Snapshot, group: usize, rows: usize) -> Result<ArrayRef, ArrowError> {
    let mut builder = map_builder();
    let reader = XattrReader::of(snapshot).map_err(failed)?;
    let mut reader = reader.ok_or_else(|| damaged("it has lost its extended attributes"))?;
    reader.go_to(group, 0).map_err(failed)?;
    for attributes in reader.next(rows).map_err(failed)? {
        let is_known = attributes.is_some();
        for (name, value) in attributes.into_iter().flatten() {
            builder.keys().append_value(name);
            builder.values().append_value(value);
        }
        builder.append(is_known)?;
    }
    Ok(Arc::new(builder.finish()))
}
