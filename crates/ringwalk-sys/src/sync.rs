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
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Returns a mutex whose holder has panicked.
    fn poisoned() -> Arc<Mutex<u32>> {
        let mutex = Arc::new(Mutex::new(7));
        let held = Arc::clone(&mutex);
        let panicked = std::thread::spawn(move || {
            let _guard = held.lock().unwrap();
            panic!("to poison the lock");
        });
        assert!(panicked.join().is_err());
        assert!(mutex.is_poisoned());
        mutex
    }

    #[test]
    fn a_poisoned_lock_is_locked_all_the_same() {
        let mutex = poisoned();
        *lock(&mutex) += 1;
        assert_eq!(*mutex.lock().ignore_poison(), 8);
        let mutex = Arc::into_inner(mutex).unwrap();
        assert_eq!(mutex.into_inner().ignore_poison(), 8);
    }

    #[test]
    fn a_wait_on_a_poisoned_lock_ends_at_its_limit() {
        let (mutex, condition) = (poisoned(), Condvar::new());
        let limit = Some(Duration::from_millis(1));
        let guard = wait_at_most(&condition, lock(&mutex), limit);
        assert_eq!(*guard, 7);
    }
}
