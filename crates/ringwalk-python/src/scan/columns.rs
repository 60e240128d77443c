//! Columns that are being filled, row by row.

use super::fields::{Column, Kind, TIME_ZONE};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int8Array, Int32Array, Int64Array, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use ringwalk::{FileType, Metadata, Timestamp};
use ringwalk_du::type_name;
use ringwalk_text::push_escaped;
use std::sync::{Arc, LazyLock};

/// The types of files. Their names are the dictionary of `type`.
const TYPES: [FileType; 7] = [
    FileType::Regular,
    FileType::Directory,
    FileType::Symlink,
    FileType::BlockDevice,
    FileType::CharacterDevice,
    FileType::Fifo,
    FileType::Socket,
];

/// The dictionary, which all batches share.
static TYPE_NAMES: LazyLock<ArrayRef> =
    LazyLock::new(|| Arc::new(StringArray::from_iter_values(TYPES.map(type_name))));

/// The data of a row.
pub(super) struct Row<'b> {
    /// The name; for a root the path as given.
    pub(super) name: &'b [u8],
    pub(super) depth: usize,
    pub(super) root: usize,
    pub(super) file_type: FileType,
    pub(super) metadata: Option<&'b Metadata>,
}

/// Names of one kind, stored one after another: text with escapes in place of bytes that are not
/// UTF-8, or the bytes.
struct Names {
    ends: Vec<i32>,
    values: NameValues,
}

enum NameValues {
    Text(String),
    Raw(Vec<u8>, NullBufferBuilder),
}

impl Names {
    fn new(rows: usize, values: NameValues) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self { ends, values }
    }

    fn text(rows: usize) -> Self {
        Self::new(rows, NameValues::Text(String::new()))
    }

    /// For names that are not UTF-8. Other names are null.
    fn raw(rows: usize) -> Self {
        let valid = NullBufferBuilder::new(rows);
        Self::new(rows, NameValues::Raw(Vec::new(), valid))
    }

    /// Adds a path: a directory with a slash at its end, if there is one, and a name.
    fn push(&mut self, directory: Option<&Directory>, name: &[u8]) {
        let length = match &mut self.values {
            NameValues::Text(text) => {
                text.push_str(directory.map_or("", |directory| &directory.text));
                push_escaped(name, text);
                text.len()
            }
            NameValues::Raw(bytes, valid) => {
                let is_text = directory.is_none_or(|directory| directory.is_text)
                    && std::str::from_utf8(name).is_ok();
                valid.append(!is_text);
                if !is_text {
                    bytes.extend_from_slice(directory.map_or(b"", |directory| &directory.bytes));
                    bytes.extend_from_slice(name);
                }
                bytes.len()
            }
        };
        // `Filling::is_full` keeps this within range.
        self.ends.push(i32::try_from(length).unwrap_or(i32::MAX));
    }

    /// Returns the place of the last name.
    fn last_place(&self) -> Option<i32> {
        // The first end is the beginning of the first value.
        let place = self.ends.len().checked_sub(2)?;
        i32::try_from(place).ok()
    }

    fn last(&self) -> Option<&[u8]> {
        let [.., begin, _] = self.ends[..] else {
            return None;
        };
        let values = match &self.values {
            NameValues::Text(text) => text.as_bytes(),
            NameValues::Raw(bytes, _) => bytes,
        };
        values.get(usize::try_from(begin).ok()?..)
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        self.ends.shrink_to_fit();
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok(match self.values {
            NameValues::Text(text) => {
                let mut bytes = text.into_bytes();
                bytes.shrink_to_fit();
                Arc::new(StringArray::try_new(ends, bytes.into(), None)?)
            }
            NameValues::Raw(mut bytes, mut valid) => {
                bytes.shrink_to_fit();
                Arc::new(BinaryArray::try_new(ends, bytes.into(), valid.finish())?)
            }
        })
    }
}

