//! What is kept with a directory while it is searched.

use super::file::File;
use super::shared::Shared;
use crate::facts::Facts as _;
use ringwalk::Metadata;
use ringwalk::ordered::Place;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is kept with a directory. Most searches need two words of it, and there is one for each directory in flight: so what
/// few of them need is behind pointers.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// What tells it from all other directories of the search.
    pub(crate) number: u64,
    /// Which worker has its line, in which piece.
    pub(crate) line: Option<LineAt>,
    /// The workers that have lines of what is below it, by their number modulo 64.
    pub(crate) writers: AtomicU64,
    /// Where its results belong when they are put into order.
    pub(crate) place: Option<Box<Place>>,
    /// For a directory that is evaluated after what is in it.
    pub(crate) later: Option<Box<Later>>,
}

/// A line that a worker had not necessarily written yet: the number of a piece of its output, with the worker's number
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt(NonZeroU64);

impl LineAt {
    /// Pieces are numbered below this bit.
    const SHIFT: u32 = 48;

    /// In this worker's piece. Pieces are numbered from 1; none for 0.
    pub(crate) fn new(worker: usize, piece: u64) -> Option<Self> {
        NonZeroU64::new((worker as u64) << Self::SHIFT | piece).map(Self)
    }

    pub(crate) fn worker(self) -> usize {
        (self.0.get() >> Self::SHIFT) as usize
    }

    pub(crate) fn piece(self) -> u64 {
        self.0.get() & ((1 << Self::SHIFT) - 1)
    }
}

/// What was known of a directory when it was found. Its times are those from before anything in it was changed, as
/// find(1) has them.
#[derive(Debug)]
pub(crate) struct Later {
    pub(crate) metadata: Option<Metadata>,
    /// It was reached through a link.
    pub(crate) followed: bool,
    pub(crate) stat_failed: Option<rustix::io::Errno>,
}

impl State {
    /// Notes that these workers have lines of what is below.
    pub(crate) fn add_writers(&self, writers: u64) {
        if writers & !self.writers.load(Ordering::Relaxed) != 0 {
            self.writers.fetch_or(writers, Ordering::Relaxed);
        }
    }
}

impl Later {
    /// What is known of `file`, and what can be asked now.
    pub(crate) fn new(shared: &Shared<'_>, file: &File<'_>) -> Self {
        let metadata = if shared.plan.fields.is_empty() {
            None
        } else {
            Some(file.metadata().cloned())
        };
        Self {
            followed: file.is_followed(),
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
        assert_eq!(size_of::<State>(), 40);
    }
}
