//! The memory that a walk may hold in snapshots of large directories.
//!
//! A directory that was read as a whole stays in memory until its last entry is delivered, and
//! meanwhile the walk descends into it. A hostile image can nest any number of such directories. So
//! all workers and levels of a walk share one limit. System calls, which hold no snapshot, read the
//! directories that do not fit.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for two of the largest directories that are read as a whole, or for a thousand of those
/// that are delivered in two batches.
const MOST: usize = 128 << 20;

/// The bytes that one walk may still hold.
#[derive(Debug)]
pub(crate) struct SnapshotMemory {
    left: AtomicUsize,
}

impl Default for SnapshotMemory {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl SnapshotMemory {
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
            budget: Arc::clone(self),
            bytes,
        })
    }
}

/// A part of [`SnapshotMemory`], released when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<SnapshotMemory>,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A snapshot of a directory, and its share of the memory.
#[derive(Debug)]
pub(crate) struct Snapshot {
    // The bytes are freed before the share is released.
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
mod tests;
