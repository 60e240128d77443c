//! The columns that a scan can have. A new column is added to `COLUMNS`, to `_Field` in
//! `_ringwalk.pyi` and to the docstring of `scan` there; a test compares them.
//!
//! Names have two columns, as in snapshots: text with escapes, and the bytes of names that are not
//! UTF-8.

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ringwalk::{Fields, Metadata, Timestamp};
use std::sync::Arc;

/// The source and type of a column. A value of metadata that is not known is null.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Path,
    PathRaw,
    Name,
    NameRaw,
    Parent,
    ParentRaw,
    Depth,
    Root,
    Type,
    Signed(fn(&Metadata) -> Option<u64>),
    Long(fn(&Metadata) -> Option<u64>),
    Int(fn(&Metadata) -> Option<u32>),
    Time(fn(&Metadata) -> Option<Timestamp>),
}

/// The time zone of all times. Without one, consumers may take them for local time.
pub(crate) const TIME_ZONE: &str = "UTC";

/// A column that callers can select.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The metadata that the column needs.
    pub(super) needs: Fields,
}

impl Column {
    const fn new(name: &'static str, kind: Kind, needs: Fields) -> Self {
        Self { name, kind, needs }
    }

    fn data_type(&self) -> DataType {
        match self.kind {
            Kind::Path | Kind::Name => DataType::Utf8,
            Kind::PathRaw | Kind::NameRaw => DataType::Binary,
            Kind::Parent => dictionary(DataType::Int32, DataType::Utf8),
            Kind::ParentRaw => dictionary(DataType::Int32, DataType::Binary),
            Kind::Type => dictionary(DataType::Int8, DataType::Utf8),
            Kind::Depth | Kind::Root | Kind::Int(_) => DataType::UInt32,
            Kind::Signed(_) => DataType::Int64,
            Kind::Long(_) => DataType::UInt64,
            Kind::Time(_) => DataType::Timestamp(TimeUnit::Nanosecond, Some(TIME_ZONE.into())),
        }
    }

    fn is_nullable(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Path | Kind::Name | Kind::Parent | Kind::Depth | Kind::Root
        )
    }
}

fn dictionary(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

/// All columns.
pub(super) const COLUMNS: [Column; 24] = [
    Column::new("path", Kind::Path, Fields::empty()),
    Column::new("path_raw", Kind::PathRaw, Fields::empty()),
    Column::new("name", Kind::Name, Fields::empty()),
    Column::new("name_raw", Kind::NameRaw, Fields::empty()),
    Column::new("parent", Kind::Parent, Fields::empty()),
    Column::new("parent_raw", Kind::ParentRaw, Fields::empty()),
    Column::new("depth", Kind::Depth, Fields::empty()),
    Column::new("root", Kind::Root, Fields::empty()),
    Column::new("type", Kind::Type, Fields::empty()),
    Column::new("size", Kind::Signed(Metadata::size), Fields::SIZE),
    Column::new("blocks", Kind::Signed(Metadata::blocks), Fields::BLOCKS),
    Column::new("mtime", Kind::Time(Metadata::mtime), Fields::MTIME),
    Column::new("atime", Kind::Time(Metadata::atime), Fields::ATIME),
    Column::new("ctime", Kind::Time(Metadata::ctime), Fields::CTIME),
    Column::new("btime", Kind::Time(Metadata::btime), Fields::BTIME),
    Column::new(
        "mode",
        Kind::Int(Metadata::mode),
        Fields::TYPE.union(Fields::MODE),
    ),
    Column::new("nlink", Kind::Int(Metadata::nlink), Fields::NLINK),
    Column::new("uid", Kind::Int(Metadata::uid), Fields::UID),
    Column::new("gid", Kind::Int(Metadata::gid), Fields::GID),
    Column::new("ino", Kind::Long(Metadata::ino), Fields::INO),
    // Always known if any metadata is.
    Column::new("dev", Kind::Long(Metadata::dev), Fields::INO),
    Column::new("rdev", Kind::Long(Metadata::rdev), Fields::TYPE),
    Column::new("mnt_id", Kind::Long(Metadata::mnt_id), Fields::MNT_ID),
    Column::new(
        "projid",
        Kind::Int(Metadata::project_id),
        Fields::PROJECT_ID,
    ),
];

/// Returns the columns of these names, in this order.
///
/// # Errors
///
/// `ValueError` for a name that does not exist or comes twice, and for an empty list.
pub(super) fn columns(names: &[String]) -> PyResult<Vec<Column>> {
    if names.is_empty() {
        return Err(PyValueError::new_err("no fields"));
    }
    let mut columns: Vec<Column> = Vec::new();
    for name in names {
        let known = COLUMNS.iter().find(|column| column.name == name);
        let Some(column) = known else {
            let names = COLUMNS.map(|column| column.name).join(", ");
            return Err(PyValueError::new_err(format!(
                "no field {name:?}; there are: {names}"
            )));
        };
        if columns.iter().any(|earlier| earlier.name == name) {
            return Err(PyValueError::new_err(format!("field {name:?} twice")));
        }
        columns.push(*column);
    }
    Ok(columns)
}

/// Returns the schema of tables with these columns.
pub(super) fn schema(columns: &[Column]) -> Arc<Schema> {
    let fields = columns
        .iter()
        .map(|column| Field::new(column.name, column.data_type(), column.is_nullable()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the metadata that the walk must get.
pub(super) fn needs(columns: &[Column]) -> Fields {
    columns
        .iter()
        .fold(Fields::empty(), |all, column| all | column.needs)
}