/// The directory of rows.
#[derive(Default)]
struct Directory {
    /// The path with a slash at its end; empty for roots.
    bytes: Vec<u8>,
    /// The same with escapes.
    text: String,
    /// True if the path is UTF-8, so that it has no escapes.
    is_text: bool,
}

impl Directory {
    fn set(&mut self, path: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(path);
        self.text.clear();
        push_escaped(path, &mut self.text);
        self.is_text = std::str::from_utf8(path).is_ok();
    }
}

/// Returns a directory without the slash at its end; `/` as it is.
fn without_slash(directory: &[u8]) -> &[u8] {
    match directory {
        b"/" | b"" => directory,
        [path @ .., _] => path,
    }
}

/// Values of one size. Some may be null.
struct Values<T> {
    values: Vec<T>,
    valid: NullBufferBuilder,
}

impl<T: Default> Values<T> {
    fn new(rows: usize) -> Self {
        Self {
            values: Vec::with_capacity(rows),
            valid: NullBufferBuilder::new(rows),
        }
    }

    fn push(&mut self, value: Option<T>) {
        self.valid.append(value.is_some());
        self.values.push(value.unwrap_or_default());
    }

    fn finish(mut self) -> (ScalarBuffer<T>, Option<NullBuffer>)
    where
        T: arrow_buffer::ArrowNativeType,
    {
        self.values.shrink_to_fit();
        (ScalarBuffer::from(self.values), self.valid.finish())
    }
}

/// One column.
enum Filled {
    Path(Names),
    Name(Names),
    /// Directories. Many consecutive rows have the same one, since a worker delivers the entries of
    /// one directory together.
    Parent {
        keys: Values<i32>,
        directories: Names,
    },
    Depth(Vec<u32>),
    Root(Vec<u32>),
    Type(Values<i8>),
    Signed(Values<i64>, fn(&Metadata) -> Option<u64>),
    Long(Values<u64>, fn(&Metadata) -> Option<u64>),
    Int(Values<u32>, fn(&Metadata) -> Option<u32>),
    Time(Values<i64>, fn(&Metadata) -> Option<Timestamp>),
}

impl Filled {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Path => Self::Path(Names::text(rows)),
            Kind::PathRaw => Self::Path(Names::raw(rows)),
            Kind::Name => Self::Name(Names::text(rows)),
            Kind::NameRaw => Self::Name(Names::raw(rows)),
            Kind::Parent => Self::Parent {
                keys: Values::new(rows),
                directories: Names::text(0),
            },
            Kind::ParentRaw => Self::Parent {
                keys: Values::new(rows),
                directories: Names::raw(0),
            },
            Kind::Depth => Self::Depth(Vec::with_capacity(rows)),
            Kind::Root => Self::Root(Vec::with_capacity(rows)),
            Kind::Type => Self::Type(Values::new(rows)),
            Kind::Signed(of) => Self::Signed(Values::new(rows), of),
            Kind::Long(of) => Self::Long(Values::new(rows), of),
            Kind::Int(of) => Self::Int(Values::new(rows), of),
            Kind::Time(of) => Self::Time(Values::new(rows), of),
        }
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Path(names) | Self::Name(names) => names.finish()?,
            Self::Parent { keys, directories } => {
                let (keys, valid) = keys.finish();
                let keys = Int32Array::new(keys, valid);
                let directories = directories.finish()?;
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, directories)?)
            }
            Self::Depth(values) | Self::Root(values) => {
                Arc::new(UInt32Array::new(ScalarBuffer::from(values), None))
            }
            Self::Type(values) => {
                let (keys, valid) = values.finish();
                let keys = Int8Array::new(keys, valid);
                let words = Arc::clone(&TYPE_NAMES);
                Arc::new(DictionaryArray::<Int8Type>::try_new(keys, words)?)
            }
            Self::Signed(values, _) => {
                let (values, valid) = values.finish();
                Arc::new(Int64Array::new(values, valid))
            }
            Self::Long(values, _) => {
                let (values, valid) = values.finish();
                Arc::new(UInt64Array::new(values, valid))
            }
            Self::Int(values, _) => {
                let (values, valid) = values.finish();
                Arc::new(UInt32Array::new(values, valid))
            }
            Self::Time(values, _) => {
                let (values, valid) = values.finish();
                Arc::new(TimestampNanosecondArray::new(values, valid).with_timezone(TIME_ZONE))
            }
        })
    }
}

