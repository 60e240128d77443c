//! The walk as batches that stand on their own, for those who take rather than are called: iterators of other languages, and
//! tasks.

use crate::background::{Background, Canceller, Sender, TimedOut};
use crate::batch::Batch;
use crate::dir::Dir;
use crate::entry_buffer::EntryBuffer;
use crate::error::Error;
use crate::sending::Sending;
use crate::summary::Summary;
use crate::walk::Walk;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

/// Entries of one directory, and where they are: a [`Batch`] that stands on its own.
#[derive(Debug)]
pub struct OwnedBatch {
    entries: EntryBuffer,
    directory: Option<Box<[u8]>>,
    depth: usize,
    /// Of the directory, or of the first entry where these are roots.
    root_index: usize,
}

impl<S> From<&Batch<'_, S>> for OwnedBatch {
    /// Copies the entries. That takes about 20 ns for each, with what is known of it.
    fn from(batch: &Batch<'_, S>) -> Self {
        let dir = batch.dir();
        Self {
            entries: EntryBuffer {
                raw: batch.raw.to_exact(),
            },
            directory: dir.map(|dir| dir.path().into_boxed_slice()),
            depth: batch.depth(),
            root_index: dir.map_or(batch.first_root, Dir::root_index),
        }
    }
}

impl OwnedBatch {
    /// The path of the directory, beginning with the root as it was given; `None` if these entries are the roots themselves, whose names
    /// are paths as they were given.
    pub fn directory(&self) -> Option<&[u8]> {
        self.directory.as_deref()
    }

    /// Depth of the entries: 0 for roots, 1 for what is in a root.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The place in the list of roots, from 0, of the root that this entry is below of, or is itself.
    pub fn root_index(&self, index: usize) -> usize {
        match self.directory {
            Some(_) => self.root_index,
            None => self.root_index + index,
        }
    }

    /// The entries.
    pub fn entries(&self) -> &EntryBuffer {
        &self.entries
    }

    /// The entries from `start` on.
    #[cfg(feature = "async")]
    pub(crate) fn split_off(mut self, start: usize) -> Self {
        Self {
            entries: EntryBuffer {
                raw: self.entries.raw.split_off(start),
            },
            root_index: self.root_index(start),
            ..self
        }
    }

    /// Writes the path of an entry over what is in `path`.
    ///
    /// # Panics
    ///
    /// If there are not that many entries.
    pub fn path_into(&self, index: usize, path: &mut Vec<u8>) {
        path.clear();
        path.extend_from_slice(self.directory().unwrap_or_default());
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        let entry = self.entries.get(index).expect("an entry of this batch");
        path.extend_from_slice(entry.name());
    }
}

type Item = Result<OwnedBatch, Error>;

/// The batches of a walk, roots first, in the order in which they were read, and what could not be read as errors among them.
///
/// The walk runs on threads of its own, at most some 8000 entries and a batch for each worker ahead of the caller. Dropping this
/// ends it and waits for its threads.
///
/// ```
/// use ringwalk::{Fields, Walk};
///
/// let mut bytes = 0;
/// let mut batches = Walk::new("src").fields(Fields::SIZE).batches()?;
/// for batch in batches.by_ref() {
///     let batch = batch?;
///     bytes += batch.entries().iter().filter_map(|e| e.metadata()).map(|m| m.size).sum::<u64>();
/// }
/// assert!(bytes > 0);
/// assert_eq!(batches.summary().map(|s| s.errors), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batches(Background<Item>);

impl Walk {
    /// Runs the walk on threads of its own, and gives what they read batch by batch.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub fn batches(self) -> io::Result<Batches> {
        let walk = |sender: &Sender<Item>| {
            let item = |batch: &Batch<'_, ()>| Some(OwnedBatch::from(batch));
            self.run(|_| Sending::new(sender, item)).summary
        };
        Background::start("ringwalk-batches", walk).map(Batches)
    }
}

impl Iterator for Batches {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        // Without a time to wait there is none to run out.
        self.0.next(None).ok().flatten()
    }
}

impl std::iter::FusedIterator for Batches {}

impl Batches {
    /// As [`next`](Iterator::next), but waits no longer than `time`, for those who must look at something else now and then.
    ///
    /// # Errors
    ///
    /// If nothing has come until then; it may be called again.
    pub fn next_within(&mut self, time: Duration) -> Result<Option<Item>, TimedOut> {
        self.0.next_within(time)
    }

    /// As [`next`](Iterator::next), for a task: if there is nothing yet, it is woken when there is.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Item>> {
        self.0.poll_next(cx)
    }

    /// Ends the walk, and does not wait for it.
    #[cfg(feature = "async")]
    pub(crate) fn detach(&mut self) {
        self.0.detach();
    }

    /// What ends the walk, from any thread.
    pub fn canceller(&self) -> Canceller {
        self.0.canceller()
    }

    /// What the walk has done; `None` before the last batch has been taken.
    pub fn summary(&self) -> Option<&Summary> {
        self.0.summary()
    }
}
