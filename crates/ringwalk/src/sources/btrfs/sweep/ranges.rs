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
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    fn range(first: u64, last: u64) -> InodeRange {
        InodeRange {
            subvolume: 0,
            first,
            last,
            is_tight: true,
        }
    }

    #[test]
    fn halves_are_the_whole() {
        let mut left = range(256, 10_000);
        let half = left.split_off().unwrap();
        assert_eq!((left.first, half.last), (256, 10_000));
        assert_eq!(left.last + 1, half.first);
        assert_eq!(range(256, 256 + LEAST - 1).split_off(), None);
        assert_eq!(range(300, 256).split_off(), None);
    }

    #[test]
    fn every_number_is_worked_on_once_by_some_thread() {
        let ranges = InodeRanges::default();
        let (sum, threads) = (AtomicU64::new(0), AtomicUsize::new(0));
        let work = |mut range: InodeRange| {
            threads.fetch_add(1, Ordering::Relaxed);
            while range.first <= range.last {
                sum.fetch_add(range.first, Ordering::Relaxed);
                range.first += 1;
                if ranges.are_wanted()
                    && let Some(half) = range.split_off()
                {
                    ranges.give(half);
                }
                std::thread::yield_now();
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for index in 0..4 {
                let (ranges, work) = (&ranges, &work);
                scope.spawn(move || {
                    if index == 0 {
                        ranges.work(|| work(range(1, 200_000))).unwrap();
                    }
                    while let Some(range) = ranges.wait() {
                        ranges.finish(work(range)).unwrap();
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 200_000 * 200_001 / 2);
        let shared = ranges.lock();
        assert_eq!(
            (shared.working, shared.waiting, shared.queued.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn a_failure_ends_all_waiting() {
        let ranges = InodeRanges::default();
        std::thread::scope(|scope| {
            let failing = ranges.work(|| {
                scope.spawn(|| assert_eq!(ranges.wait(), None));
                while !ranges.are_wanted() {
                    std::thread::yield_now();
                }
                Err(Refused::because("of a test"))
            });
            assert!(failing.is_err());
        });
        // After the failure no thread gets a range.
        ranges.give(range(1, 1000));
        assert_eq!(ranges.wait(), None);
    }
}
