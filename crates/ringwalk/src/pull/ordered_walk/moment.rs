//! The time of reading a directory, compared with the time of its last change.

use crate::visit::metadata::Timestamp;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A reading is certainly later than a change if it came this many nanoseconds after the time stamp
/// of the change. The kernel takes time stamps from a clock that ticks
/// (`ktime_get_coarse_real_ts64` in `kernel/time/timekeeping.c`), at least a hundred times a
/// second: up to 10 ms late.
const TICK: i128 = 20_000_000;

/// The same in nanoseconds where time stamps are whole seconds, as with ext4's small inodes.
const WHOLE_SECONDS: i128 = 2_000_000_000;

/// Nanoseconds by which the realtime clock may fall behind the monotonic clock without having been
/// set back.
const JITTER: i128 = 1_000_000;

/// One moment on two clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    /// Nanoseconds since the epoch.
    real: i128,
    /// Nanoseconds by which the realtime clock is ahead of the monotonic one, as this process
    /// counts it.
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

    /// Returns true if a file whose last change has this time stamp has certainly not changed
    /// between this moment and `now`.
    ///
    /// Time stamps come from a clock that can be set. A clock that was set forward makes changes
    /// look later than they were. A clock that was set back since this moment would make them look
    /// earlier: then nothing is certain.
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
mod tests;
