//! What is counted in a walk's budget besides descriptors in slots: workers, directories in flight
//! or read in part, and devices.

use super::{Descriptors, Extra};
use std::sync::atomic::Ordering;

/// Descriptors that a worker may have open besides those in slots: the directory it reads, its
/// parent, one on the way when a path is opened again.
pub(super) const PER_WORKER: usize = 3;

/// Descriptors of a directory that a source has in flight: its own and its parent's.
pub(super) const PER_JOB: usize = 2;

impl<S> Descriptors<S> {
    /// Counts what a worker needs, for as long as the walk goes on. False if the budget does not
    /// allow one more.
    pub(crate) fn admit_worker(&self) -> bool {
        self.make_room(self.per_worker)
    }

    /// Counts what the first worker needs, which is there in any case.
    pub(crate) fn admit_first_worker(&self) {
        self.budget.take_anyway(self.per_worker);
    }

    /// A worker that was admitted could not be started.
    pub(crate) fn dismiss_worker(&self) {
        self.budget.give_back(self.per_worker);
    }

    /// Counts what one more directory in flight needs. False if the budget does not allow that.
    pub(crate) fn admit_job(&self) -> bool {
        self.make_room(PER_JOB)
    }

    /// A directory in flight is done with.
    pub(crate) fn dismiss_job(&self) {
        self.budget.give_back(PER_JOB);
    }

    /// Counts what a source of one worker needs that asks the kernel for whole batches. False if it
    /// is not to be had.
    pub(crate) fn admit_kernel(&self) -> bool {
        self.make_room(Extra::Kernel.count())
    }

    /// Counts what `volumes` file systems take that are read past the VFS, those that are counted
    /// already among them.
    pub(crate) fn count_volumes(&self, volumes: usize) {
        if volumes > self.volumes.load(Ordering::Relaxed) {
            let before = self.volumes.fetch_max(volumes, Ordering::Relaxed);
            let more = volumes.saturating_sub(before) * Extra::Volume.count();
            if !self.make_room(more) {
                self.budget.take_anyway(more);
            }
        }
    }

    /// Does something that takes descriptors for a while. `None`, and it is not done, if the budget
    /// is spent.
    pub(crate) fn with<T>(&self, extra: Extra, work: impl FnOnce() -> T) -> Option<T> {
        if !self.budget.take(extra.count()) {
            return None;
        }
        let done = work();
        self.budget.give_back(extra.count());
        Some(done)
    }

    /// Counts `count` descriptors as taken, and closes the oldest for that if need be. False if
    /// the budget does not allow it.
    pub(super) fn make_room(&self, count: usize) -> bool {
        // No more than are needed: another walk of the process may be the one that holds too many.
        for _ in 0..count {
            if self.budget.take(count) {
                return true;
            }
            if !self.close_oldest() {
                return false;
            }
        }
        self.budget.take(count)
    }

    /// Counts one more held, for a directory that has been read in part and cannot be closed. False
    /// if the budget is spent: then it is to be read to its end before any below it is opened.
    pub(crate) fn pin(&self) -> bool {
        self.budget.take(1)
    }

    /// Counts one more held, as [`pin`](Self::pin) does. `anyway`: also if the budget is spent, as
    /// the directory cannot be read on with before what is below it.
    pub(crate) fn pin_rest(&self, anyway: bool) -> bool {
        if anyway {
            self.budget.take_anyway(1);
        }
        anyway || self.pin()
    }

    pub(crate) fn unpin(&self) {
        self.budget.give_back(1);
    }
}
