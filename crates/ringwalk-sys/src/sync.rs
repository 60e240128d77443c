//! Locks whose poison is ignored, and waits on condition variables with or without a limit.
//!
//! A mutex is poisoned when a thread panics while the thread holds the lock. All locks of this
//! workspace protect data that is changed in whole steps, so the data is still right then. The
//! panic itself is reported where the thread is joined.

use std::sync::{Condvar, LockResult, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Adds [`ignore_poison`](Self::ignore_poison) to the results of locks and waits.
pub trait IgnorePoison {
    /// The guard, or the value that the lock protected.
    type Value;

    /// Returns the value whether the lock is poisoned or not.
    fn ignore_poison(self) -> Self::Value;
}

impl<T> IgnorePoison for LockResult<T> {
    type Value = T;

    #[inline]
    fn ignore_poison(self) -> T {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks `mutex`, also if it is poisoned.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

/// Waits until `condition` is notified, or until `time` has passed if there is a limit. It may also
/// return without either, as [`Condvar::wait`] does.
pub fn wait_at_most<'s, T>(
    condition: &Condvar,
    guard: MutexGuard<'s, T>,
    time: Option<Duration>,
) -> MutexGuard<'s, T> {
    match time {
        None => condition.wait(guard).ignore_poison(),
        Some(time) => condition.wait_timeout(guard, time).ignore_poison().0,
    }
}

#[cfg(test)]
mod tests;
