//! Reading a snapshot.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Snapshot`]: an open file that has been checked |
//! | `error.rs` | why a file cannot be read |
//! | `file.rs` | the file, read at any position |
//! | `thrift.rs` | the encoding of the footer, of the page index and of the headers of pages |
//! | `footer.rs` | the footer as it is stored |
//! | `layout.rs` | where the values are: the numbers of footer and page index, checked |
//! | `scan.rs` | columns of a range of rows, a page at a time |
//! | `chunk.rs` | the cells of a page |
//! | `locate.rs` | the row of a path |
//! | `cache.rs` | the pages that a worker keeps |
//! | `cursor.rs` | rows in any order, the rows below a directory, its listing |
//! | `page.rs` | columns of one page, read from the file when they are asked for |
//! | `same.rs` | pages that two files store alike |
//! | `unpack.rs` | the bytes of a page: its header, decompression |
//! | `decode.rs` | the cells of one page, decoded from its bytes |
//! | `texts.rs` | the texts of one page |
//! | `xattrs.rs` | extended attributes |
//! | `packed.rs` | numbers that are packed into bits |

mod cache;
mod chunk;
mod cursor;
mod decode;
mod error;
mod file;
mod footer;
mod layout;
mod locate;
mod packed;
mod page;
mod same;
mod scan;
mod texts;
mod thrift;
mod unpack;
mod xattrs;

pub use cache::PageCache;
pub use chunk::Chunk;
pub use cursor::Cursor;
pub use error::ReadError;
pub(crate) use footer::TAIL;
pub use page::{Decoder, Page};
pub use same::StoredAlike;
pub use scan::Scan;
pub use xattrs::XattrReader;

use crate::entry::Skipped;
use crate::info::{Info, Text, keys, value};
use crate::schema::{COLUMN_COUNT, Column, Shape, VERSION};
use error::Reason;
use file::SharedFile;
use footer::Footer;
use layout::{Layout, Place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A snapshot that is open for reading. Several threads may read it at once.
#[derive(Debug)]
pub struct Snapshot {
    name: PathBuf,
    file: SharedFile,
    info: Info,
    /// The index in the file of each column, in the order of `COLUMNS`.
    leaves: [Option<usize>; COLUMN_COUNT],
    groups: Vec<Range<u64>>,
    /// Where the columns of each row group are.
    places: Vec<[Option<Place>; COLUMN_COUNT]>,
    first_rows: Vec<FirstRow>,
    /// For each row group, whether a page of it has been read.
    is_read: Vec<AtomicBool>,
}

/// The root and the path of the first row of a row group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FirstRow {
    pub(crate) root: u32,
    pub(crate) path: Text,
}

