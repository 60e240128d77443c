//! The limit on entries a second.

use ringwalk_sys::sync::lock;
use std::num::NonZeroU64;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Bursts of this part of a second are allowed: a worker asks for so many entries at once.
const BURSTS_A_SECOND: u64 = 20;

/// Spreads the entries of all workers of a walk over time.
#[derive(Debug)]
pub(crate) struct RateLimit(Option<Limit>);

#[derive(Debug)]
struct Limit {
    per_second: NonZeroU64,
    /// When the entries are paid for that were reserved so far.
    free: Mutex<Instant>,
}

impl RateLimit {
    /// Creates the limit; `None` allows any number.
    pub(crate) fn new(per_second: Option<NonZeroU64>) -> Self {
        Self(per_second.map(|per_second| Limit {
            per_second,
            free: Mutex::new(Instant::now()),
        }))
    }

    /// Returns true if there is no limit.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// Returns how many entries should be reserved at once at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.0.as_ref().map_or(usize::MAX, |limit| {
            let entries = (limit.per_second.get() / BURSTS_A_SECOND).max(1);
            usize::try_from(entries).unwrap_or(usize::MAX)
        })
    }

    /// Reserves entries. Returns how long to wait before they are read; `None` if they may be read
    /// at once.
    pub(crate) fn reserve(&self, entries: usize) -> Option<Duration> {
        let limit = self.0.as_ref()?;
        limit.reserve(entries, Instant::now())
    }
}

impl Limit {
    fn reserve(&self, entries: usize, now: Instant) -> Option<Duration> {
        let nanos = entries as u128 * 1_000_000_000 / u128::from(self.per_second.get());
        let time = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let mut free = lock(&self.free);
        let begin = (*free).max(now);
        // A time beyond what the clock can show is as good as for ever.
        *free = begin.checked_add(time).unwrap_or(begin);
        let wait = begin - now;
        (!wait.is_zero()).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_spread_over_time() {
        let begin = Instant::now();
        let limit = Limit {
            per_second: NonZeroU64::new(100).unwrap(),
            free: Mutex::new(begin),
        };
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(limit.reserve(100, begin), None);
        assert_eq!(limit.reserve(50, begin), Some(Duration::from_secs(1)));
        assert_eq!(limit.reserve(50, at(1)), Some(Duration::from_millis(500)));
        // Time in which nothing was asked for is not saved up.
        assert_eq!(limit.reserve(100, at(60)), None);
        assert_eq!(limit.reserve(1, at(60)), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_limit_of_one_and_none_at_all() {
        let one = RateLimit::new(NonZeroU64::new(1));
        assert_eq!(one.most_at_once(), 1);
        let none = RateLimit::new(None);
        assert!(none.is_unlimited() && none.most_at_once() == usize::MAX);
        assert_eq!(none.reserve(usize::MAX), None);
    }
}
