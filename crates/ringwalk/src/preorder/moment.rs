//! When a directory was read, to be compared with the time of its last change.

use crate::metadata::Timestamp;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A change is told apart from a reading that came this much later, in nanoseconds. The kernel takes time stamps from a clock that
/// ticks (`ktime_get_coarse_real_ts64` in `kernel/time/timekeeping.c`), at least a hundred times a second: up to 10 ms late.
const TICK: i128 = 20_000_000;

/// The same, in nanoseconds, where time stamps are whole seconds, as with ext4's small inodes.
const WHOLE_SECONDS: i128 = 2_000_000_000;

/// The realtime clock may run this much behind the monotonic one, in nanoseconds, without having been set back.
const JITTER: i128 = 1_000_000;

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    /// Nanoseconds since the epoch.
    real: i128,
    /// Nanoseconds by which that is ahead of the monotonic clock, as this process counts it.
    ahead: i128,
}

impl Moment {
    pub(super) fn now() -> Self {
        static START: OnceLock<Instant> = OnceLock::new();
        let start = *START.get_or_init(Instant::now);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let real = since.map_or(0, |since| since.as_nanos().cast_signed());
        let monotonic = start.elapsed().as_nanos().cast_signed();
        Self {
            real,
            ahead: real - monotonic,
        }
    }

    /// Whether a file whose last change bears this time stamp `now` has certainly not been changed since this moment.
    ///
    /// Time stamps come from a clock that can be set. Set forward, it makes changes look later than they were; set back since
    /// this moment, it would make them look earlier, and nothing is certain.
    pub(super) fn is_after_change(self, ctime: Timestamp, now: Moment) -> bool {
        let slack = if ctime.nanos == 0 {
            WHOLE_SECONDS
        } else {
            TICK
        };
        let ctime = i128::from(ctime.secs) * 1_000_000_000 + i128::from(ctime.nanos);
        ctime + slack < self.real && now.ahead + JITTER >= self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    fn moment(real: i128, ahead: i128) -> Moment {
        Moment { real, ahead }
    }

    #[test]
    fn changes_within_the_clocks_grain_count() {
        let read = moment(100 * SECOND + 500_000_000, 0);
        let ctime = |secs, nanos| Timestamp { secs, nanos };
        assert!(read.is_after_change(ctime(100, 400_000_000), read));
        assert!(!read.is_after_change(ctime(100, 490_000_000), read));
        assert!(!read.is_after_change(ctime(100, 600_000_000), read));
        assert!(read.is_after_change(ctime(99, 999_999_999), read));
        // Whole seconds may be any time in that second.
        assert!(!read.is_after_change(ctime(100, 0), read));
        assert!(!read.is_after_change(ctime(99, 0), read));
        assert!(read.is_after_change(ctime(98, 0), read));
    }

    #[test]
    fn a_clock_set_back_proves_nothing() {
        let read = moment(100 * SECOND, 50 * SECOND);
        let old = Timestamp { secs: 1, nanos: 1 };
        assert!(read.is_after_change(old, moment(101 * SECOND, 50 * SECOND)));
        assert!(read.is_after_change(old, moment(201 * SECOND, 90 * SECOND)));
        assert!(!read.is_after_change(old, moment(90 * SECOND, 40 * SECOND)));
    }
}
