//! The rows that long work has done, for a display of progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts rows. All clones share the same numbers, so another thread can show them meanwhile.
///
/// Writing a snapshot counts twice: first the rows that are collected, whose total is not known,
/// then the rows that are written.
#[derive(Clone, Debug, Default)]
pub struct RowCounter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    /// 0 if it is not known.
    total: AtomicU64,
}

impl RowCounter {
    /// Returns the number of rows that are done.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Returns the number of all rows; `None` if it is not known, or 0.
    pub fn total(&self) -> Option<u64> {
        let total = self.0.total.load(Ordering::Relaxed);
        (total > 0).then_some(total)
    }

    /// Begins to count from 0 to `total`, which is 0 if it is not known.
    pub fn begin(&self, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// Adds rows that are done.
    pub fn add(&self, rows: u64) {
        self.0.done.fetch_add(rows, Ordering::Relaxed);
    }
}