/// Columns with the same number of rows.
pub(super) struct Filling {
    columns: Vec<Filled>,
    directory: Directory,
    rows: usize,
    /// Number of bytes of paths and names.
    bytes: usize,
}

/// The largest number of bytes in a batch. Offsets into the bytes of a column have 32 bits; a batch
/// of this size is large enough. Escapes of names, which do not count, take four times as much at
/// most.
const MOST_BYTES: usize = 16 << 20;

impl Filling {
    pub(super) fn new(columns: &[Column], rows: usize) -> Self {
        let filled = |column: &Column| Filled::new(column.kind, rows);
        Self {
            columns: columns.iter().map(filled).collect(),
            directory: Directory::default(),
            rows: 0,
            bytes: 0,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns true if there is no room for a file of this name in the current directory.
    pub(super) fn is_full(&self, name: &[u8]) -> bool {
        self.rows > 0 && self.bytes + self.path_bytes(name) > MOST_BYTES
    }

    fn path_bytes(&self, name: &[u8]) -> usize {
        self.directory.text.len() + name.len()
    }

    /// Begins the rows of another directory, which has a slash at its end. Roots have an empty one.
    pub(super) fn enter(&mut self, directory: &[u8]) {
        self.directory.set(directory);
        for column in &mut self.columns {
            if let Filled::Parent { directories, .. } = column {
                let (path, is_null) = match directories.values {
                    NameValues::Text(_) => (self.directory.text.as_bytes(), false),
                    NameValues::Raw(..) => (&*self.directory.bytes, self.directory.is_text),
                };
                let path = without_slash(path);
                // A large directory comes in several batches of the walk.
                if !is_null && directories.last() != Some(path) {
                    directories.push(None, path);
                    self.bytes += path.len();
                }
            }
        }
    }

    pub(super) fn push(&mut self, row: &Row<'_>) {
        self.rows += 1;
        self.bytes += self.path_bytes(row.name);
        for column in &mut self.columns {
            match column {
                Filled::Path(names) => names.push(Some(&self.directory), row.name),
                Filled::Name(names) => names.push(None, row.name),
                Filled::Parent { keys, directories } => {
                    let is_null =
                        matches!(directories.values, NameValues::Raw(..)) && self.directory.is_text;
                    keys.push(directories.last_place().filter(|_| !is_null));
                }
                Filled::Depth(values) => values.push(u32::try_from(row.depth).unwrap_or(u32::MAX)),
                Filled::Root(values) => values.push(u32::try_from(row.root).unwrap_or(u32::MAX)),
                Filled::Type(values) => {
                    let word = TYPES.iter().position(|known| *known == row.file_type);
                    values.push(word.and_then(|word| i8::try_from(word).ok()));
                }
                Filled::Signed(values, of) => {
                    let value = row.metadata.and_then(of);
                    values.push(value.and_then(|value| i64::try_from(value).ok()));
                }
                Filled::Long(values, of) => values.push(row.metadata.and_then(of)),
                Filled::Int(values, of) => values.push(row.metadata.and_then(of)),
                Filled::Time(values, of) => {
                    values.push(row.metadata.and_then(of).and_then(nanoseconds));
                }
            }
        }
    }

    pub(super) fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let columns = self.columns.into_iter();
        columns.map(Filled::finish).collect()
    }
}

/// Returns the nanoseconds since 1970; `None` if they do not fit in 64 bits, which is before 1677
/// and after 2262.
fn nanoseconds(time: Timestamp) -> Option<i64> {
    // A negative number of seconds may be out of range although the sum is not.
    let nanoseconds = i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos);
    i64::try_from(nanoseconds).ok()
}
