//! The state of a directory during a search.

use super::file::File;
use super::shared::Shared;
use crate::facts::Facts as _;
use ringwalk::Metadata;
use ringwalk::ordered::Place;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of a directory. Each directory in flight has one, and most searches use two words of
/// it. So the parts that few searches need are behind pointers.
#[derive(Debug, Default)]
pub(crate) struct DirState {
    /// A number that no other directory of the search has.
    pub(crate) number: u64,
    /// The worker that has the directory's line, and the piece that holds it.
    pub(crate) line: Option<LineAt>,
    /// The workers that have lines of files below, by their number modulo 64.
    pub(crate) writers: AtomicU64,
    /// The place of the directory's results in the order of the tree.
    pub(crate) place: Option<Box<Place>>,
    /// For a directory that is evaluated after its entries.
    pub(crate) later: Option<Box<Later>>,
}

/// Each worker numbers directories and pieces below this bit; the bits from it on hold the worker's
/// own number.
pub(crate) const WORKER_SHIFT: u32 = 48;

/// A line that a worker may not have written yet: the number of a piece of its output, and the
/// worker's number above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt(NonZeroU64);

impl LineAt {
    /// Creates the position of a line in this worker's piece. Pieces are numbered from 1; `None`
    /// for 0.
    pub(crate) fn new(worker: usize, piece: u64) -> Option<Self> {
        NonZeroU64::new((worker as u64) << WORKER_SHIFT | piece).map(Self)
    }

    pub(crate) fn worker(self) -> usize {
        (self.0.get() >> WORKER_SHIFT) as usize
    }

    pub(crate) fn piece(self) -> u64 {
        self.0.get() & ((1 << WORKER_SHIFT) - 1)
    }
}

/// The facts about a directory when it was found. As in find(1), the times are from before anything
/// in the directory was changed.
#[derive(Debug)]
pub(crate) struct Later {
    pub(crate) metadata: Option<Metadata>,
    /// The directory was reached through a link.
    pub(crate) followed: bool,
    pub(crate) stat_failed: Option<rustix::io::Errno>,
    /// Whether the directory is empty, in a saved tree.
    pub(crate) is_empty: Option<Result<bool, rustix::io::Errno>>,
}

impl DirState {
    /// Notes that these workers have lines of files below.
    pub(crate) fn add_writers(&self, writers: u64) {
        if writers & !self.writers.load(Ordering::Relaxed) != 0 {
            self.writers.fetch_or(writers, Ordering::Relaxed);
        }
    }
}

impl Later {
    /// Creates the record of `file`, and reads now what can be read.
    pub(crate) fn new(shared: &Shared<'_>, file: &File<'_>) -> Self {
        let metadata = if shared.plan.fields.is_empty() {
            None
        } else {
            Some(file.metadata().cloned())
        };
        Self {
            followed: file.is_followed(),
            is_empty: file.saved_emptiness(),
            stat_failed: metadata.and_then(Result::err),
            metadata: metadata.and_then(Result::ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_worker_and_piece() {
        let line = LineAt::new(1023, 1 << 40).unwrap();
        assert_eq!((line.worker(), line.piece()), (1023, 1 << 40));
        assert_eq!(LineAt::new(0, 0), None);
    }

    #[test]
    fn little_is_kept_with_a_directory() {
        assert_eq!(size_of::<DirState>(), 40);
    }
}
