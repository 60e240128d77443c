//! What a file system must offer to be scanned.

use crate::metadata::Metadata;
use crate::volume::Refused;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pieces of a file system that threads take in turn.
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

    /// The next piece that nobody has taken.
    pub(crate) fn take(&self) -> Option<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.count).then_some(piece)
    }

    /// No more pieces are given out.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// A file system whose files can be given without names.
pub(crate) trait Inventory: Sync {
    /// As `--source` names it.
    fn name(&self) -> &'static str;

    /// Into how many pieces it is cut.
    fn pieces(&self) -> usize;

    /// Takes pieces until there are no more, and gives the files in them: each that has a name, the root directory among
    /// them, on its device and mount, with the mask that statx(2) would return. Files that it is not sure of are asked by
    /// file handle. Called by several threads at once.
    ///
    /// # Errors
    ///
    /// If not all files can be given: what has been given is then forgotten.
    fn scan(&self, turns: &Turns, files: &mut dyn FnMut(&[Metadata])) -> Result<(), Refused>;
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
