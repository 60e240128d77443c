//! Shares ranges of inode numbers between threads.
//!
//! The places of inodes in a tree are unknown beforehand: numbers are never used again, so in an
//! old file system they lie far from each other, in clusters. So ranges are not cut in advance. A
//! thread without work waits. A thread with work checks after each search whether another thread
//! waits, and gives away half of the rest of its range. If that half is empty, the other thread
//! soon waits again.
//!
//! ```text
//!  worker:  search, search, are_wanted? ── no ──> search ...
//!                              └─ yes ─> split_off, give ──┐
//!  helper:  wait ............................... woken <───┘ ── sweep ─> finish ──> wait
//!  all:     wait returns nothing when no range is queued and no thread works on one.
//! ```

use crate::sources::volume::Refused;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// A range with fewer inode numbers than this is not shared.
const LEAST: u64 = 256;

/// A range of inode numbers of one subvolume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InodeRange {
    /// The index of the subvolume.
    pub(super) subvolume: usize,
    pub(super) first: u64,
    pub(super) last: u64,
    /// True if `last` is about where inodes end; false if it is the largest number possible.
    pub(super) is_tight: bool,
}

impl InodeRange {
    /// Splits off the second half, if it is worth another thread.
    pub(super) fn split_off(&mut self) -> Option<Self> {
        if self.last.saturating_sub(self.first) < LEAST {
            return None;
        }
        let middle = self.first + (self.last - self.first) / 2;
        let half = Self {
            first: middle + 1,
            ..*self
        };
        self.last = middle;
        Some(half)
    }
}

/// Ranges that threads give to each other.
#[derive(Debug, Default)]
pub(super) struct InodeRanges {
    shared: Mutex<RangeQueue>,
    changed: Condvar,
    /// How many threads wait without a queued range for them.
    wanted: AtomicUsize,
}

#[derive(Debug, Default)]
struct RangeQueue {
    queued: Vec<InodeRange>,
    waiting: usize,
    working: usize,
    failed: bool,
}

impl InodeRanges {
    fn lock(&self) -> MutexGuard<'_, RangeQueue> {
        lock(&self.shared)
    }

    /// Publishes to working threads how many threads wait.
    fn note(&self, shared: &RangeQueue) {
        let wanted = shared.waiting.saturating_sub(shared.queued.len());
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Does work that may give ranges.
    pub(super) fn work(&self, work: impl FnOnce() -> Result<(), Refused>) -> Result<(), Refused> {
        self.lock().working += 1;
        self.finish(work())
    }

    /// Ends the work on a range from [`wait`](Self::wait), or other work.
    pub(super) fn finish(&self, worked: Result<(), Refused>) -> Result<(), Refused> {
        let mut shared = self.lock();
        shared.working -= 1;
        shared.failed |= worked.is_err();
        if shared.working == 0 || shared.failed {
            self.changed.notify_all();
        }
        worked
    }

    /// Returns true if a thread waits for a range.
    #[inline]
    pub(super) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give(&self, range: InodeRange) {
        let mut shared = self.lock();
        shared.queued.push(range);
        self.note(&shared);
        self.changed.notify_one();
    }

    /// Waits for a range to work on. Returns `None` when no more will come.
    pub(super) fn wait(&self) -> Option<InodeRange> {
        let mut shared = self.lock();
        shared.waiting += 1;
        let range = loop {
            if shared.failed {
                break None;
            }
            if let Some(range) = shared.queued.pop() {
                shared.working += 1;
                break Some(range);
            }
            if shared.working == 0 {
                break None;
            }
            self.note(&shared);
            shared = self.changed.wait(shared).ignore_poison();
        };
        shared.waiting -= 1;
        self.note(&shared);
        range
    }
}

#[cfg(test)]
mod tests;
