//! The table of columns. What else depends on the columns follows from it.
//!
//! A row of the table says, in this order:
//!
//! ```text
//!   Size "size" Int64 DictionaryOrDelta (required) [asked size], "bytes",
//!       "Apparent size."
//!       => size: number u64 = Fields::SIZE, |m| m.size(), |m, size| m.set_size(size),
//!       diff Change;
//! ```
//!
//! - the variant of [`Column`], and the name. It is the name in the file, in NDJSON and CSV, in the
//!   output of `diff`, in views of SQL, and in Python;
//! - the values, and how they are stored;
//! - `(required)` if there are no nulls, and `[asked NAME]` if only files have the column whose
//!   [`Contents`] have `NAME`;
//! - the unit and the description, which are also in the footer and in `docs/snapshot.md`.
//!
//! If the column holds an attribute of a file, the row also says:
//!
//! - the member of [`Attributes`], how it is packed and stored (`number`, `time` or `bytes`), and
//!   its type;
//! - the fields of the engine's [`Metadata`] that have it, how it is taken from them, and how it is
//!   put back. A member without them is filled in by code of its own;
//! - what `diff` does with it.
//!
//! `docs/architecture.md` has a picture of the way of an entry, and the recipe for a new column.

#![expect(
    clippy::doc_markdown,
    reason = "descriptions are also in files, where they have no marks"
)]

use super::HASH_BYTES;
use ringwalk::{Fields, FileType, Metadata, Timestamp};
use serde::{Deserialize, Serialize};

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

/// How the values of a column are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Once a row group, as long as they are few.
    Dictionary,
    /// With a dictionary where that saves space, else as [`Delta`](Self::Delta).
    DictionaryOrDelta,
    /// As differences from the value before.
    Delta,
    /// Only what differs from the value before.
    Prefixes,
    Plain,
}

/// What a comparison of two snapshots does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It does not read the column, or has code of its own for it.
    No,
    /// It shows the values of both files.
    Shown,
    /// It shows the values. They say whether two rows are about the same file.
    Identity,
    /// It shows the values. If they differ, the file has changed.
    Change,
}

/// Returns the number of [`numbers`].
pub const fn count_numbers(wanted: &[Compared]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < ATTRIBUTES.len() {
        count += is_wanted(ATTRIBUTES[at], wanted) as usize;
        at += 1;
    }
    count
}

/// Returns the attributes that are numbers or times, and with which a comparison does one of these
/// things. It is a constant, so that a loop over it costs nothing.
pub const fn numbers<const COUNT: usize>(wanted: &[Compared]) -> [Column; COUNT] {
    let mut columns = [ATTRIBUTES[0]; COUNT];
    let (mut count, mut at) = (0, 0);
    while at < ATTRIBUTES.len() {
        if is_wanted(ATTRIBUTES[at], wanted) {
            columns[count] = ATTRIBUTES[at];
            count += 1;
        }
        at += 1;
    }
    columns
}

const fn is_wanted(column: Column, wanted: &[Compared]) -> bool {
    let facts = &COLUMNS[column as usize];
    let mut at = 0;
    while at < wanted.len() {
        if facts.compared as u8 == wanted[at] as u8 && !matches!(facts.values, Values::Bytes) {
            return true;
        }
        at += 1;
    }
    false
}

/// The facts about one column.
#[derive(Clone, Copy)]
pub struct Facts {
    pub(crate) column: Column,
    /// The name in the file.
    pub name: &'static str,
    /// The type of the values.
    pub values: Values,
    pub(super) storage: Storage,
    /// True if every row has a value.
    pub required: bool,
    /// The part of [`Contents`] without which a file lacks the column.
    pub asked: Option<fn(&Contents) -> bool>,
    /// The unit; empty for numbers and text without one.
    pub unit: &'static str,
    /// What the column holds, in a sentence or two.
    pub description: &'static str,
    /// The fields of the engine's metadata that have the attribute. Empty for other columns.
    pub fields: Fields,
    /// What a comparison does with it.
    pub compared: Compared,
}

