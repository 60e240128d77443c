//! The walk as an iterator over owned entries, for those who do not want a visitor.
//!
//! The walk runs on threads of its own and is a bounded number of batches ahead of the caller. With
//! [`Order::Name`] that takes one worker, whose walk is in sequence but for entries between which subdirectories belong:
//! [`Ordered`] holds those. Several workers would hold whole subtrees: of 103 000 entries, 19 to 55 MiB.

use crate::background::{Background, Sender};
use crate::batch::{Batch, Entry};
#[cfg(feature = "async")]
use crate::batches::OwnedBatch;
use crate::entry_buffer::EntryRef;
use crate::error::Error;
use crate::left::Left;
use crate::metadata::Metadata;
use crate::options::Order;
use crate::ordered::{Line, Ordered, Place};
use crate::sending::Sending;
use crate::summary::{Outcome, Summary};
use crate::visitor::{Flow, Visitor};
use crate::walk::Walk;
use ringwalk_sys::RawFileType as FileType;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// An entry that stands on its own.
#[derive(Clone, Debug)]
pub struct OwnedEntry {
    path: PathBuf,
    file_type: FileType,
    depth: usize,
    ino: u64,
    metadata: Option<Metadata>,
}

impl OwnedEntry {
    fn new<S>(entry: Entry<'_, S>) -> Self {
        Self::at(entry.path(), entry.depth(), entry.into())
    }

    /// The entry with this number of a batch.
    #[cfg(feature = "async")]
    pub(crate) fn of_batch(batch: &OwnedBatch, index: usize) -> Option<Self> {
        let entry = batch.entries().get(index)?;
        let mut path = Vec::new();
        batch.path_into(index, &mut path);
        Some(Self::at(path, batch.depth(), entry))
    }

    fn at(path: Vec<u8>, depth: usize, entry: EntryRef<'_>) -> Self {
        Self {
            path: PathBuf::from(std::ffi::OsString::from_vec(path)),
            file_type: entry.file_type(),
            depth,
            ino: entry.ino(),
            metadata: entry.metadata().copied(),
        }
    }

    /// The path, beginning with the root as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path, without a copy.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// The last component of the path; for a root the path as given.
    pub fn name(&self) -> &OsStr {
        let path = self.path.as_os_str();
        if self.depth == 0 {
            return path;
        }
        let bytes = path.as_bytes();
        let start = bytes
            .iter()
            .rposition(|b| *b == b'/')
            .map_or(0, |at| at + 1);
        OsStr::from_bytes(&bytes[start..])
    }

    /// The type; see [`Entry::file_type`].
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Depth below the root, 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The inode number as the directory has it; 0 for roots.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// The metadata, if fields were asked for and it could be had.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

type Item = Result<OwnedEntry, Error>;

/// The entries of a walk, roots first, then what could not be read as errors among them.
///
/// With [`Order::Name`]: depth first, each directory before what is in it, names in the order of their bytes. Else in
/// the order in which they were read. Dropping the iterator ends the walk.
#[derive(Debug)]
pub struct Entries(Background<Item>);

impl Iterator for Entries {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        // Without a time to wait there is none to run out.
        self.0.next(None).ok().flatten()
    }
}

impl std::iter::FusedIterator for Entries {}

impl Entries {
    /// What the walk has done; `None` before the iterator has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.0.summary()
    }
}

impl IntoIterator for Walk {
    type Item = Item;
    type IntoIter = Entries;

    /// Runs the walk on threads of its own. Without [`Order::Name`] it is at most some 8000 entries and a batch for each
    /// worker ahead of the caller, and waits.
    ///
    /// With [`Order::Name`] it has one worker unless [`Walk::workers`] says otherwise, and holds the names of directories
    /// that it is inside of. More workers are faster, but what they read out of turn is held in memory until its turn
    /// comes, which may be most of the tree.
    ///
    /// # Panics
    ///
    /// If no thread can be started.
    fn into_iter(self) -> Entries {
        let walk = Background::start("ringwalk-entries", |sender| send_all(self, sender));
        Entries(walk.expect("a thread for the walk can be started"))
    }
}

fn send_all(mut walk: Walk, sender: &Sender<Item>) -> Summary {
    if walk.order_wanted() != Order::Name {
        let items = |batch: &Batch<'_, ()>| -> Vec<_> {
            let entries = batch.entries();
            entries.map(OwnedEntry::new).collect()
        };
        return walk.run(|_| Sending::new(sender, items)).summary;
    }
    // Directories above the least depth have their place in the order too, so batches of them must be seen.
    let min_depth = walk.take_min_depth();
    let walk = walk.workers_unless_given(NonZeroUsize::MIN);
    let gone = AtomicBool::new(false);
    let ordered = Ordered::new(|items: Vec<Item>| {
        let weight = items.len();
        if sender.send(items, weight).is_err() {
            gone.store(true, Ordering::Relaxed);
        }
    });
    let Outcome { summary, visitors } = walk.run(|_| SendingInOrder {
        sender,
        ordered: &ordered,
        min_depth,
        gone: &gone,
    });
    drop(visitors);
    let _consumer = ordered.finish();
    summary
}

/// Sends batches in the order of a depth-first walk; errors as they come.
struct SendingInOrder<'a, C> {
    sender: &'a Sender<Item>,
    ordered: &'a Ordered<Vec<Item>, C>,
    min_depth: usize,
    gone: &'a AtomicBool,
}

impl<C: FnMut(Vec<Item>) + Send> Visitor for SendingInOrder<'_, C> {
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
            .add_batch(place, batch.index(), line)
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
        // If nobody listens any more, the next batch ends the walk.
        let _ = self.sender.send([Err(error.clone())], 1);
    }
}
