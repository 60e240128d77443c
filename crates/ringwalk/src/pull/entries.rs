//! The walk as an iterator over owned entries, for callers that need no visitor.
//!
//! The walk runs on threads of its own and is a bounded number of batches ahead of the caller.

use crate::pull::background::{Background, Sender};
#[cfg(feature = "async")]
use crate::pull::batches::OwnedBatch;
use crate::pull::ended::Ended;
use crate::pull::entry_buffer::EntryRef;
use crate::pull::sending::Sending;
use crate::visit::batch::Batch;
use crate::visit::entry::Entry;
use crate::visit::error::{Error, Operation};
use crate::visit::leftover::Leftover;
use crate::visit::metadata::Metadata;
use crate::visit::summary::Summary;
use crate::walk::Walk;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// An entry that stands on its own.
#[derive(Clone, Debug)]
pub struct OwnedEntry {
    path: PathBuf,
    file_type: FileType,
    depth: usize,
    root_index: usize,
    ino: u64,
    metadata: Option<Metadata>,
}

impl OwnedEntry {
    pub(super) fn new<S>(entry: Entry<'_, S>) -> Self {
        let (path, depth, root) = (entry.path(), entry.depth(), entry.root_index());
        Self::at(path, depth, root, entry.into())
    }

    /// Returns an entry of a batch, by its index.
    #[cfg(feature = "async")]
    pub(crate) fn of_batch(batch: &OwnedBatch, index: usize) -> Option<Self> {
        let entry = batch.entries().get(index)?;
        let mut path = Vec::new();
        batch.path_into(index, &mut path);
        Some(Self::at(
            path,
            batch.depth(),
            batch.root_index(index),
            entry,
        ))
    }

    fn at(path: Vec<u8>, depth: usize, root_index: usize, entry: EntryRef<'_>) -> Self {
        Self {
            path: PathBuf::from(std::ffi::OsString::from_vec(path)),
            file_type: entry.file_type(),
            depth,
            root_index,
            ino: entry.ino(),
            metadata: entry.metadata().copied(),
        }
    }

    /// Returns the path, beginning with the root as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path, without a copy.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Returns the last component of the path; for a root without one (`/`, `..`) the path as
    /// given.
    pub fn file_name(&self) -> &OsStr {
        self.path.file_name().unwrap_or(self.path.as_os_str())
    }

    /// Returns the type; see [`Entry::file_type`].
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Returns the depth below the root; 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the index of the root that the entry was reached from.
    pub fn root_index(&self) -> usize {
        self.root_index
    }

    /// Returns the inode number as the directory lists it; 0 for roots.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// Returns the metadata, if fields were asked for and the source has returned them.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

pub(super) type EntryItem = Result<OwnedEntry, Error>;

/// The entries of a walk, roots first, with errors among them.
///
/// Entries come in the order in which they were read; [`Walk::depth_first`] has an order. Dropping
/// the iterator ends the walk.
#[derive(Debug)]
pub struct Entries(Background<EntryItem, Ended>);

impl Iterator for Entries {
    type Item = EntryItem;

    fn next(&mut self) -> Option<EntryItem> {
        self.0.take()
    }
}

impl std::iter::FusedIterator for Entries {}

impl Entries {
    /// Returns the summary of the walk; `None` before the iterator has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.0.walk_summary()
    }

    /// Returns what the walk has left over when its [budget](Walk::budget) was spent, for
    /// [`Walk::resume`]; `None` until the iterator has ended, and if the walk was stopped or
    /// cancelled. Empty if nothing is left.
    pub fn leftovers(&self) -> Option<&[Leftover]> {
        self.0.leftovers()
    }
}

impl IntoIterator for Walk {
    type Item = EntryItem;
    type IntoIter = Entries;

    /// Runs the walk on threads of its own. The walk is at most about 8000 entries and a batch for
    /// each worker ahead of the caller; then it waits.
    ///
    /// If no thread can be started, the iterator gives an error for each root (`EAGAIN`), and no
    /// entry.
    fn into_iter(self) -> Entries {
        let roots: Vec<_> = self.root_names().map(<[u8]>::to_vec).collect();
        let items = |batch: &Batch<'_, ()>| -> Vec<_> {
            let entries = batch.entries();
            entries.map(OwnedEntry::new).collect()
        };
        let walk = move |sender: &Sender<EntryItem>| {
            Ended::from(self.run(|_| Sending::new(sender, items)))
        };
        let walk = Background::start("ringwalk-entries", walk);
        Entries(walk.unwrap_or_else(|error| {
            Background::ended(not_started(roots, &error).map(Err).collect())
        }))
    }
}

/// Returns the errors of a walk for which no thread could be started: one for each root.
pub(super) fn not_started(
    roots: Vec<Vec<u8>>,
    error: &std::io::Error,
) -> impl Iterator<Item = Error> {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::AGAIN);
    let roots = roots.into_iter();
    roots.map(move |root| Error::new(Operation::Open, root, errno))
}
