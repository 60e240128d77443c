//! Columns that are being filled, row by row.

use super::fields::{Column, Kind, TIME_ZONE};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int8Array, Int32Array, Int64Array, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use ringwalk::{Fields, FileType, Metadata, Timestamp};
use std::sync::{Arc, LazyLock};

/// The names of types, as in `ringwalk count --json`. They are the dictionary of `type`.
const TYPES: [(FileType, &str); 7] = [
    (FileType::Regular, "file"),
    (FileType::Directory, "directory"),
    (FileType::Symlink, "symlink"),
    (FileType::BlockDevice, "block_device"),
    (FileType::CharacterDevice, "character_device"),
    (FileType::Fifo, "fifo"),
    (FileType::Socket, "socket"),
];

/// The dictionary, which all batches share.
static TYPE_WORDS: LazyLock<ArrayRef> =
    LazyLock::new(|| Arc::new(StringArray::from_iter_values(TYPES.map(|(_, word)| word))));

/// Returns the name of a type; `None` for an unknown type.
pub(crate) fn type_word(file_type: FileType) -> Option<&'static str> {
    let found = TYPES.iter().find(|(known, _)| *known == file_type);
    found.map(|(_, word)| *word)
}

/// The data of a row.
pub(super) struct Row<'b> {
    /// The directory with a slash at its end; empty for a root.
    pub(super) directory: &'b [u8],
    /// The name; for a root the path as given.
    pub(super) name: &'b [u8],
    pub(super) depth: usize,
    pub(super) root: usize,
    pub(super) file_type: FileType,
    pub(super) metadata: Option<&'b Metadata>,
}

/// Values of any length, stored one after another.
struct Bytes {
    ends: Vec<i32>,
    values: Vec<u8>,
}

impl Bytes {
    fn new(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self {
            ends,
            values: Vec::new(),
        }
    }

    fn push(&mut self, parts: [&[u8]; 2]) {
        for part in parts {
            self.values.extend_from_slice(part);
        }
        // `Filling::is_full` keeps this within range.
        let end = i32::try_from(self.values.len()).unwrap_or(i32::MAX);
        self.ends.push(end);
    }

    fn last(&self) -> Option<&[u8]> {
        let [.., begin, _] = self.ends[..] else {
            return None;
        };
        self.values.get(usize::try_from(begin).ok()?..)
    }

    fn finish(mut self) -> Result<BinaryArray, ArrowError> {
        self.values.shrink_to_fit();
        self.ends.shrink_to_fit();
        BinaryArray::try_new(
            OffsetBuffer::new(ScalarBuffer::from(self.ends)),
            self.values.into(),
            None,
        )
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
    Path(Bytes),
    Name(Bytes),
    /// Directories. Many consecutive rows have the same one, since a worker delivers the entries of
    /// one directory together.
    Parent {
        keys: Vec<i32>,
        directories: Bytes,
    },
    Depth(Vec<u32>),
    Root(Vec<u32>),
    Type(Values<i8>),
    Signed(Values<i64>, fn(&Metadata) -> u64),
    Long(Values<u64>, fn(&Metadata) -> u64),
    Int(Values<u32>, fn(&Metadata) -> u32),
    Time(Values<i64>, fn(&Metadata) -> Timestamp),
}

impl Filled {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Path => Self::Path(Bytes::new(rows)),
            Kind::Name => Self::Name(Bytes::new(rows)),
            Kind::Parent => Self::Parent {
                keys: Vec::with_capacity(rows),
                directories: Bytes::new(0),
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
            Self::Path(bytes) | Self::Name(bytes) => Arc::new(bytes.finish()?),
            Self::Parent { keys, directories } => {
                let keys = Int32Array::new(ScalarBuffer::from(keys), None);
                let directories = Arc::new(directories.finish()?);
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, directories)?)
            }
            Self::Depth(values) | Self::Root(values) => {
                Arc::new(UInt32Array::new(ScalarBuffer::from(values), None))
            }
            Self::Type(values) => {
                let (keys, valid) = values.finish();
                let keys = Int8Array::new(keys, valid);
                let words = Arc::clone(&TYPE_WORDS);
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
    columns: Vec<(Filled, Fields)>,
    rows: usize,
    /// Number of bytes of paths and names.
    bytes: usize,
}

/// The largest number of bytes in a batch. Offsets into the bytes of a column have 32 bits; a batch
/// of this size is large enough.
const MOST_BYTES: usize = 16 << 20;

impl Filling {
    pub(super) fn new(columns: &[Column], rows: usize) -> Self {
        let filled = |column: &Column| (Filled::new(column.kind, rows), column.needs);
        Self {
            columns: columns.iter().map(filled).collect(),
            rows: 0,
            bytes: 0,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns true if there is no room for a path of that many bytes.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        self.rows > 0 && self.bytes + bytes > MOST_BYTES
    }

    /// Begins the rows of another directory.
    pub(super) fn enter(&mut self, directory: &[u8]) {
        for (column, _) in &mut self.columns {
            if let Filled::Parent { directories, .. } = column {
                let path = match directory {
                    b"/" | b"" => directory,
                    [path @ .., _] => path,
                };
                // A large directory comes in several batches of the walk.
                if directories.last() != Some(path) {
                    directories.push([path, b""]);
                    self.bytes += path.len();
                }
            }
        }
    }

    pub(super) fn push(&mut self, row: &Row<'_>) {
        self.rows += 1;
        self.bytes += row.directory.len() + row.name.len();
        for (column, needs) in &mut self.columns {
            let known = row.metadata.filter(|known| known.mask.contains(*needs));
            match column {
                Filled::Path(bytes) => bytes.push([row.directory, row.name]),
                Filled::Name(bytes) => bytes.push([row.name, b""]),
                Filled::Parent { keys, directories } => {
                    // The first end is the beginning of the first value.
                    let last = directories.ends.len().saturating_sub(2);
                    keys.push(i32::try_from(last).unwrap_or(i32::MAX));
                }
                Filled::Depth(values) => values.push(u32::try_from(row.depth).unwrap_or(u32::MAX)),
                Filled::Root(values) => values.push(u32::try_from(row.root).unwrap_or(u32::MAX)),
                Filled::Type(values) => {
                    let word = TYPES.iter().position(|(known, _)| *known == row.file_type);
                    values.push(word.and_then(|word| i8::try_from(word).ok()));
                }
                Filled::Signed(values, of) => {
                    values.push(known.and_then(|known| i64::try_from(of(known)).ok()));
                }
                Filled::Long(values, of) => values.push(known.map(of)),
                Filled::Int(values, of) => values.push(known.map(of)),
                Filled::Time(values, of) => {
                    values.push(known.and_then(|known| nanoseconds(of(known))));
                }
            }
        }
    }

    pub(super) fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let columns = self.columns.into_iter();
        columns.map(|(column, _)| column.finish()).collect()
    }
}

/// Returns the nanoseconds since 1970; `None` if they do not fit in 64 bits, which is before 1677
/// and after 2262.
fn nanoseconds(time: Timestamp) -> Option<i64> {
    // A negative number of seconds may be out of range although the sum is not.
    let nanoseconds = i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos);
    i64::try_from(nanoseconds).ok()
}
