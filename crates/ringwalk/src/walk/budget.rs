//! How much a walk may read before it stops and returns leftovers.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much a walk may read. When one of the bounds is reached, each worker finishes what it has
/// begun, and the walk ends. It returns what it has not read in
/// [`Outcome::leftovers`](crate::Outcome::leftovers).
///
/// The bounds are soft: a worker finishes the call that it waits for, and gives the entries of its
/// last buffer to its visitor, unless [`Walk::leave_names`](crate::Walk::leave_names) is set. Every
/// walk reads at least one buffer, or asks for the metadata of some entries. So a sequence of walks
/// comes to an end with any budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Time by the clock since the walk began.
    pub time: Option<Duration>,
    /// Entries given to visitors.
    pub entries: Option<NonZeroU64>,
}

impl Budget {
    /// Returns true if there is a bound.
    pub(crate) fn is_bounded(self) -> bool {
        self.time.is_some() || self.entries.is_some()
    }
}

/// What a walk has spent of its budget.
#[derive(Debug)]
pub(crate) struct Spending {
    is_bounded: bool,
    deadline: Option<Instant>,
    most: u64,
    entries: AtomicU64,
    /// A directory has been read, in part at least.
    has_read: AtomicBool,
    spent: AtomicBool,
}

impl Spending {
    /// Begins to spend. A time beyond what the clock can hold is no bound.
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            is_bounded: budget.is_bounded(),
            deadline: budget
                .time
                .and_then(|time| Instant::now().checked_add(time)),
            most: budget.entries.map_or(u64::MAX, NonZeroU64::get),
            entries: AtomicU64::new(0),
            has_read: AtomicBool::new(false),
            spent: AtomicBool::new(false),
        }
    }

    /// Returns true if the walk has a budget.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    /// Notes entries that were read of a directory.
    #[inline]
    pub(crate) fn add(&self, entries: usize) {
        if self.is_bounded {
            self.entries.fetch_add(entries as u64, Ordering::Relaxed);
            self.has_read.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if no more is to be begun.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.is_bounded && (self.spent.load(Ordering::Relaxed) || self.look())
    }

    /// Looks whether a bound is reached.
    fn look(&self) -> bool {
        let spent = self.has_read.load(Ordering::Relaxed)
            && (self.entries.load(Ordering::Relaxed) >= self.most
                || self.deadline.is_some_and(|at| Instant::now() >= at));
        if spent {
            self.spent.store(true, Ordering::Relaxed);
        }
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spent_before_a_directory_has_been_read() {
        let spending = Spending::new(Budget {
            time: Some(Duration::ZERO),
            entries: None,
        });
        assert!(!spending.is_spent());
        spending.add(0);
        assert!(spending.is_spent());
    }

    #[test]
    fn entries_are_counted_over_all_buffers() {
        let spending = Spending::new(Budget {
            time: None,
            entries: NonZeroU64::new(10),
        });
        spending.add(9);
        assert!(!spending.is_spent());
        spending.add(1);
        assert!(spending.is_spent());
    }

    #[test]
    fn a_walk_without_a_budget_counts_nothing() {
        let spending = Spending::new(Budget::default());
        spending.add(1000);
        assert!(!spending.is_spent() && !spending.is_bounded());
    }

    /// A time that the clock cannot hold is no bound, rather than a panic.
    #[test]
    fn a_very_long_time_is_no_bound() {
        let spending = Spending::new(Budget {
            time: Some(Duration::MAX),
            entries: None,
        });
        spending.add(1);
        assert!(!spending.is_spent());
    }
}
