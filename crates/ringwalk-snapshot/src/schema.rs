//! The columns of a snapshot: names, types, encodings and descriptions, in one table.
//!
//! `docs/snapshot.md` describes them for readers of the files; a test compares the two. A column
//! that is added must be optional, so that older readers of this version of the schema still read
//! the file. Any other change needs a new [`VERSION`].

use crate::columnar::{Encoding, Field, Logical, Physical, Repetition};

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

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Signed, of 32 bits.
    Int32,
    /// Unsigned; the sign bit is the highest bit of the value.
    Uint32,
    /// Signed, of 64 bits.
    Int64,
    /// Unsigned, of 64 bits.
    Uint64,
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    Time,
    /// True or false.
    Boolean,
    /// UTF-8.
    Text,
    /// Bytes of any kind.
    Bytes,
}

/// A column of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Column {
    /// Row number.
    Id,
    /// Index of the root.
    Root,
    /// Number of the directory that lists the row.
    Dir,
    /// Own number of a directory.
    SelfDir,
    /// Path relative to the root.
    Path,
    /// Path that is not UTF-8.
    PathRaw,
    /// Extension of the name.
    Ext,
    /// Type of the file.
    Type,
    /// Apparent size.
    Size,
    /// Allocated size.
    Alloc,
    /// Time of the last change of the contents.
    Mtime,
    /// Time of the last change of the inode.
    Ctime,
    /// Time of birth.
    Btime,
    /// Time of the last access.
    Atime,
    /// Inode number.
    Ino,
    /// Index of the file system.
    Fs,
    /// Permission bits.
    Mode,
    /// Number of hard links.
    Nlink,
    /// Owner.
    Uid,
    /// Group.
    Gid,
    /// Device that a device file stands for.
    Rdev,
    /// Target of a symbolic link.
    Target,
    /// True if the row counts in sums.
    Charged,
    /// First row below a directory.
    TreeFirst,
    /// Last row below a directory.
    TreeLast,
    /// Rows of a subtree.
    TreeEntries,
    /// Apparent size of a subtree.
    TreeSize,
    /// Allocated size of a subtree.
    TreeAlloc,
    /// Bytes that the removal of a subtree frees.
    TreeFreeable,
    /// Newest modification time in a subtree.
    TreeMtime,
    /// Errors in a subtree.
    TreeErrors,
    /// Error number.
    Errno,
    /// Operation that failed.
    Operation,
    /// Why a file was left out.
    Skipped,
    /// True if a time was clamped.
    Clamped,
    /// Hash of the contents.
    Hash,
}

/// The facts about one column.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) column: Column,
    pub(crate) name: &'static str,
    pub(crate) values: Values,
    pub(crate) required: bool,
    /// Values are stored once a row group, as long as they are few.
    dictionary: bool,
    /// How values are stored without a dictionary.
    encoding: Encoding,
    /// The unit; empty for numbers and text without one.
    pub(crate) unit: &'static str,
    pub(crate) description: &'static str,
}

const fn row(
    column: Column,
    name: &'static str,
    values: Values,
    storage: Storage,
    unit: &'static str,
    description: &'static str,
) -> Facts {
    let (dictionary, encoding) = match storage {
        Storage::Dictionary => (true, Encoding::Plain),
        Storage::DictionaryOrDelta => (true, Encoding::DeltaBinaryPacked),
        Storage::Delta => (false, Encoding::DeltaBinaryPacked),
        Storage::Prefixes => (false, Encoding::DeltaByteArray),
        Storage::Plain => (false, Encoding::Plain),
    };
    Facts {
        column,
        name,
        values,
        required: false,
        dictionary,
        encoding,
        unit,
        description,
    }
}

const fn required(facts: Facts) -> Facts {
    Facts {
        required: true,
        ..facts
    }
}

/// How the values of a column are stored.
#[derive(Clone, Copy)]
enum Storage {
    Dictionary,
    DictionaryOrDelta,
    Delta,
    /// Only what differs from the value before.
    Prefixes,
    Plain,
}

const TIME: &str = "nanoseconds since 1970-01-01 00:00 UTC";

use Column as C;
use Storage as S;
use Values as V;

/// The number of columns.
pub(crate) const COLUMN_COUNT: usize = Column::Hash as usize + 1;

