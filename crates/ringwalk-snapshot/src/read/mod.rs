//! Reading a snapshot.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Snapshot`]: an open file that has been checked |
//! | `error.rs` | why a file cannot be read |
//! | `scan.rs` | columns of a range of rows, a page at a time |
//! | `chunk.rs` | the cells of a page |
//! | `locate.rs` | the row of a path |
//! | `page.rs` | columns of one page, read from the file when they are asked for |
//! | `decode.rs` | the cells of one page, decoded from its bytes |

mod chunk;
mod decode;
mod error;
mod locate;
mod page;
mod scan;

pub use chunk::Chunk;
pub use error::ReadError;
pub(crate) use page::{Decoder, Page};
pub use scan::Scan;

use crate::entry::Skipped;
use crate::info::{Info, Text, keys, value};
use crate::schema::{COLUMN_COUNT, COLUMNS, Column, VERSION};
use bytes::Bytes;
use error::Reason;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
};
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A snapshot that is open for reading. Several threads may read it at once.
#[derive(Debug)]
pub struct Snapshot {
    name: PathBuf,
    file: Arc<SharedFile>,
    metadata: Arc<ParquetMetaData>,
    info: Info,
    /// The index in the file of each column, in the order of [`COLUMNS`].
    leaves: [Option<usize>; COLUMN_COUNT],
    groups: Vec<Range<u64>>,
    first_rows: Vec<FirstRow>,
}

/// The root and the path of the first row of a row group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FirstRow {
    pub(crate) root: u32,
    pub(crate) path: Text,
}