impl Snapshot {
    /// Opens the snapshot in the file at `path`. [`open`](crate::open()) opens folders of shared
    /// walks, too.
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
        let snapshot = SharedFile::new(file).and_then(|file| Self::new(file, name));
        snapshot.map_err(|reason| ReadError::new(name, reason))
    }

    /// Reads a snapshot as [`from_file`](Self::from_file) does, and accepts wrong checksums. This
    /// is for fuzzing: a fuzzer cannot find the right ones, so it would reach nothing behind them.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), for other damage.
    #[doc(hidden)]
    pub fn from_file_ignoring_checksums(file: File, name: &Path) -> Result<Self, ReadError> {
        let open = || {
            let mut file = SharedFile::new(file)?;
            file.ignores_checksums = true;
            Self::new(file, name)
        };
        open().map_err(|reason| ReadError::new(name, reason))
    }

    fn new(file: SharedFile, name: &Path) -> Result<Self, Reason> {
        let footer = Footer::read(&file)?;
        check_version(&footer.pairs)?;
        let info = Info::from_pairs(&footer.pairs).map_err(Reason::Damaged)?;
        Self::of_footer(file, name, &footer, info, Shape::Snapshot)
    }

    /// Reads the part in an open file. Returns its rows, and the value of its key `ringwalk.part`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), for a part.
    pub(crate) fn part_from_file<P: for<'p> Deserialize<'p>>(
        file: File,
        name: &Path,
    ) -> Result<(Self, P), ReadError> {
        let open = || {
            let file = SharedFile::new(file)?;
            let footer = Footer::read(&file)?;
            if !footer.pairs.contains_key(keys::PART) {
                let why = format!("its footer has no key {}", keys::PART);
                return Err(Reason::NotASnapshot(why));
            }
            let part = value(&footer.pairs, keys::PART).map_err(Reason::Damaged)?;
            let info = Info::from_part_pairs(&footer.pairs).map_err(Reason::Damaged)?;
            Ok((
                Self::of_footer(file, name, &footer, info, Shape::Part)?,
                part,
            ))
        };
        open().map_err(|reason| ReadError::new(name, reason))
    }

    fn of_footer(
        file: SharedFile,
        name: &Path,
        footer: &Footer,
        info: Info,
        shape: Shape,
    ) -> Result<Self, Reason> {
        let first_rows: Vec<FirstRow> =
            value(&footer.pairs, keys::ROW_GROUPS).map_err(Reason::Damaged)?;
        let Layout {
            leaves,
            groups,
            places,
        } = Layout::of(footer, shape)?;
        if first_rows.len() != groups.len() {
            let key = keys::ROW_GROUPS;
            return Err(Reason::Damaged(format!(
                "{key} has another number of row groups"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            file,
            info,
            leaves,
            is_read: groups.iter().map(|_| AtomicBool::new(false)).collect(),
            groups,
            places,
            first_rows,
        })
    }

    /// Returns the name of the file, as it was given.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the open file. Reading a snapshot does not use its position.
    pub fn file(&self) -> &File {
        self.file.file()
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
        self.file.bytes_read()
    }

    /// Returns the number of row groups from which pages have been read.
    pub fn row_groups_read(&self) -> usize {
        let is_read = self.is_read.iter();
        is_read
            .filter(|is_read| is_read.load(Ordering::Relaxed))
            .count()
    }

    /// Reads these columns of a range of rows. Rows beyond the end are left out.
    ///
    /// The files with their hashes, which [`Capture::hashes`](crate::Capture::hashes) has added:
    ///
    /// ```
    /// use ringwalk_snapshot::{Column, ReadError, Snapshot};
    ///
    /// fn hashed_files(snapshot: &Snapshot) -> Result<Vec<(Vec<u8>, u64, [u8; 32])>, ReadError> {
    ///     // A column that the file lacks reads as null.
    ///     let columns = [Column::Path, Column::PathRaw, Column::Size, Column::Hash];
    ///     let mut scan = snapshot.scan(0..snapshot.rows(), &columns)?;
    ///     let mut files = Vec::new();
    ///     while let Some(chunk) = scan.next_chunk()? {
    ///         for at in 0..chunk.len() {
    ///             if let (Some(hash), Some(size)) =
    ///                 (chunk.hash(at), chunk.integer(Column::Size, at))
    ///             {
    ///                 files.push((chunk.path(at).to_vec(), size.cast_unsigned(), *hash));
    ///             }
    ///         }
    ///     }
    ///     Ok(files)
    /// }
    /// # let mut tree = ringwalk_snapshot::TreeBuilder::new({
    /// #     let mut options = ringwalk_snapshot::WriteOptions::default();
    /// #     options.contents.hash = true;
    /// #     options
    /// # });
    /// # let directory = ringwalk::FileType::Directory;
    /// # tree.begin_root(b"/r", &ringwalk_snapshot::Entry::new(b"", directory))?;
    /// # let regular = ringwalk::FileType::Regular;
    /// # let mut entry = ringwalk_snapshot::Entry::new(b"f", regular);
    /// # (entry.attributes.size, entry.attributes.hash) = (Some(7), Some([1; 32]));
    /// # tree.file(&entry)?;
    /// # tree.end_directory()?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("snapshot.parquet");
    /// # tree.finish(ringwalk_snapshot::Info::default(), &path)?;
    /// # let found = hashed_files(&Snapshot::open(&path)?)?;
    /// # assert_eq!(found, [(b"f".to_vec(), 7, [1; 32])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn scan(&self, rows: Range<u64>, columns: &[Column]) -> Result<Scan<'_>, ReadError> {
        Ok(Scan::new(self, rows, columns))
    }

    fn error(&self, reason: Reason) -> ReadError {
        ReadError::new(&self.name, reason)
    }

    /// Returns the error that the file is damaged. `what` says how.
    pub fn damaged(&self, what: &str) -> ReadError {
        ReadError::new(&self.name, Reason::Damaged(what.to_owned()))
    }
}

fn check_version(pairs: &BTreeMap<String, String>) -> Result<(), Reason> {
    if pairs.contains_key(keys::PART) {
        let why = "it is only a part; `ringwalk-cluster compact` makes a snapshot of all parts";
        return Err(Reason::NotASnapshot(why.to_owned()));
    }
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

#[cfg(test)]
mod tests;
