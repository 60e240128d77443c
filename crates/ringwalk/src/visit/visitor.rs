//! The trait that users of the engine implement: a visitor, one for each worker.

use crate::{Batch, Dir, Error, Left, Leftover};

/// A visitor's answer: how the walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Read no more of this directory, and descend into nothing more of it.
    Prune,
    /// End the whole walk. Directories that are open are not left. Other workers finish their
    /// calls, and may still visit one batch each.
    Stop,
}

impl Flow {
    /// Returns [`Continue`](Self::Continue) if `on` is true, else [`Stop`](Self::Stop).
    pub(crate) fn continue_if(on: bool) -> Self {
        if on { Self::Continue } else { Self::Stop }
    }
}

/// Receives what a walk reads. Every worker has a visitor of its own, so a visitor needs no locks.
/// Data of a directory, rather than of a worker, is kept in the directory's [state](Dir::state).
///
/// The calls for one directory come in this order, each on any worker:
///
/// 1. `batch` with the batch of its parent in which it is an entry. For a root that is the batch
///    without a directory.
/// 2. `enter`, when the directory has been opened. If that fails, there is no call.
/// 3. `batch`, once for each buffer. Several workers may visit batches of a large directory at once
///    and in any order; [`Batch::numbers`] returns their order.
/// 4. `leave`, exactly once, after everything below the directory has been left. It also comes if
///    the directory could not be opened or read.
///
/// In a walk with a [budget](crate::Budget) there is no `leave` for a directory that is left over
/// in part, nor for the directories above it. For a directory with which another walk continues
/// ([`Walk::resume`](crate::Walk::resume)), the first call is `resume`. If only a part of it
/// remained, no `leave` follows.
///
/// After [`Flow::Stop`] each worker finishes its batch. The calls of `leave` that are missing then
/// do not come later.
pub trait Visitor: Send {
    /// The data that is kept with each directory while it is walked. It is made by
    /// [`Entry::descend_with`](crate::Entry::descend_with), or by default.
    type State: Default + Send + Sync;

    /// Called when `dir` is open and about to be read.
    fn enter(&mut self, dir: &Dir<Self::State>) -> Flow {
        let _ = dir;
        Flow::Continue
    }

    /// Called with entries of one directory.
    fn batch(&mut self, batch: &Batch<'_, Self::State>) -> Flow;

    /// Called when everything below a directory has been left.
    fn leave(&mut self, left: &Left<'_, Self::State>) {
        let _ = left;
    }

    /// Returns the state of a directory that a walk goes on with.
    fn resume(&mut self, leftover: &Leftover) -> Self::State {
        let _ = leftover;
        Self::State::default()
    }

    /// Returns the number that a leftover of `dir` gets ([`Leftover::tag`]).
    fn tag(&self, dir: &Dir<Self::State>) -> u64 {
        let _ = dir;
        0
    }

    /// Called for each error. The walk goes on.
    fn error(&mut self, error: &Error) {
        let _ = error;
    }
}
