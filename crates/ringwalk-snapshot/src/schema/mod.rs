//! The columns of a snapshot: the [table](columns), and what follows from it for the file.
//!
//! `docs/snapshot.md` describes them for readers of the files; a test compares the two. A column
//! that is added must be optional, so that older readers of this version of the schema still read
//! the file. Any other change needs a new [`VERSION`].

mod columns;

pub(crate) use columns::COLUMNS;
pub use columns::{
    ATTRIBUTES, AttributeSink, AttributeSource, Attributes, COLUMN_COUNT, Column, Compared,
    Contents, Facts, Values, count_numbers, numbers,
};

use crate::columnar::{Encoding, Field, Logical, Physical, Repetition};
use columns::Storage;
use ringwalk::Fields;

/// The version of the schema, in the key `ringwalk.schema` of the footer.
pub const VERSION: &str = "1";

/// Rows of a page. All columns except the extended attributes have page boundaries at the same
/// rows, so that a range of rows can be read by its pages.
pub const PAGE_ROWS: usize = 8192;

/// The longest path in bytes, relative to the root. A page holds whole paths, so longer ones could
/// fill the memory of a reader. `PATH_MAX`, the limit of a path for a system call, is 4096.
pub const LONGEST_PATH: usize = 16 << 10;

/// The most bytes of a page of text: each path is as long as can be, all of it escaped as `\xHH`,
/// and has its length in front. A reader refuses a page that has more, before it takes memory.
pub(crate) const MOST_TEXT: usize = PAGE_ROWS * (4 * LONGEST_PATH + 4);

/// A page of extended attributes has no more attributes, and no more bytes of names or of values,
/// unless those of one file are more. A page of a part of a cluster walk ends after the file that
/// fills it.
pub(crate) const FULL_ATTRIBUTES: usize = 64 << 10;
pub(crate) const FULL_ATTRIBUTE_BYTES: usize = 8 << 20;

/// The most bytes of names and values of a file. A file with more has the error `E2BIG`.
pub(crate) const MOST_FILE_ATTRIBUTE_BYTES: usize = 64 << 20;

/// The most attributes of a page: a page that is not full takes one more file. The kernel lists the
/// names of a file in at most 64 KiB (`XATTR_LIST_MAX` of `linux/limits.h`), each with a zero byte.
pub(crate) const MOST_ATTRIBUTES: usize = FULL_ATTRIBUTES + (64 << 10) / 2;

/// Rows of a row group. Readers such as DuckDB skip whole row groups by their statistics. With the
/// usual million rows, a query for one subtree would read most of a file.
pub const GROUP_ROWS: usize = 16 * PAGE_ROWS;

/// Bytes of a hash of contents.
pub const HASH_BYTES: usize = 32;

/// The column of a [part](Shape::Part) that has the place of `charged` among the cells. Which name
/// of a file counts is only known when all parts are there.
static CHARGED_ONCE: Facts = Facts {
    name: "charged_once",
    description: "True if only one of the names of this file counts in sums.",
    ..COLUMNS[Column::Charged as usize]
};

/// The name of the group that holds the extended attributes. It is a column of type MAP, with the
/// leaves `key` and `value`.
pub(crate) const XATTRS: &str = "xattrs";

impl Column {
    /// All columns, in the order of the file.
    pub fn all() -> impl Iterator<Item = Self> {
        COLUMNS.iter().map(|facts| facts.column)
    }

    /// Returns what is fixed for this column.
    pub fn facts(self) -> &'static Facts {
        &COLUMNS[self as usize]
    }

    /// Returns the name in the file.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the column with this name in the file.
    pub fn of_name(name: &str) -> Option<Self> {
        let facts = COLUMNS.iter().find(|facts| facts.name == name)?;
        Some(facts.column)
    }
}

/// A set of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnSet(u64);

const _: () = assert!(COLUMN_COUNT < 64);

impl ColumnSet {
    /// Adds a column.
    pub fn insert(&mut self, column: Column) {
        self.0 |= 1 << column as u64;
    }

    /// Removes a column.
    pub fn remove(&mut self, column: Column) {
        self.0 &= !(1 << column as u64);
    }

    /// Returns true if the set has this column.
    pub fn contains(self, column: Column) -> bool {
        self.0 & 1 << column as u64 != 0
    }

    /// Returns true if the set has no column.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the columns of the set, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = Column> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            // 64 if the rest is empty, and there are fewer columns.
            let facts = COLUMNS.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(facts.column)
        })
    }
}

impl Facts {
    /// Returns true if the column has a dictionary only where it saves space.
    pub(crate) fn may_differ(&self) -> bool {
        self.storage == Storage::DictionaryOrDelta
    }

