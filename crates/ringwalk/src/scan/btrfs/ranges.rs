//! Ranges of inode numbers between threads.
//!
//! Nobody knows beforehand where in a tree the inodes are: numbers are never used again, so those of an old file system lie far
//! apart, in clusters. So ranges are not cut in advance. A thread without work waits; one that has some looks after each search
//! whether anybody waits, and gives half of what is left of its range. Where that half is empty the waiting one is soon back.
//!
//! ```text
//!  worker:  search, search, are_wanted? ── no ──> search ...
//!                              └─ yes ─> split_off, give ──┐
//!  helper:  wait ............................... woken <───┘ ── scan ──> finish ──> wait
//!  all:     wait returns nothing when no range is queued and nobody works: what there is no more of cannot be split.
//! ```

use crate::volume::Refused;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Inode numbers below which a range is not worth another thread.
const LEAST: u64 = 256;

/// Inode numbers of one subvolume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Index of the subvolume.
    pub(super) subvolume: usize,
    pub(super) first: u64,
    pub(super) last: u64,
    /// Whether `last` is about where inodes end, rather than the largest number there can be.
    pub(super) is_tight: bool,
}

impl Range {
    /// Takes the second half away, if it is worth it.
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
pub(super) struct Ranges {
    shared: Mutex<Shared>,
    changed: Condvar,
    /// Threads that wait and for which no range is queued.
    wanted: AtomicUsize,
}

#[derive(Debug, Default)]
struct Shared {
    queued: Vec<Range>,
    waiting: usize,
    working: usize,
    failed: bool,
}

impl Ranges {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who work how many are without.
    fn note(&self, shared: &Shared) {
        let wanted = shared.waiting.saturating_sub(shared.queued.len());
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Does work that ranges can come from.
    pub(super) fn work(&self, work: impl FnOnce() -> Result<(), Refused>) -> Result<(), Refused> {
        self.lock().working += 1;
        self.finish(work())
    }

    /// The work of a range from [`wait`](Self::wait), or other work, is done.
    pub(super) fn finish(&self, worked: Result<(), Refused>) -> Result<(), Refused> {
        let mut shared = self.lock();
        shared.working -= 1;
        shared.failed |= worked.is_err();
        if shared.working == 0 || shared.failed {
            self.changed.notify_all();
        }
        worked
    }

    /// Whether a thread waits for a range.
    #[inline]
    pub(super) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give(&self, range: Range) {
        let mut shared = self.lock();
        shared.queued.push(range);
        self.note(&shared);
        self.changed.notify_one();
    }

    /// A range to work on, when there is one; `None` when there will be none.
    pub(super) fn wait(&self) -> Option<Range> {
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
            shared = self
                .changed
                .wait(shared)
                .unwrap_or_else(PoisonError::into_inner);
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

    fn range(first: u64, last: u64) -> Range {
        Range {
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
        let ranges = Ranges::default();
        let (sum, threads) = (AtomicU64::new(0), AtomicUsize::new(0));
        let work = |mut range: Range| {
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
        let ranges = Ranges::default();
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
        // Nor does anybody begin what was left.
        ranges.give(range(1, 1000));
        assert_eq!(ranges.wait(), None);
    }
}
