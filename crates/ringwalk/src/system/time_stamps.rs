//! How long a change of a file can hide behind a time stamp.
//!
//! A change of a file sets its time of change (`ctime`) to the time of the file system's clock. So
//! a file that has the same stamp before and after it was read has not changed, with one exception:
//! stamps go in steps. A second change in the same step leaves the stamp as it was.
//!
//! ```text
//!     stamp                  stamp + step + lag of the clock
//!       ├──────────────────────────┼──────────────────────────> time
//!         a change here can have     a change here has
//!         the same stamp: *unsure*   another stamp: *sure*
//! ```
//!
//! *Steps.* Most file systems store nanoseconds. ext4 with inodes of 128 bytes, HFS+ and many
//! servers store whole seconds, FAT every other second. No file system reports its step, and FUSE
//! and network file systems pass on the stamps of others. But the stamp shows it: whole seconds are
//! assumed to mean steps of a second. Where stamps have nanoseconds, one in a billion looks like
//! that, and costs a wait.
//!
//! *Clocks.* The stamps of a local file system come from the clock of this machine, so their age is
//! known. Time stamps of FUSE and network file systems may come from the clock of a server, which
//! can be wrong. But once this machine has seen a stamp, the server's clock has reached it. A step
//! later, a change gets another stamp, whatever the two clocks show. Only a stamp that is older
//! than a day is sure at once.

use crate::system::filesystem;
use crate::visit::metadata::Timestamp;
use ringwalk_sys::sync::IgnorePoison;
use std::os::fd::AsFd;
use std::sync::{OnceLock, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds by which a stamp may be earlier than its change. The kernel takes stamps from a
/// clock that ticks (`ktime_get_coarse_real_ts64` in `kernel/time/timekeeping.c`), at least a
/// hundred times a second.
const LAG: i128 = 10_000_000;

/// The same, and as much again for ticks that come late.
const LONG_LAG: i128 = 2 * LAG;

const SECOND: i128 = 1_000_000_000;

/// Seconds by which a stamp of this machine's clock may be earlier than its change: a step of a
/// second, and the lag of the clock.
pub const SLACK_SECONDS: u64 = 2;

/// The most by which the clock of a server is assumed to be behind the clock of this machine.
const MOST_SKEW: i128 = 24 * 60 * 60 * SECOND;

/// Nanoseconds by which the realtime clock may fall behind the monotonic clock without having been
/// set back.
const JITTER: i128 = 1_000_000;

/// How often the clocks are read, if that is interrupted.
const MOST_LOOKS: u32 = 64;

/// Returns the longest step in nanoseconds that the clock of a stamp may have: the largest power of
/// ten that divides the stamp, a second at most. The stamp of another clock may come from FAT,
/// which has even seconds only.
fn step(stamp: Timestamp, clock: StampClock) -> i128 {
    if stamp.nanos == 0 {
        let is_even = clock == StampClock::Other && stamp.secs % 2 == 0;
        return if is_even { 2 * SECOND } else { SECOND };
    }
    let mut step = 1;
    while stamp.nanos.is_multiple_of(step * 10) {
        step *= 10;
    }
    i128::from(step)
}

fn nanoseconds(stamp: Timestamp) -> i128 {
    i128::from(stamp.secs) * SECOND + i128::from(stamp.nanos)
}

/// Whose clock the time stamps of a file system come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// The clock of this machine. Each change sets `ctime`. Steps have a second at most.
    Own,
    /// Another clock, such as a server's. `ctime` may be no time of a change.
    Other,
}

impl StampClock {
    /// Returns the clock of the file system of an open file. One of an unknown type has another
    /// clock.
    pub fn of(file: impl AsFd) -> Self {
        if filesystem::has_sure_change_times(file) {
            Self::Own
        } else {
            Self::Other
        }
    }
}

/// The clocks of file systems, by their device numbers. Each file system is asked once.
#[derive(Debug, Default)]
pub struct StampClocks(RwLock<Vec<(u64, StampClock)>>);

impl StampClocks {
    /// Returns the clock of the device `dev`, which the open `file` is on.
    pub fn of(&self, dev: u64, file: impl AsFd) -> StampClock {
        let known = self.0.read().ignore_poison();
        let found = known.iter().find(|(known, _)| *known == dev);
        if let Some((_, clock)) = found {
            return *clock;
        }
        drop(known);
        let clock = StampClock::of(file);
        self.0.write().ignore_poison().push((dev, clock));
        clock
    }
}