    /// Returns whether values are stored once a row group, as long as they are few, and how they
    /// are stored without a dictionary.
    pub(crate) fn encoding(&self) -> (bool, Encoding) {
        match self.storage {
            Storage::Dictionary => (true, Encoding::Plain),
            Storage::DictionaryOrDelta => (true, Encoding::DeltaBinaryPacked),
            Storage::Delta => (false, Encoding::DeltaBinaryPacked),
            Storage::Prefixes => (false, Encoding::DeltaByteArray),
            Storage::Plain => (false, Encoding::Plain),
        }
    }

    /// Returns true if Ringwalk stores pages of the column in this encoding.
    pub(crate) fn may_have(&self, encoding: Encoding) -> bool {
        let (dictionary, own) = self.encoding();
        let is_index = matches!(
            encoding,
            Encoding::RleDictionary | Encoding::PlainDictionary
        );
        encoding == own || (dictionary && is_index)
    }

    pub(crate) fn physical(&self) -> Physical {
        match self.values {
            Values::Int32 | Values::Uint32 => Physical::Int32,
            Values::Int64 | Values::Uint64 | Values::Time => Physical::Int64,
            Values::Boolean => Physical::Boolean,
            Values::Text | Values::Bytes => Physical::ByteArray,
        }
    }

    /// Returns the length that each value must have, of a column of bytes with one length.
    pub(crate) fn length(&self) -> Option<usize> {
        (self.column == Column::Hash).then_some(HASH_BYTES)
    }

    fn logical(&self) -> Option<Logical> {
        match self.values {
            Values::Int32 | Values::Int64 | Values::Boolean | Values::Bytes => None,
            Values::Uint32 | Values::Uint64 => Some(Logical::Unsigned),
            Values::Time => Some(Logical::Nanoseconds),
            Values::Text => Some(Logical::String),
        }
    }

    fn field(&self) -> Field {
        let repetition = if self.required {
            Repetition::Required
        } else {
            Repetition::Optional
        };
        Field::column(self.name, repetition, self.physical(), self.logical())
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A snapshot.
    Snapshot,
    /// What one task has found, of a walk that many tasks share. Such a file lacks the columns that
    /// depend on the whole tree.
    Part,
}

impl Shape {
    /// Returns all columns that such a file may have, without the extended attributes.
    pub(crate) fn columns(self) -> impl Iterator<Item = &'static Facts> {
        COLUMNS.iter().filter_map(move |facts| match self {
            Self::Snapshot => Some(facts),
            Self::Part => match facts.column {
                Column::Charged => Some(&CHARGED_ONCE),
                Column::Id
                | Column::TreeFirst
                | Column::TreeLast
                | Column::TreeEntries
                | Column::TreeSize
                | Column::TreeAlloc
                | Column::TreeFreeable
                | Column::TreeMtime
                | Column::TreeErrors => None,
                _ => Some(facts),
            },
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Part => "part",
        }
    }
}

impl Contents {
    /// Returns the columns of a file with these parts, without the extended attributes.
    pub(crate) fn columns(self, shape: Shape) -> impl Iterator<Item = &'static Facts> {
        let is_there = move |facts: &&Facts| facts.asked.is_none_or(|asked| asked(&self));
        shape.columns().filter(is_there)
    }

    /// Returns true if a file with these parts has this column.
    #[inline]
    pub(crate) fn has(self, column: Column) -> bool {
        column.facts().asked.is_none_or(|asked| asked(&self))
    }

    /// Returns the fields of metadata that such a file needs.
    pub(crate) fn fields(self) -> Fields {
        let mut fields = Fields::STATX;
        for facts in &COLUMNS {
            if let Some(asked) = facts.asked {
                fields.set(facts.fields, asked(&self));
            }
        }
        fields
    }

    /// Returns the schema of a file with these parts.
    pub(crate) fn schema(self, shape: Shape) -> Field {
        let columns = self.columns(shape).map(Facts::field);
        let xattrs = self.xattrs.then(xattrs_field);
        Field::group(shape.name(), None, columns.chain(xattrs).collect())
    }
}

/// A map as `LogicalTypes.md` of the Parquet format defines it.
fn xattrs_field() -> Field {
    let leaf = |name| Field::column(name, Repetition::Required, Physical::ByteArray, None);
    let leaves = vec![leaf("key"), leaf("value")];
    let pairs = Field::group("key_value", Some(Repetition::Repeated), leaves);
    Field {
        logical: Some(Logical::Map),
        ..Field::group(XATTRS, Some(Repetition::Optional), vec![pairs])
    }
}

#[cfg(test)]
mod tests;
