//! Waiting on a condition variable, with or without a limit.

use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Waits until `condition` is notified, or until `time` has passed if there is a limit. It may also
/// return without either, as [`Condvar::wait`] does.
pub(crate) fn wait_at_most<'s, T>(
    condition: &Condvar,
    state: MutexGuard<'s, T>,
    time: Option<Duration>,
) -> MutexGuard<'s, T> {
    match time {
        None => condition.wait(state),
        Some(time) => condition
            .wait_timeout(state, time)
            .map(|(state, _)| state)
            .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0)),
    }
    .unwrap_or_else(PoisonError::into_inner)
}
