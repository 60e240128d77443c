//! The interface of a file system for an inode sweep.

use crate::sources::volume::Refused;
use crate::visit::metadata::Metadata;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The pieces of a file system, which threads take in turn.
#[derive(Debug)]
pub(crate) struct Turns {
    next: AtomicUsize,
    count: usize,
    stopped: AtomicBool,
}

impl Turns {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            count,
            stopped: AtomicBool::new(false),
        }
    }

    /// Takes the next piece, until there are no more.
    pub(crate) fn take(&self) -> Option<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.count).then_some(piece)
    }

    /// Stops giving out pieces.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// A file system whose inodes can be swept.
pub(crate) trait Inventory: Sync {
    /// Returns the number of pieces.
    fn pieces(&self) -> usize;

    /// Takes pieces until there are no more, and passes the files in them to `files`. These are all
    /// files that have a name, including the root directory, on their device and mount, with the
    /// mask that statx(2) would return. If an inode is not certain, the file system is asked by
    /// file handle. Several threads call this at once.
    ///
    /// # Errors
    ///
    /// If the sweep cannot return all files. The caller then drops the files that it was given.
    fn sweep(&self, turns: &Turns, files: &mut dyn FnMut(&[Metadata])) -> Result<(), Refused>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_given_out_once_until_stopped() {
        let turns = Turns::new(3);
        assert_eq!([turns.take(), turns.take()], [Some(0), Some(1)]);
        turns.stop();
        assert_eq!(turns.take(), None);
        let turns = Turns::new(1);
        assert_eq!([turns.take(), turns.take()], [Some(0), None]);
    }
}
