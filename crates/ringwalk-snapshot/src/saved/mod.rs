//! Snapshots that a walk reads in place of the live file system.
//!
//! [`SnapshotTree`] is the [`SavedTree`] of the engine: find, du and count visit its entries in the
//! same way as the entries of a live tree. File numbers are row numbers. A listing number holds the
//! last row of a directory's listing, so that the row of the directory itself need not be read
//! again.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the tree: its fields, its failure, the bound on its entries |
//! | `reader.rs` | the reader of one worker |
//! | `listing.rs` | listing numbers |
//! | `metadata.rs` | metadata from columns |
//! | `older.rs` | snapshots from which a walk takes what has not changed |
//! | `place.rs` | from paths that a user gives to rows |

mod listing;
mod metadata;
mod older;
mod place;
mod reader;
#[cfg(test)]
mod tests;

pub use older::OlderSnapshot;

use crate::read::{Page, PageCache, ReadError, Snapshot};
use crate::schema::Column;
use reader::SnapshotReader;
use ringwalk::sync::lock;
use ringwalk::{Errno, Fields, Metadata, SavedReader, SavedTree};
use ringwalk_gnu::quote::file_always;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A snapshot as a tree that can be walked.
#[derive(Debug)]
pub struct SnapshotTree {
    snapshot: Snapshot,
    /// The directory to which relative paths are relative; `None` if it is not known.
    directory: Option<PathBuf>,
    /// Pages in which paths were looked up. The first reader takes them over.
    pages: Mutex<PageCache>,
    /// Why the file could not be read.
    failure: Mutex<Option<ReadError>>,
    /// Entries that may still be listed. A damaged file may list a directory again and again.
    allowed: AtomicU64,
}

impl SnapshotTree {
    /// Creates the tree of a snapshot. Relative paths are relative to the working directory.
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            directory: std::env::current_dir().ok(),
            pages: Mutex::default(),
            failure: Mutex::default(),
            allowed: AtomicU64::new(0),
        }
    }

    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the page of a row, with at least these columns.
    #[inline]
    fn load<'p>(
        &self,
        pages: &'p mut PageCache,
        row: u64,
        columns: &[Column],
    ) -> Result<&'p Page, Errno> {
        let page = pages.load(&self.snapshot, row, columns);
        page.map_err(|error| self.fail(error))
    }

    /// Notes why the file could not be read. Returns the error number for visitors.
    fn fail(&self, error: ReadError) -> Errno {
        lock(&self.failure).get_or_insert(error);
        Errno::IO
    }

    fn fail_damaged(&self, what: &str) -> Errno {
        self.fail(self.snapshot.damaged(what))
    }

    /// Allows the entries of a whole snapshot to be listed once more, for one more root.
    fn allow_root(&self) {
        let rows = self.snapshot.rows();
        self.allowed.fetch_add(rows, Ordering::Relaxed);
    }

    /// Allows any number of entries.
    fn allow_all(&self) {
        self.allowed.store(u64::MAX, Ordering::Relaxed);
    }

    /// Takes so many entries from those that are allowed.
    fn take_allowed(&self, entries: u64) -> Result<(), Errno> {
        let take = |allowed: u64| allowed.checked_sub(entries);
        let taken = self
            .allowed
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(self.fail_damaged("several directories have the same entries")),
        }
    }
}

impl SavedTree for SnapshotTree {
    fn describe(&self) -> String {
        let name = self.snapshot.name().as_os_str().as_encoded_bytes();
        format!("snapshot {}", file_always(name))
    }

    fn failure(&self) -> Option<String> {
        lock(&self.failure).as_ref().map(ToString::to_string)
    }

    fn fields(&self) -> Fields {
        metadata::fields(|column| self.snapshot.has(column))
    }

    fn find(&self, path: &[u8], follow: bool) -> Result<Metadata, Errno> {
        let mut pages = lock(&self.pages);
        let row = self.row_of(path, follow, &mut pages)?;
        let fields = Fields::TYPE | Fields::INO | Fields::NLINK | Fields::MNT_ID;
        let page = self.load(&mut pages, row, &metadata::columns(fields))?;
        Ok(metadata::of_row(&self.snapshot, page, row))
    }

    fn reader(self: Arc<Self>, fields: Fields) -> Box<dyn SavedReader> {
        Box::new(SnapshotReader::new(self, fields))
    }
}

/// Returns true if the column is needed for listing a directory.
const LISTING: [Column; 8] = [
    Column::Dir,
    Column::TreeLast,
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
];
