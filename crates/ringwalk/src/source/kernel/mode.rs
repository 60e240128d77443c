//! Whether a worker calls the kernel and has its answer at once, or keeps many requests in flight.
//!
//! ```text
//!               a window was spent waiting (meter.rs)
//!   calls ──────────────────────────────────────────────> in flight
//!     ^     of every 16 directories one is read by call        │
//!     └────────────────────────────────────────────────────────┘
//!               eight of those in a row were answered from memory
//! ```
//!
//! From memory calls are cheaper: nothing is handed to a thread, and one buffer stays in the processor's caches.

use std::time::{Duration, Instant};

/// Directories in flight before one is read by call, to see whether calls still wait.
const PROBE_EVERY: u32 = 16;

/// So many of those, one after the other, must have been fast.
const FAST_IN_A_ROW: u32 = 8;

/// A directory that is opened and read in less has not waited; [`SLOW_ENTRY`] more for each entry with metadata.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(10);

#[derive(Debug)]
pub(super) enum Mode {
    Calls,
    InFlight {
        /// Directories until the next is read by call.
        until_probe: u32,
        /// Those that were fast in a row.
        fast: u32,
    },
}

impl Mode {
    /// Calls have been found to wait.
    pub(super) fn wait(&mut self) {
        *self = Self::InFlight {
            until_probe: PROBE_EVERY,
            fast: 0,
        };
    }

    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self, Self::InFlight { .. })
    }

    /// Whether the next directory is to be read by call.
    pub(super) fn next_is_call(&mut self) -> bool {
        match self {
            Self::Calls | Self::InFlight { until_probe: 0, .. } => true,
            Self::InFlight { until_probe, .. } => {
                *until_probe -= 1;
                false
            }
        }
    }

    /// A directory with so many entries was read by call, from `begin` until now. True if that ends keeping requests in flight.
    pub(super) fn called(&mut self, begin: Option<Instant>, entries: usize) -> bool {
        let (Self::InFlight { until_probe, fast }, Some(begin)) = (&mut *self, begin) else {
            return false;
        };
        *until_probe = PROBE_EVERY;
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        if begin.elapsed() < SLOW_DIRECTORY + SLOW_ENTRY.saturating_mul(entries) {
            *fast += 1;
        } else {
            *fast = 0;
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

    /// How many of the next directories are put in flight before one is called.
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
            // Once in a while one is answered from memory.
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