/// All columns, in the order of the file and of [`Column`].
#[rustfmt::skip]
pub(crate) static COLUMNS: [Facts; COLUMN_COUNT] = [
    required(row(C::Id, "id", V::Int64, S::Delta, "", "Row number, from 0.")),
    required(row(C::Root, "root", V::Int32, S::Dictionary, "", "Index of the root in the key ringwalk.roots.")),
    row(C::Dir, "dir", V::Int64, S::Delta, "", "Number of the directory that lists this row. Null for a root."),
    row(C::SelfDir, "self", V::Int64, S::Delta, "", "Own number of a directory. Null for other files."),
    required(row(C::Path, "path", V::Text, S::Prefixes, "", "Path relative to the root, empty for the root itself. Bytes that are not UTF-8 are escaped as \\xHH.")),
    row(C::PathRaw, "path_raw", V::Bytes, S::Prefixes, "", "The bytes of a path that is not UTF-8, else null."),
    row(C::Ext, "ext", V::Text, S::Dictionary, "", "Extension of a regular file: at most 16 bytes after the last dot."),
    row(C::Type, "type", V::Text, S::Dictionary, "", "Type in the letters of find: f, d, l, b, c, p, s. Null if unknown."),
    row(C::Size, "size", V::Int64, S::DictionaryOrDelta, "bytes", "Apparent size."),
    row(C::Alloc, "alloc", V::Int64, S::DictionaryOrDelta, "bytes", "Allocated size."),
    row(C::Mtime, "mtime", V::Time, S::DictionaryOrDelta, TIME, "Time of the last change of the contents."),
    row(C::Ctime, "ctime", V::Time, S::DictionaryOrDelta, TIME, "Time of the last change of the inode."),
    row(C::Btime, "btime", V::Time, S::DictionaryOrDelta, TIME, "Time of birth."),
    row(C::Atime, "atime", V::Time, S::DictionaryOrDelta, TIME, "Time of the last access."),
    row(C::Ino, "ino", V::Uint64, S::Delta, "", "Inode number."),
    row(C::Fs, "fs", V::Int32, S::Dictionary, "", "Index of the file system in the key ringwalk.filesystems."),
    row(C::Mode, "mode", V::Int32, S::Dictionary, "", "Permission bits, 0 to 4095 (octal 7777)."),
    row(C::Nlink, "nlink", V::Uint32, S::Dictionary, "", "Number of hard links."),
    row(C::Uid, "uid", V::Uint32, S::Dictionary, "", "Owner. The key ringwalk.users has the name."),
    row(C::Gid, "gid", V::Uint32, S::Dictionary, "", "Group. The key ringwalk.groups has the name."),
    row(C::Rdev, "rdev", V::Uint64, S::Dictionary, "", "Device that a device file stands for, as st_rdev. Null for other files."),
    row(C::Target, "target", V::Bytes, S::Prefixes, "", "Target of a symbolic link. Null for other files."),
    required(row(C::Charged, "charged", V::Boolean, S::Plain, "", "True if the row counts in sums: false for further names of a file with several hard links.")),
    row(C::TreeFirst, "tree_first", V::Int64, S::Delta, "", "First row below a directory. Null if there is none."),
    row(C::TreeLast, "tree_last", V::Int64, S::Delta, "", "Last row below a directory. Null if there is none."),
    row(C::TreeEntries, "tree_entries", V::Int64, S::Delta, "", "Number of rows of a directory and of everything below it."),
    row(C::TreeSize, "tree_size", V::Int64, S::Delta, "bytes", "Sum of size over the charged rows of a directory and of everything below it."),
    row(C::TreeAlloc, "tree_alloc", V::Int64, S::Delta, "bytes", "Sum of alloc over the charged rows of a directory and of everything below it."),
    row(C::TreeFreeable, "tree_freeable", V::Int64, S::Delta, "bytes", "Allocated bytes that are free after the removal of a directory: files with further names elsewhere do not count."),
    row(C::TreeMtime, "tree_mtime", V::Time, S::Delta, TIME, "Newest mtime of a directory and of everything below it."),
    row(C::TreeErrors, "tree_errors", V::Int64, S::Delta, "", "Number of rows with an error of a directory and of everything below it."),
    row(C::Errno, "errno", V::Int32, S::Dictionary, "", "Error number (errno) of what could not be read, else null."),
    row(C::Operation, "operation", V::Text, S::Dictionary, "", "Operation that failed: stat, open, read, readlink, xattr."),
    row(C::Skipped, "skipped", V::Text, S::Dictionary, "", "Why a file was left out: otherfs, kernfs, pattern, frmlink, loop."),
    required(row(C::Clamped, "clamped", V::Boolean, S::Plain, "", "True if a time of this row lies outside of 1677-09-21 to 2262-04-11 and was set to the nearer end.")),
    row(C::Hash, "hash", V::Bytes, S::Plain, "", "Hash of the contents of a regular file: BLAKE3, 32 bytes. Null if it is not known, and for other files."),
];

/// The column of a [part](Shape::Part) that has the place of `charged` among the cells. Which name
/// of a file counts is only known when all parts are there.
const CHARGED_ONCE: Facts = required(row(
    Column::Charged,
    "charged_once",
    Values::Boolean,
    Storage::Plain,
    "",
    "True if only one of the names of this file counts in sums.",
));

/// The name of the group that holds the extended attributes. It is a column of type MAP, with the
/// leaves `key` and `value`.
pub(crate) const XATTRS: &str = "xattrs";

impl Column {
    /// All columns, in the order of the file.
    pub fn all() -> impl Iterator<Item = Self> {
        COLUMNS.iter().map(|facts| facts.column)
    }

    pub(crate) fn facts(self) -> &'static Facts {
        &COLUMNS[self as usize]
    }

    /// Returns the name in the file.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the type of the values.
    pub fn values(self) -> Values {
        self.facts().values
    }

    /// Returns the column with this name in the file.
    pub fn of_name(name: &str) -> Option<Self> {
        let facts = COLUMNS.iter().find(|facts| facts.name == name)?;
        Some(facts.column)
    }
}

impl Facts {
    /// Returns true if the column has a dictionary only where it saves space.
    pub(crate) fn may_differ(&self) -> bool {
        self.dictionary && self.encoding == Encoding::DeltaBinaryPacked
    }

    pub(crate) fn encoding(&self) -> (bool, Encoding) {
        (self.dictionary, self.encoding)
    }

    /// Returns true if Ringwalk stores pages of the column in this encoding.
    pub(crate) fn may_have(&self, encoding: Encoding) -> bool {
        let is_index = matches!(
            encoding,
            Encoding::RleDictionary | Encoding::PlainDictionary
        );
        encoding == self.encoding || (self.dictionary && is_index)
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

/// The optional parts of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Times of the last access.
    pub atime: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// Hashes of the contents of regular files.
    pub hash: bool,
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
        shape.columns().filter(move |facts| match facts.column {
            Column::Atime => self.atime,
            Column::Hash => self.hash,
            _ => true,
        })
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
