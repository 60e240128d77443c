//! The counts in a walk's allowance besides descriptors in slots: workers, directories in flight or
//! read in part, and devices.

use super::{Descriptors, Extra};
use std::sync::atomic::Ordering;

/// Descriptors that a worker may have open besides those in slots: the directory it reads, its
/// parent, and one on the way when a path is opened again.
pub(super) const PER_WORKER: usize = 3;

/// Descriptors of a directory that a source has in flight: its own and its parent's.
pub(super) const PER_JOB: usize = 2;

impl<S> Descriptors<S> {
    /// Counts the descriptors of one more worker, until the end of the walk. Returns false if the
    /// allowance has no room.
    pub(crate) fn admit_worker(&self) -> bool {
        self.make_room(self.per_worker)
    }

    /// Counts the descriptors of the first worker, also if the allowance has no room.
    pub(crate) fn admit_first_worker(&self) {
        self.allowance.take_anyway(self.per_worker);
    }

    /// Takes back the count of a worker that could not be started.
    pub(crate) fn dismiss_worker(&self) {
        self.allowance.give_back(self.per_worker);
    }

    /// Counts the descriptors of one more directory in flight. Returns false if the allowance has
    /// no room.
    pub(crate) fn admit_job(&self) -> bool {
        self.make_room(PER_JOB)
    }

    /// Takes back the count of a directory in flight.
    pub(crate) fn dismiss_job(&self) {
        self.allowance.give_back(PER_JOB);
    }

    /// Counts the descriptors of a source that asks the kernel for whole batches, for one worker.
    /// Returns false if the allowance has no room.
    pub(crate) fn admit_kernel(&self) -> bool {
        self.make_room(Extra::Kernel.count())
    }

    /// Counts the descriptors of `volumes` file systems that are read past the VFS. Those that are
    /// counted already are among them.
    pub(crate) fn count_volumes(&self, volumes: usize) {
        if volumes > self.volumes.load(Ordering::Relaxed) {
            let before = self.volumes.fetch_max(volumes, Ordering::Relaxed);
            let more = volumes.saturating_sub(before) * Extra::Volume.count();
            if !self.make_room(more) {
                self.allowance.take_anyway(more);
            }
        }
    }

    /// Does some work that takes descriptors while it lasts. Returns `None` without doing it if the
    /// allowance is spent.
    pub(crate) fn with<T>(&self, extra: Extra, work: impl FnOnce() -> T) -> Option<T> {
        if !self.allowance.take(extra.count()) {
            return None;
        }
        let done = work();
        self.allowance.give_back(extra.count());
        Some(done)
    }

    /// Counts `count` descriptors as taken, and closes the directories held longest if need be.
    /// Returns false if the allowance has no room.
    pub(super) fn make_room(&self, count: usize) -> bool {
        // At most `count` directories are closed: another walk of the process may be the one that
        // holds too many.
        for _ in 0..count {
            if self.allowance.take(count) {
                return true;
            }
            if !self.close_oldest() {
                return false;
            }
        }
        self.allowance.take(count)
    }

    /// Pins a directory that was read in part and cannot be closed: counts its descriptor as held.
    /// Returns false if the allowance is spent. Such a directory is to be read to its end before
    /// any below it is opened.
    pub(crate) fn pin(&self) -> bool {
        self.allowance.take(1)
    }

    /// Pins a directory as [`pin`](Self::pin) does; with `anyway` also if the allowance is spent,
    /// because the rest of the directory has to wait for everything below it.
    pub(crate) fn pin_rest(&self, anyway: bool) -> bool {
        if anyway {
            self.allowance.take_anyway(1);
        }
        anyway || self.pin()
    }

    pub(crate) fn unpin(&self) {
        self.allowance.give_back(1);
    }
}
