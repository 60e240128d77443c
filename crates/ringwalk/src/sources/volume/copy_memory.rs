//! The memory that a walk may hold in copies of large directories.
//!
//! A directory that was read as a whole stays in memory until its last entry is delivered, and
//! meanwhile the walk descends into it. A hostile image can nest any number of such directories. So
//! all workers and levels of a walk share one limit. System calls, which hold no copy, read the
//! directories that do not fit.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for two of the largest directories that are read as a whole, or for a thousand of those
/// that are delivered in two batches.
const MOST: usize = 128 << 20;

/// The bytes that one walk may still hold.
#[derive(Debug)]
pub(crate) struct CopyMemory {
    left: AtomicUsize,
}

impl Default for CopyMemory {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl CopyMemory {
    pub(crate) fn of(bytes: usize) -> Self {
        Self {
            left: AtomicUsize::new(bytes),
        }
    }

    /// Takes `bytes` until the share is dropped. Returns `None` if fewer are left.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        // Threads share nothing but the number itself.
        let less = |left: usize| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()?;
        Some(Share {
            memory: Arc::clone(self),
            bytes,
        })
    }
}

/// A part of [`CopyMemory`], released when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    memory: Arc<CopyMemory>,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A copy of a directory, and its share of the memory.
#[derive(Debug)]
pub(crate) struct DirectoryCopy {
    // The bytes are freed before the share is released.
    bytes: Vec<u8>,
    _share: Share,
}

impl DirectoryCopy {
    pub(crate) fn new(bytes: Vec<u8>, share: Share) -> Self {
        debug_assert!(bytes.len() <= share.bytes);
        Self {
            bytes,
            _share: share,
        }
    }
}

impl Deref for DirectoryCopy {
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
        let memory = Arc::new(CopyMemory::of(100));
        let first = memory.take(60).unwrap();
        assert!(memory.take(41).is_none());
        let second = memory.take(40).unwrap();
        assert!(memory.take(1).is_none());
        assert!(memory.take(0).is_some());
        drop(first);
        assert!(memory.take(61).is_none());
        drop((memory.take(60).unwrap(), second));
        assert!(memory.take(100).is_some());
    }

    #[test]
    fn a_copy_gives_its_share_back_with_its_last_reader() {
        let memory = Arc::new(CopyMemory::of(10));
        let copy = Arc::new(DirectoryCopy::new(vec![7; 10], memory.take(10).unwrap()));
        let reader = Arc::clone(&copy);
        drop(copy);
        assert_eq!((reader.len(), memory.take(1).is_none()), (10, true));
        drop(reader);
        assert!(memory.take(10).is_some());
    }

    #[test]
    fn all_threads_share_one() {
        let memory = Arc::new(CopyMemory::of(1000));
        let held = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for size in 1..=8 {
                let (memory, held) = (&memory, &held);
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        if let Some(share) = memory.take(size * 70) {
                            let all = held.fetch_add(share.bytes, Ordering::SeqCst) + share.bytes;
                            assert!(all <= 1000, "{all}");
                            held.fetch_sub(share.bytes, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!(memory.take(1000).is_some(), "all of it came back");
    }
}
