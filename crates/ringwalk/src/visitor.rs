//! What a user of the engine writes: a visitor, one for each worker.

use crate::{Batch, Dir, Error, Left};

/// What a visitor wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Be done with this directory: read no more of it and descend into nothing more of it.
    Prune,
    /// End the whole walk. Directories that are open are not left. Other workers may be in a call, or on the way to one
    /// last batch.
    Stop,
}

/// [`Flow::Continue`], or the end.
pub(crate) fn go_on(on: bool) -> Flow {
    if on { Flow::Continue } else { Flow::Stop }
}

/// Receives what a walk reads. Every worker has a visitor of its own, so nothing here needs a lock; what belongs to a
/// directory rather than to a worker is kept in its [state](Dir::state).
///
/// Calls for one directory come in this order, each on whatever worker it falls to:
///
/// 1. the batch of its parent in which it is an entry (a root: the batch without a directory);
/// 2. `enter`, when it has been opened (not when that failed);
/// 3. `batch`, as often as it takes. Batches of a wide directory may be visited by several workers at once and in any
///    order; [`Batch::index`] tells their order;
/// 4. `leave`, exactly once, after everything below it has been left, and also when it could not be opened or read.
///
/// After [`Flow::Stop`] each worker is done with the batch that it is at; `leave` is not made up for.
pub trait Visitor: Send {
    /// What is kept with each directory while it is walked; made by [`Entry::descend_with`](crate::Entry::descend_with)
    /// or by default.
    type State: Default + Send + Sync;

    /// `dir` is open and about to be read.
    fn enter(&mut self, dir: &Dir<Self::State>) -> Flow {
        let _ = dir;
        Flow::Continue
    }

    /// Entries of one directory.
    fn batch(&mut self, batch: &Batch<'_, Self::State>) -> Flow;

    /// All below a directory is done.
    fn leave(&mut self, left: &Left<'_, Self::State>) {
        let _ = left;
    }

    /// Something could not be read; the walk goes on.
    fn error(&mut self, error: &Error) {
        let _ = error;
    }
}