/// The time stamps of a file, as they were at one moment.
#[derive(Clone, Copy, Debug)]
pub struct StampsSeen {
    at: Moment,
    ctime: Timestamp,
    mtime: Timestamp,
    /// `None` if both stamps are so old that it does not matter.
    clock: Option<StampClock>,
}

impl StampsSeen {
    /// Notes the stamps of a file, and asks for its clock if they are young. They must have been
    /// read before the moment `at`.
    pub fn new(
        at: Moment,
        ctime: Timestamp,
        mtime: Timestamp,
        clock: impl FnOnce() -> StampClock,
    ) -> Self {
        let is_young = |stamp| nanoseconds(stamp) > at.real - MOST_SKEW;
        let matters = is_young(ctime) || is_young(mtime);
        Self {
            at,
            ctime,
            mtime,
            clock: matters.then(clock),
        }
    }

    /// Returns how long a change may still leave the stamps as they are. If the file has the same
    /// stamps after that time, a later change shows. Returns `None` if one shows already.
    pub fn unsure_for(&self) -> Option<Duration> {
        let clock = self.clock?;
        let rest = match clock {
            StampClock::Own => {
                let age = self.at.real - nanoseconds(self.ctime);
                // A stamp of the future, from a clock that was set back since: a change would have
                // an earlier one. See `may_hide_change`.
                (age >= -LONG_LAG).then(|| step(self.ctime, clock) + LONG_LAG - age)
            }
            // Servers of FUSE may know no `ctime`, and return the time of another event.
            StampClock::Other => {
                let stamps = [self.ctime, self.mtime].into_iter();
                let young = stamps.filter(|stamp| nanoseconds(*stamp) > self.at.real - MOST_SKEW);
                young.map(|stamp| step(stamp, clock) + LONG_LAG).max()
            }
        };
        let rest = u64::try_from(rest?).ok()?;
        (rest > 0).then(|| Duration::from_nanos(rest))
    }

    /// Returns true if a change between that moment and `now` may have left the stamps unchanged,
    /// although they were sure at that moment. That happens if the clock was set back, or has
    /// reached a stamp that was in the future.
    pub fn may_hide_change(&self, now: Moment) -> bool {
        if self.clock != Some(StampClock::Own) {
            return false;
        }
        let set_back = (self.at.ahead - now.ahead - JITTER).max(0);
        let stamp = nanoseconds(self.ctime);
        // The clock has shown all times from the first to the second.
        let (first, last) = (self.at.real - set_back, now.real.max(self.at.real));
        first < stamp + step(self.ctime, StampClock::Own) + LAG && stamp <= last
    }
}

/// One moment on two clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Nanoseconds since the epoch.
    real: i128,
    /// Nanoseconds by which the realtime clock is ahead of the monotonic one, as this process
    /// counts it.
    ahead: i128,
}

impl Moment {
    /// Returns this moment.
    pub fn now() -> Self {
        static START: OnceLock<Instant> = OnceLock::new();
        let start = *START.get_or_init(Instant::now);
        let monotonic = || start.elapsed().as_nanos().cast_signed();
        // A thread that has to wait between the readings of the two clocks would conclude that the
        // realtime clock was set back.
        let mut least = i128::MAX;
        let mut moment = Self::default();
        for _ in 0..MOST_LOOKS {
            let before = monotonic();
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let real = since.map_or(0, |since| since.as_nanos().cast_signed());
            let gap = monotonic() - before;
            if gap < least {
                least = gap;
                let ahead = real - before;
                moment = Self { real, ahead };
            }
            if gap <= JITTER / 4 {
                break;
            }
        }
        moment
    }

    /// Returns true if a file of this machine whose last change has this time stamp has certainly
    /// not changed between this moment and `now`.
    ///
    /// Time stamps come from a clock that can be set. A clock that was set forward makes changes
    /// look later than they were. A clock that was set back since this moment would make them look
    /// earlier: then nothing is certain.
    pub(crate) fn is_after_change(self, ctime: Timestamp, now: Moment) -> bool {
        let end = nanoseconds(ctime) + step(ctime, StampClock::Own) + LONG_LAG;
        end < self.real && now.ahead + JITTER >= self.ahead
    }
}

#[cfg(test)]
mod tests;
