//! Modes of a worker: it calls the kernel for one directory at a time, or keeps many requests in
//! flight.
//!
//! ```text
//!               a window was spent waiting (meter.rs)
//!   calls ──────────────────────────────────────────────> in flight
//!     ^     of every 16 directories one is read by call        │
//!     └────────────────────────────────────────────────────────┘
//!               eight of those in a row were answered from memory
//! ```
//!
//! When the kernel answers from memory, calls are cheaper: no thread takes over the work, and one
//! buffer stays in the processor's caches.

use std::time::{Duration, Instant};

/// How many directories are in flight before one is read by call, to see whether calls still wait.
const PROBE_EVERY: u32 = 16;

/// How many of those calls must be fast, one after the other, before the worker returns to calls.
const FAST_IN_A_ROW: u32 = 8;

/// A directory that is opened and read in less time has not waited; [`SLOW_ENTRY`] is added for
/// each entry with metadata.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(10);

/// Returns true if reading so much since `begin` took longer than it does from memory.
pub(super) fn is_slow(begin: Instant, directories: usize, entries: usize) -> bool {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let expected = SLOW_DIRECTORY.saturating_mul(count(directories))
        + SLOW_ENTRY.saturating_mul(count(entries));
    begin.elapsed() >= expected
}

#[derive(Debug)]
pub(super) enum Mode {
    Calls,
    InFlight {
        /// Directories until the next one is read by call.
        until_probe: u32,
        /// How many calls in a row were fast.
        fast: u32,
    },
}

impl Mode {
    /// Switches to requests in flight, as calls were found to wait.
    pub(super) fn wait(&mut self) {
        *self = Self::InFlight {
            until_probe: PROBE_EVERY,
            fast: 0,
        };
    }

    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self, Self::InFlight { .. })
    }

    /// Returns true if the next directory must be read by call.
    pub(super) fn next_is_call(&mut self) -> bool {
        match self {
            Self::Calls | Self::InFlight { until_probe: 0, .. } => true,
            Self::InFlight { until_probe, .. } => {
                *until_probe -= 1;
                false
            }
        }
    }

    /// Notes that a directory with `entries` entries was read by call, from `begin` until now.
    /// Returns true if the worker returns to calls.
    pub(super) fn called(&mut self, begin: Option<Instant>, entries: usize) -> bool {
        let (Self::InFlight { until_probe, fast }, Some(begin)) = (&mut *self, begin) else {
            return false;
        };
        *until_probe = PROBE_EVERY;
        if is_slow(begin, 1, entries) {
            *fast = 0;
        } else {
            *fast += 1;
        }
        let ends = *fast == FAST_IN_A_ROW;
        if ends {
            *self = Self::Calls;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of the next directories are put in flight before one is read by call.
    fn in_flight(mode: &mut Mode) -> u32 {
        (0..100).find(|_| mode.next_is_call()).unwrap()
    }

    #[test]
    fn calls_until_they_wait_and_again_when_they_no_longer_do() {
        let mut mode = Mode::Calls;
        mode.called(None, 1);
        assert!(mode.next_is_call() && !mode.is_in_flight());
        mode.wait();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1));
        for round in 0..20 {
            assert_eq!(in_flight(&mut mode), PROBE_EVERY, "{round}");
            // Now and then a call is answered from memory.
            mode.called(
                if round % 4 == 0 {
                    Some(Instant::now())
                } else {
                    long_ago
                },
                1000,
            );
        }
        for _ in 0..FAST_IN_A_ROW {
            assert!(mode.is_in_flight());
            assert_eq!(in_flight(&mut mode), PROBE_EVERY);
            mode.called(Some(Instant::now()), 1000);
        }
        assert!(!mode.is_in_flight() && mode.next_is_call());
    }
}
