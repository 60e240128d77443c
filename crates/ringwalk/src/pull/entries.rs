//! The walk as an iterator over owned entries, for callers that need no visitor.
//!
//! The walk runs on threads of its own and is a bounded number of batches ahead of the caller. For
//! [`Order::Name`] it has one worker. The entries of one worker are in sequence, except where
//! subdirectories belong between the entries of a batch: [`Ordered`] holds those. Several workers
//! would hold whole subtrees: 19 to 55 MiB for a tree of 103 000 entries.

use crate::pull::background::{Background, Sender};
#[cfg(feature = "async")]
use crate::pull::batches::OwnedBatch;
use crate::pull::ended::Ended;
use crate::pull::entry_buffer::EntryRef;
use crate::pull::ordered::{Line, Ordered, Place};
use crate::pull::sending::Sending;
use crate::visit::batch::Batch;
use crate::visit::entry::Entry;
use crate::visit::error::{Error, Operation};
use crate::visit::left::Left;
use crate::visit::leftover::Leftover;
use crate::visit::metadata::Metadata;
use crate::visit::summary::Summary;
use crate::visit::visitor::{Flow, Visitor};
use crate::walk::Walk;
use crate::walk::settings::Order;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

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
    fn new<S>(entry: Entry<'_, S>) -> Self {
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

    /// Returns the last component of the path; for a root without one (`/`, `..`) the path as given.
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

type EntryItem = Result<OwnedEntry, Error>;

/// The entries of a walk, roots first, with errors among them.
///
/// With [`Order::Name`] entries come depth first: each directory before its entries, and names in
/// the order of their bytes. Otherwise entries come in the order in which they were read. Dropping
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

    /// Runs the walk on threads of its own. Without [`Order::Name`] the walk is at most about 8000
    /// entries and a batch for each worker ahead of the caller; then it waits.
    ///
    /// With [`Order::Name`] the walk has one worker, unless [`Walk::workers`] gives a number, and
    /// holds the names of the directories that it is inside of. More workers are faster, but
    /// entries that are read out of turn stay in memory until their turn comes. That may be most of
    /// the tree.
    ///
    /// If no thread can be started, the iterator gives an error for each root (`EAGAIN`), and no
    /// entry.
    ///
    /// # Panics
    ///
    /// With [`Order::Name`] if the walk has a budget, or goes on with leftovers: this order covers
    /// the whole tree. [`Walk::batches`] orders the entries of each directory.
    fn into_iter(self) -> Entries {
        if self.order_wanted() == Order::Name {
            self.expect_whole("an iterator that orders entries by name");
        }
        let roots: Vec<_> = self.root_names().map(<[u8]>::to_vec).collect();
        let walk = Background::start("ringwalk-entries", |sender| send_all(self, sender));
        Entries(walk.unwrap_or_else(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
            let errors = roots
                .into_iter()
                .map(|root| Error::new(Operation::Open, root, errno));
            Background::ended(errors.map(Err).collect())
        }))
    }
}

fn send_all(mut walk: Walk, sender: &Sender<EntryItem>) -> Ended {
    if walk.order_wanted() != Order::Name {
        let items = |batch: &Batch<'_, ()>| -> Vec<_> {
            let entries = batch.entries();
            entries.map(OwnedEntry::new).collect()
        };
        return walk.run(|_| Sending::new(sender, items)).into();
    }
    // Directories above the least depth have their place in the order, too, so their batches are
    // needed.
    let min_depth = walk.take_min_depth();
    let walk = walk.workers_unless_given(NonZeroUsize::MIN);
    let gone = AtomicBool::new(false);
    let ordered = Ordered::new(|items: Vec<EntryItem>| {
        let weight = items.len();
        if sender.send(items, weight).is_err() {
            gone.store(true, Ordering::Relaxed);
        }
    });
    let ended = Ended::from(walk.run(|_| SendingInOrder {
        sender,
        ordered: &ordered,
        min_depth,
        gone: &gone,
    }));
    let _consumer = ordered.finish();
    ended
}

/// Sends batches in the order of a depth-first walk, and errors as they come.
struct SendingInOrder<'a, C> {
    sender: &'a Sender<EntryItem>,
    ordered: &'a Ordered<Vec<EntryItem>, C>,
    min_depth: usize,
    gone: &'a AtomicBool,
}

impl<C: FnMut(Vec<EntryItem>) + Send> Visitor for SendingInOrder<'_, C> {
    type State = Option<Place>;

    fn batch(&mut self, batch: &Batch<'_, Self::State>) -> Flow {
        if self.gone.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        let mut line = Line::default();
        let mut items = Vec::new();
        let shown = batch.depth() >= self.min_depth;
        for entry in batch.entries() {
            if shown {
                items.push(Ok(OwnedEntry::new(entry)));
            }
            if entry.will_descend() {
                line.push(std::mem::take(&mut items));
                line.subdirectory();
            }
        }
        line.push(items);
        let own = batch.dir().and_then(|dir| dir.state().as_ref());
        let place = own.unwrap_or(self.ordered.roots());
        let mut places = self
            .ordered
            .add_batch(place, batch.numbers(), line)
            .into_iter();
        for entry in batch.entries().filter(Entry::will_descend) {
            entry.descend_with(places.next());
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Left<'_, Self::State>) {
        if let Some(place) = dir.state() {
            self.ordered.close(place, None);
        }
    }

    fn error(&mut self, error: &Error) {
        // If the receiver was dropped, the next batch ends the walk.
        let _ = self.sender.send([Err(error.clone())], 1);
    }
}
