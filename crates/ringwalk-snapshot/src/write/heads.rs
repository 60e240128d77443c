//! A number for each directory, and an address for each number.

#![expect(
    clippy::cast_possible_truncation,
    reason = "each directory takes 8 bytes of memory, so its number fits in an address"
)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Addresses of a block.
const BLOCK: usize = 1 << 16;

/// The largest number of blocks: 4 thousand million directories.
const BLOCKS: usize = 1 << 16;

/// An address for each directory, 8 bytes each. Workers add directories and set addresses at once.
#[derive(Debug)]
pub(super) struct Heads {
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
    next: AtomicU64,
}

impl Default for Heads {
    fn default() -> Self {
        Self {
            blocks: (0..BLOCKS).map(|_| OnceLock::new()).collect(),
            next: AtomicU64::new(0),
        }
    }
}

impl Heads {
    /// Returns a new number, from 0.
    pub(super) fn add(&self) -> u64 {
        self.add_many(1)
    }

    /// Returns the first of so many new numbers.
    pub(super) fn add_many(&self, count: u64) -> u64 {
        self.next.fetch_add(count, Ordering::Relaxed)
    }

    /// Sets the address of a directory. Returns the one before, 0 for none.
    pub(super) fn swap(&self, directory: u64, address: u64) -> u64 {
        let block = self.blocks[directory as usize / BLOCK]
            .get_or_init(|| (0..BLOCK).map(|_| AtomicU64::new(0)).collect());
        block[directory as usize % BLOCK].swap(address, Ordering::Relaxed)
    }

    /// Returns the address of a directory, 0 for none.
    pub(super) fn get(&self, directory: u64) -> u64 {
        let block = self.blocks[directory as usize / BLOCK].get();
        block.map_or(0, |block| {
            block[directory as usize % BLOCK].load(Ordering::Relaxed)
        })
    }
}
