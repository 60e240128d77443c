//! The memory that a walk may hold in snapshots of large directories.
//!
//! A directory that was read at one go stays in memory until its last entry is delivered, and
//! meanwhile the walk goes down into it. A hostile image nests any number of such directories. So
//! all workers and levels of a walk share one budget. System calls, which hold nothing, read the
//! directories that do not fit.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two of the largest directories that are read at one go, or a thousand of those that come in two
/// batches.
const MOST: usize = 128 << 20;

/// Bytes that may be held by one walk.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Budget {
    pub(crate) fn of(bytes: usize) -> Self {
        Self {
            left: AtomicUsize::new(bytes),
        }
    }

    /// Takes `bytes`, to be held until the share is dropped. `None` if so many are not left.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        // Nothing but the number itself is shared between threads.
        let less = |left: usize| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()?;
        Some(Share {
            budget: Arc::clone(self),
            bytes,
        })
    }
}

/// A part of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A snapshot of a directory, and its share of the budget.
#[derive(Debug)]
pub(crate) struct Snapshot {
    // Freed before its share is given back.
    bytes: Vec<u8>,
    _share: Share,
}

impl Snapshot {
    pub(crate) fn new(bytes: Vec<u8>, share: Share) -> Self {
        debug_assert!(bytes.len() <= share.bytes);
        Self {
            bytes,
            _share: share,
        }
    }
}

impl Deref for Snapshot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_given_than_there_is() {
        let budget = Arc::new(Budget::of(100));
        let first = budget.take(60).unwrap();
        assert!(budget.take(41).is_none());
        let second = budget.take(40).unwrap();
        assert!(budget.take(1).is_none());
        assert!(budget.take(0).is_some());
        drop(first);
        assert!(budget.take(61).is_none());
        drop((budget.take(60).unwrap(), second));
        assert!(budget.take(100).is_some());
    }

    #[test]
    fn a_snapshot_gives_its_share_back_with_its_last_reader() {
        let budget = Arc::new(Budget::of(10));
        let snapshot = Arc::new(Snapshot::new(vec![7; 10], budget.take(10).unwrap()));
        let reader = Arc::clone(&snapshot);
        drop(snapshot);
        assert_eq!((reader.len(), budget.take(1).is_none()), (10, true));
        drop(reader);
        assert!(budget.take(10).is_some());
    }

    #[test]
    fn all_threads_share_one() {
        let budget = Arc::new(Budget::of(1000));
        let held = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for size in 1..=8 {
                let (budget, held) = (&budget, &held);
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        if let Some(share) = budget.take(size * 70) {
                            let all = held.fetch_add(share.bytes, Ordering::SeqCst) + share.bytes;
                            assert!(all <= 1000, "{all}");
                            held.fetch_sub(share.bytes, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!(budget.take(1000).is_some(), "all of it came back");
    }
}