/// Takes the attributes of a file, each with its column, in the order of the table.
pub trait AttributeSink {
    /// Takes a number; `None` if it is not known.
    fn number(&mut self, column: Column, value: Option<u64>);
    /// Takes a time; `None` if it is not known.
    fn time(&mut self, column: Column, value: Option<Timestamp>);
    /// Takes a hash; `None` if it is not known.
    fn bytes(&mut self, column: Column, value: Option<&[u8; HASH_BYTES]>);
}

/// Returns the attributes of a file, in the order of the table.
pub trait AttributeSource {
    /// Returns a number; `None` if it is not known.
    fn number(&mut self, column: Column) -> Option<u64>;
    /// Returns a time; `None` if it is not known.
    fn time(&mut self, column: Column) -> Option<Timestamp>;
    /// Returns a hash; `None` if it is not known.
    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]>;
}

/// Gives an attribute to a sink.
macro_rules! give {
    (number, $sink:ident, $column:ident, $value:expr) => {
        $sink.number(Column::$column, $value.map(u64::from))
    };
    (time, $sink:ident, $column:ident, $value:expr) => {
        $sink.time(Column::$column, $value)
    };
    (bytes, $sink:ident, $column:ident, $value:expr) => {
        $sink.bytes(Column::$column, $value.as_ref())
    };
}

/// Takes an attribute from a source. Only a damaged file has numbers that are too large.
macro_rules! take {
    (number, $source:ident, $column:ident, $type:ty) => {
        $source
            .number(Column::$column)
            .map(|number| <$type>::try_from(number).unwrap_or(<$type>::MAX))
    };
    (time, $source:ident, $column:ident, $type:ty) => {
        $source.time(Column::$column)
    };
    (bytes, $source:ident, $column:ident, $type:ty) => {
        $source.bytes(Column::$column)
    };
}

/// Returns the second value if there is one.
macro_rules! or {
    ($default:expr;) => {
        $default
    };
    ($default:expr; $given:expr) => {
        $given
    };
}

macro_rules! is {
    (required) => {
        true
    };
}

