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
mod tests;