impl Snapshot {
    /// Opens the snapshot at `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is no snapshot, has another version of the schema, or is damaged. The
    /// error names the file and what was expected.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::new(path, Reason::Io(error)))?;
        Self::from_file(file, path)
    }

    /// Reads the snapshot in an open file. `name` is its name in errors.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_file(file: File, name: &Path) -> Result<Self, ReadError> {
        Self::new(file, name).map_err(|reason| ReadError::new(name, reason))
    }

    fn new(file: File, name: &Path) -> Result<Self, Reason> {
        let metadata = file.metadata().map_err(Reason::Io)?;
        if !metadata.is_file() {
            return Err(Reason::NotASnapshot("it is no regular file".to_owned()));
        }
        let file = Arc::new(SharedFile {
            file,
            len: metadata.len(),
            read: AtomicU64::new(0),
        });
        let options = ParquetMetaDataOptions::default();
        let metadata = ParquetMetaDataReader::new()
            .with_metadata_options(Some(options))
            .with_column_index_policy(PageIndexPolicy::Skip)
            .with_offset_index_policy(PageIndexPolicy::Optional)
            .parse_and_finish(&*file)
            .map_err(|error| Reason::of_footer(&error))?;
        let pairs = pairs(&metadata);
        check_version(&pairs)?;
        let info = Info::from_pairs(&pairs).map_err(Reason::Damaged)?;
        let first_rows: Vec<FirstRow> = value(&pairs, keys::ROW_GROUPS).map_err(Reason::Damaged)?;
        let leaves = leaves(&metadata)?;
        let groups = groups(&metadata)?;
        if first_rows.len() != groups.len() {
            let key = keys::ROW_GROUPS;
            return Err(Reason::Damaged(format!(
                "{key} has another number of row groups"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            file,
            metadata: Arc::new(metadata),
            info,
            leaves,
            groups,
            first_rows,
        })
    }

    /// Returns the name of the file, as it was given.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the open file. Reading a snapshot does not use its position.
    pub fn file(&self) -> &File {
        &self.file.file
    }

    /// Returns what the snapshot says of itself.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.end)
    }

    /// Returns true if the file has this column. A column that it lacks reads as null.
    pub fn has(&self, column: Column) -> bool {
        self.leaves[column as usize].is_some()
    }

    /// Returns true if a file was left out for this reason. Reads one column of all rows.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn has_skipped(&self, reason: Skipped) -> Result<bool, ReadError> {
        let reason = reason.as_str().as_bytes();
        let mut scan = self.scan(0..self.rows(), &[Column::Skipped])?;
        while let Some(chunk) = scan.next_chunk()? {
            if (0..chunk.len()).any(|at| chunk.bytes(Column::Skipped, at) == Some(reason)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rows of each row group. Threads that scan different row groups do not decode
    /// anything twice.
    pub fn row_groups(&self) -> &[Range<u64>] {
        &self.groups
    }

    /// Returns the bytes that have been read from the file, the footer included.
    pub fn bytes_read(&self) -> u64 {
        self.file.read.load(Ordering::Relaxed)
    }

    /// Reads these columns of a range of rows. Rows beyond the end are left out.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn scan(&self, rows: Range<u64>, columns: &[Column]) -> Result<Scan<'_>, ReadError> {
        Ok(Scan::new(self, rows, columns))
    }

    fn error(&self, error: &ParquetError) -> ReadError {
        ReadError::new(&self.name, Reason::Damaged(error.to_string()))
    }

    pub(crate) fn damaged(&self, what: &str) -> ReadError {
        ReadError::new(&self.name, Reason::Damaged(what.to_owned()))
    }
}

fn pairs(metadata: &ParquetMetaData) -> BTreeMap<String, String> {
    let pairs = metadata.file_metadata().key_value_metadata();
    pairs
        .into_iter()
        .flatten()
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect()
}

fn check_version(pairs: &BTreeMap<String, String>) -> Result<(), Reason> {
    if !pairs.contains_key(keys::SCHEMA) {
        let key = keys::SCHEMA;
        let why = format!("it is a Parquet file, but its footer has no key {key}");
        return Err(Reason::NotASnapshot(why));
    }
    let version: String = value(pairs, keys::SCHEMA).map_err(Reason::Damaged)?;
    if version != VERSION {
        return Err(Reason::OtherVersion(version));
    }
    Ok(())
}

fn leaves(metadata: &ParquetMetaData) -> Result<[Option<usize>; COLUMN_COUNT], Reason> {
    let schema = metadata.file_metadata().schema_descr();
    let mut leaves = [None; COLUMN_COUNT];
    for facts in &COLUMNS {
        let found = schema
            .columns()
            .iter()
            .position(|leaf| leaf.path().parts() == [facts.name]);
        let name = facts.name;
        if let Some(index) = found {
            let leaf = schema.column(index);
            if leaf.physical_type() != facts.physical() || leaf.max_rep_level() > 0 {
                let why = format!("its column {name} has another type");
                return Err(Reason::Damaged(why));
            }
        } else if facts.required {
            return Err(Reason::Damaged(format!("it has no column {name}")));
        }
        leaves[facts.column as usize] = found;
    }
    Ok(leaves)
}

fn groups(metadata: &ParquetMetaData) -> Result<Vec<Range<u64>>, Reason> {
    let mut begin = 0_u64;
    let mut groups = Vec::new();
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).ok();
        let end = rows.and_then(|rows| begin.checked_add(rows));
        let end = end.ok_or_else(|| Reason::Damaged("a number of rows is wrong".to_owned()))?;
        groups.push(begin..end);
        begin = end;
    }
    Ok(groups)
}

/// A file that several threads read at positions of their own.
#[derive(Debug)]
pub(crate) struct SharedFile {
    file: File,
    len: u64,
    /// Bytes read so far.
    read: AtomicU64,
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = SharedFileReader;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(SharedFileReader {
            file: self.file.try_clone()?,
            at: start,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Checked before memory is taken: a damaged footer may say anything.
        let fits = start
            .checked_add(length as u64)
            .is_some_and(|end| end <= self.len);
        if !fits {
            let why = format!("{length} bytes at {start} lie behind the end of the file");
            return Err(ParquetError::EOF(why));
        }
        let mut data = vec![0; length];
        self.file.read_exact_at(&mut data, start)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(data.into())
    }
}

/// Reads on from a position.
#[derive(Debug)]
pub(crate) struct SharedFileReader {
    file: File,
    at: u64,
}

impl Read for SharedFileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