macro_rules! columns {
    ($(
        $column:ident $name:literal $values:ident $storage:ident
        $(($required:ident))? $([asked $asked:ident])?, $unit:literal,
        $text:literal
        $(
            => $(#[$doc:meta])* $attribute:ident: $kind:ident $type:ty
            $(= $fields:expr, |$from:ident| $get:expr, |$to:ident, $value:ident| $put:expr)?,
            diff $diff:ident
        )?;
    )*) => {
        /// A column of a snapshot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Column {
            $(#[doc = $text] $column,)*
        }

        /// All columns, in the order of the file and of [`Column`].
        pub(crate) static COLUMNS: [Facts; COLUMN_COUNT] = [$(Facts {
            column: Column::$column,
            name: $name,
            values: Values::$values,
            storage: Storage::$storage,
            required: or!(false; $(is!($required))?),
            asked: or!(None; $(Some(|contents| contents.$asked))?),
            unit: $unit,
            description: $text,
            fields: or!(Fields::empty(); $($($fields)?)?),
            compared: or!(Compared::No; $(Compared::$diff)?),
        }),*];

        /// The number of columns.
        pub const COLUMN_COUNT: usize = [$($name),*].len();

        /// The columns that are attributes of a file, in the order of the table.
        pub const ATTRIBUTES: &[Column] =
            &[$($(or!(stringify!($attribute); Column::$column),)?)*];

        /// The place of each attribute in [`ATTRIBUTES`].
        #[expect(non_camel_case_types, reason = "the names are those of the attributes")]
        enum Place {
            $($($attribute,)?)*
        }

        impl Column {
            /// Returns the place in [`ATTRIBUTES`] of a column that holds an attribute.
            pub const fn attribute(self) -> Option<usize> {
                match self {
                    $($(Self::$column => Some(Place::$attribute as usize),)?)*
                    _ => None,
                }
            }
        }

        /// The optional parts of a snapshot.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Contents {
            $($(#[doc = $text] pub $asked: bool,)?)*
            /// Extended attributes.
            pub xattrs: bool,
        }

        impl Contents {
            /// All parts.
            pub const ALL: Self = Self { $($($asked: true,)?)* xattrs: true };

            /// Returns the parts of which a file has columns.
            pub fn of(has: impl Fn(Column) -> bool, xattrs: bool) -> Self {
                Self { $($($asked: has(Column::$column),)?)* xattrs }
            }
        }

        /// The metadata of a file, and the hash of its contents. `None` is a value that is not
        /// known.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Attributes {
            $($(#[doc = $text] $(#[$doc])* pub $attribute: Option<$type>,)?)*
            /// True if only the first name of this inode counts in sums.
            pub charged_once: bool,
        }

        impl Attributes {
            /// Gives all attributes to a sink.
            // The columns are constants then.
            #[inline(always)]
            pub fn give(&self, sink: &mut impl AttributeSink) {
                $($(give!($kind, sink, $column, self.$attribute);)?)*
            }

            /// Takes all attributes from a source. The charge is left to the caller.
            // The columns are constants then.
            #[inline(always)]
            pub fn take(source: &mut impl AttributeSource) -> Self {
                Self {
                    $($($attribute: take!($kind, source, $column, $type),)?)*
                    charged_once: false,
                }
            }

            /// Takes the fields that are valid from metadata of a walk. The charge and the hash
            /// are left to the caller.
            pub fn of(metadata: &Metadata) -> Self {
                let is_device = matches!(
                    metadata.file_type(),
                    FileType::BlockDevice | FileType::CharacterDevice
                );
                Self {
                    $($($($attribute: {
                        let $from = metadata;
                        $get
                    },)?)?)*
                    dev: metadata.dev(),
                    rdev: metadata.rdev().filter(|_| is_device),
                    hash: None,
                    charged_once: false,
                }
            }

            /// Puts what a source has into the fields that attributes are taken from.
            // The columns are constants then.
            #[inline(always)]
            pub(crate) fn put(source: &mut impl AttributeSource, metadata: &mut Metadata) {
                $($($(if let Some($value) = take!($kind, source, $column, $type) {
                    let $to = &mut *metadata;
                    $put;
                })?)?)*
                if let Some(rdev) = source.number(Column::Rdev) {
                    metadata.set_rdev(rdev);
                }
            }
        }
    };
}

columns! {
    Id "id" Int64 Delta (required), "",
        "Row number, from 0.";
    Root "root" Int32 Dictionary (required), "",
        "Index of the root in the key ringwalk.roots.";
    Dir "dir" Int64 Delta, "",
        "Number of the directory that lists this row. Null for a root.";
    SelfDir "self" Int64 Delta, "",
        "Own number of a directory. Null for other files.";
    Path "path" Text Prefixes (required), "",
        "Path relative to the root, empty for the root itself. Bytes that are not UTF-8 are escaped as \\xHH.";
    PathRaw "path_raw" Bytes Prefixes, "",
        "The bytes of a path that is not UTF-8, else null.";
    Ext "ext" Text Dictionary, "",
        "Extension of a regular file: at most 16 bytes after the last dot.";
    Type "type" Text Dictionary, "",
        "Type in the letters of find: f, d, l, b, c, p, s. Null if unknown.";
    Size "size" Int64 DictionaryOrDelta, "bytes",
        "Apparent size."
        => /// In bytes.
        size: number u64 = Fields::SIZE, |m| m.size(), |m, size| m.set_size(size),
        diff Change;
    Alloc "alloc" Int64 DictionaryOrDelta, "bytes",
        "Allocated size."
        => /// In bytes.
        alloc: number u64 = Fields::BLOCKS, |m| m.blocks().map(|blocks| blocks.saturating_mul(512)),
            |m, alloc| m.set_blocks(alloc.div_ceil(512)),
        diff Change;
    Mtime "mtime" Time DictionaryOrDelta, "nanoseconds since 1970-01-01 00:00 UTC",
        "Time of the last change of the contents."
        => mtime: time Timestamp = Fields::MTIME, |m| m.mtime(), |m, mtime| m.set_mtime(mtime),
        diff Change;
    Ctime "ctime" Time DictionaryOrDelta, "nanoseconds since 1970-01-01 00:00 UTC",
        "Time of the last change of the inode."
        => ctime: time Timestamp = Fields::CTIME, |m| m.ctime(), |m, ctime| m.set_ctime(ctime),
        diff Change;
    Btime "btime" Time DictionaryOrDelta, "nanoseconds since 1970-01-01 00:00 UTC",
        "Time of birth."
        => btime: time Timestamp = Fields::BTIME, |m| m.btime(), |m, btime| m.set_btime(btime),
        diff Identity;
    Atime "atime" Time DictionaryOrDelta [asked atime], "nanoseconds since 1970-01-01 00:00 UTC",
        "Time of the last access."
        => atime: time Timestamp = Fields::ATIME, |m| m.atime(), |m, atime| m.set_atime(atime),
        diff No;
    Ino "ino" Uint64 Delta, "",
        "Inode number."
        => ino: number u64 = Fields::INO, |m| m.ino(), |m, ino| m.set_ino(ino),
        diff Identity;
    Fs "fs" Int32 Dictionary, "",
        "Index of the file system in the key ringwalk.filesystems."
        => /// The writer takes the device number, which says which of
        /// [`Info::file_systems`](crate::Info::file_systems) this is.
        dev: number u64,
        diff Identity;
    Mode "mode" Int32 Dictionary, "",
        "Permission bits, 0 to 4095 (octal 7777)."
        => mode: number u16 = Fields::MODE, |m| m.permissions().map(|mode| (mode & 0o7777) as u16),
            |m, mode| m.set_permissions(u32::from(mode)),
        diff Change;
    Nlink "nlink" Uint32 Dictionary, "",
        "Number of hard links."
        => nlink: number u32 = Fields::NLINK, |m| m.nlink(), |m, nlink| m.set_nlink(nlink),
        diff Shown;
    Uid "uid" Uint32 Dictionary, "",
        "Owner. The key ringwalk.users has the name."
        => uid: number u32 = Fields::UID, |m| m.uid(), |m, uid| m.set_uid(uid),
        diff Change;
    Gid "gid" Uint32 Dictionary, "",
        "Group. The key ringwalk.groups has the name."
        => gid: number u32 = Fields::GID, |m| m.gid(), |m, gid| m.set_gid(gid),
        diff Change;
    Rdev "rdev" Uint64 Dictionary, "",
        "Device that a device file stands for, as st_rdev. Null for other files."
        => rdev: number u64,
        diff Change;
    Target "target" Bytes Prefixes, "",
        "Target of a symbolic link. Null for other files.";
    Charged "charged" Boolean Plain (required), "",
        "True if the row counts in sums: false for further names of a file with several hard links.";
    TreeFirst "tree_first" Int64 Delta, "",
        "First row below a directory. Null if there is none.";
    TreeLast "tree_last" Int64 Delta, "",
        "Last row below a directory. Null if there is none.";
    TreeEntries "tree_entries" Int64 Delta, "",
        "Number of rows of a directory and of everything below it.";
    TreeSize "tree_size" Int64 Delta, "bytes",
        "Sum of size over the charged rows of a directory and of everything below it.";
    TreeAlloc "tree_alloc" Int64 Delta, "bytes",
        "Sum of alloc over the charged rows of a directory and of everything below it.";
    TreeFreeable "tree_freeable" Int64 Delta, "bytes",
        "Allocated bytes that are free after the removal of a directory: files with further names elsewhere do not count.";
    TreeMtime "tree_mtime" Time Delta, "nanoseconds since 1970-01-01 00:00 UTC",
        "Newest mtime of a directory and of everything below it.";
    TreeErrors "tree_errors" Int64 Delta, "",
        "Number of rows with an error of a directory and of everything below it.";
    Errno "errno" Int32 Dictionary, "",
        "Error number (errno) of what could not be read, else null.";
    Operation "operation" Text Dictionary, "",
        "Operation that failed: stat, open, read, readlink, xattr.";
    Skipped "skipped" Text Dictionary, "",
        "Why a file was left out: otherfs, kernfs, pattern, frmlink, loop.";
    Clamped "clamped" Boolean Plain (required), "",
        "True if a time of this row lies outside of 1677-09-21 to 2262-04-11 and was set to the nearer end.";
    Hash "hash" Bytes Plain [asked hash], "",
        "Hash of the contents of a regular file: BLAKE3, 32 bytes. Null if it is not known, and for other files."
        => hash: bytes [u8; HASH_BYTES],
        diff Change;
    Projid "projid" Uint32 Dictionary [asked projid], "",
        "Project to which quotas charge the file. Null if it is not known."
        => projid: number u32 = Fields::PROJECT_ID, |m| m.project_id(),
            |m, projid| m.set_project_id(projid),
        diff Change;
}
