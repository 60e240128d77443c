//! Saved trees: a walk reads a tree that was written down, and nothing of the live file system.
//!
//! A [`SavedTree`] answers for all roots of a walk ([`Walk::saved_tree`](crate::Walk::saved_tree)).
//! Each worker has a [`SavedReader`] of it, which fills the same buffer as every other source. So
//! visitors need not know where their entries come from. Two kinds of numbers, which only the tree
//! understands, stand for files:
//!
//! - the *file* number of an entry: asks for its metadata or its target later;
//! - the *listing* number of a directory: asks for its entries.
//!
//! They are two, because the place where a directory is listed can lie far from the place where its
//! own entry is.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the traits, and the buffer that a reader fills |
//! | `shared_reader.rs` | the reader of a worker, which its visitor's entries use too |
//! | `saved_file.rs` | one file of a saved tree, as visitors see it |
//! | `tests.rs`, `memory.rs` | tests, with a tree in memory |

#[cfg(test)]
mod memory;
mod saved_file;
mod shared_reader;
#[cfg(test)]
mod tests;

pub use saved_file::SavedFile;
pub(crate) use shared_reader::SharedReader;

use crate::sources::raw_batch::{Known, RawBatch};
use crate::visit::error::Operation;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::sync::Arc;

/// A tree that was saved, or several, with all metadata that is known of its files.
pub trait SavedTree: Send + Sync {
    /// Returns a description for people: the name of the file that holds the tree.
    fn describe(&self) -> String;

    /// Returns why the tree could not be read, if a reader has failed with `EIO` for that.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the fields that are known of some file.
    fn fields(&self) -> Fields;

    /// Returns type, identity and number of links of the file at a path as a user gives it. If
    /// `follow` is true and the file is a symbolic link, they describe its target.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the tree does not hold the path, or the target of the link.
    fn find(&self, path: &[u8], follow: bool) -> Result<Metadata, Errno>;

    /// Returns a reader for one worker. It returns at least these fields with each entry, as far as
    /// they are known. If `fields` is empty, it need not return any metadata.
    fn reader(self: Arc<Self>, fields: Fields) -> Box<dyn SavedReader>;
}

/// Reads a saved tree for one worker.
pub trait SavedReader: Send {
    /// Adds the file at the path `path`, which a user has given, to `batch`, under this path as its
    /// name and with its metadata. If `follow` is true and the file is a symbolic link, adds its
    /// target.
    ///
    /// # Errors
    ///
    /// The errors of [`SavedTree::find`].
    fn root(&mut self, path: &[u8], follow: bool, batch: &mut SavedBatch<'_>) -> Result<(), Errno>;

    /// Adds entries of a directory to `batch`, which is empty, in the order of the bytes of their
    /// names: from the first entry, or from the position that the call before has returned.
    fn list(&mut self, listing: u64, from: Option<u64>, batch: &mut SavedBatch<'_>) -> Listed;

    /// Returns at least these fields of a file, as far as they are known. Where the inode number is
    /// not known, [`Metadata::ino`] is a number that no other file has.
    ///
    /// # Errors
    ///
    /// The error that the file was saved with; `EIO` if the tree cannot be read.
    fn metadata(&mut self, file: u64, fields: Fields) -> Result<Metadata, Errno>;

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    ///
    /// `ENODATA` if it is not known, and as [`metadata`](Self::metadata).
    fn target(&mut self, file: u64) -> Result<Vec<u8>, Errno>;

    /// Returns true if a directory has no entries.
    ///
    /// # Errors
    ///
    /// `ENODATA` if that is not known, and as [`metadata`](Self::metadata).
    fn is_empty(&mut self, file: u64) -> Result<bool, Errno>;
}

/// The outcome of listing a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The position of the entries that follow; `None` if there are no more.
    pub next: Option<u64>,
    /// Why the directory could not be read to its end when it was saved, or cannot be read now. A
    /// directory that could not be opened ([`Operation::Open`]) has no entries.
    pub failure: Option<(Operation, Errno)>,
}

/// An entry that a [`SavedReader`] has read.
#[derive(Clone, Copy, Debug)]
pub struct SavedEntry<'n> {
    /// The name: any bytes except `/` and NUL.
    pub name: &'n [u8],
    /// The type, as far as it is known.
    pub file_type: FileType,
    /// The inode number; 0 if it is not known.
    pub ino: u64,
    /// The file number.
    pub file: u64,
    /// The listing number, for a directory.
    pub listing: u64,
}

/// The buffer that a [`SavedReader`] fills.
#[derive(Debug)]
pub struct SavedBatch<'b> {
    raw: &'b mut RawBatch,
    /// Fields without which an entry fails.
    required: Fields,
    /// Symbolic links fail, because they should be followed.
    follows: bool,
    /// The entries are of the live tree, by names that are known.
    live: bool,
}

impl<'b> SavedBatch<'b> {
    /// Creates the buffer for entries of a walk, which needs these fields of each, and follows all
    /// links if `follows` is true.
    pub(crate) fn new(raw: &'b mut RawBatch, required: Fields, follows: bool) -> Self {
        Self {
            raw,
            required,
            follows,
            live: false,
        }
    }

    /// Creates the buffer for entries of a live tree, whose names an older tree has.
    pub(crate) fn older(raw: &'b mut RawBatch) -> Self {
        Self {
            raw,
            required: Fields::empty(),
            follows: false,
            live: true,
        }
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: &SavedEntry<'_>) {
        let raw = &mut *self.raw;
        let listing = if self.live { 0 } else { entry.listing };
        raw.records.push_entry(
            entry.name,
            entry.file_type,
            entry.ino,
            listing.cast_signed(),
        );
        if !self.live {
            raw.files.push(entry.file);
        }
        if self.follows && entry.file_type == FileType::Symlink {
            self.set(Known::Failed(Errno::OPNOTSUPP));
        } else if !raw.known.is_empty() {
            raw.known.push(Known::Nothing);
        }
    }

    /// Sets the metadata of the entry that was added last. The entry fails with `ENODATA` if the
    /// metadata lacks a field that the walk needs.
    #[inline]
    pub fn metadata(&mut self, metadata: &Metadata) {
        if !metadata.mask.contains(self.required) {
            self.failed(Errno::NODATA);
        } else if self.last_failure().is_none() {
            self.set(Known::Metadata(*metadata));
        }
    }

    /// Notes that the entry that was added last has no metadata, and why.
    pub fn failed(&mut self, errno: Errno) {
        if self.last_failure().is_none() {
            self.set(Known::Failed(errno));
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.raw.records.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.raw.records.is_empty()
    }

    fn last_failure(&self) -> Option<Errno> {
        self.raw.failure(self.raw.records.len().checked_sub(1)?)
    }

    /// Sets what is known of the last entry.
    #[inline]
    fn set(&mut self, known: Known) {
        let raw = &mut *self.raw;
        raw.failed += usize::from(matches!(known, Known::Failed(_)));
        raw.known.resize(raw.records.len(), Known::Nothing);
        if let Some(last) = raw.known.last_mut() {
            *last = known;
        }
    }
}
