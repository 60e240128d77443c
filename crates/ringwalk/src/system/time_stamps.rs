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
mod tests {
    use super::*;

    const MILLISECOND: i128 = 1_000_000;
    const START: i64 = 1_700_000_000;

    fn moment(real: i128, ahead: i128) -> Moment {
        Moment { real, ahead }
    }

    /// Returns the moment so many milliseconds after the start.
    fn after(milliseconds: i128) -> Moment {
        moment(i128::from(START) * SECOND + milliseconds * MILLISECOND, 0)
    }

    fn stamp(secs: i64, nanos: u32) -> Timestamp {
        Timestamp {
            secs: START + secs,
            nanos,
        }
    }

    /// Returns the milliseconds for which a file is unsure.
    fn unsure(at: Moment, ctime: Timestamp, mtime: Timestamp, clock: StampClock) -> Option<u128> {
        let unsure = StampsSeen::new(at, ctime, mtime, || clock).unsure_for();
        unsure.map(|time| time.as_millis())
    }

    #[test]
    fn stamps_show_their_step() {
        let on = |clock| move |secs, nanos| step(Timestamp { secs, nanos }, clock);
        let nanoseconds = on(StampClock::Other);
        assert_eq!(nanoseconds(7, 123_456_789), 1);
        assert_eq!(nanoseconds(7, 123_456_700), 100);
        assert_eq!(nanoseconds(7, 120_000_000), 10 * MILLISECOND);
        assert_eq!(nanoseconds(7, 500_000_000), 100 * MILLISECOND);
        assert_eq!(nanoseconds(7, 0), SECOND);
        assert_eq!(nanoseconds(8, 0), 2 * SECOND);
        assert_eq!(nanoseconds(-1, 0), SECOND);
        // FAT has no clock of this machine.
        assert_eq!(on(StampClock::Own)(8, 0), SECOND);
    }

    #[test]
    fn a_stamp_of_this_machine_is_sure_a_step_later() {
        let unsure = |at, ctime| unsure(at, ctime, ctime, StampClock::Own);
        // Nanoseconds.
        assert_eq!(unsure(after(5), stamp(0, 1)), Some(15));
        assert_eq!(unsure(after(20), stamp(0, 1)), Some(0));
        assert_eq!(unsure(after(21), stamp(0, 1)), None);
        assert_eq!(unsure(after(-10), stamp(0, 1)), Some(30));
        // Seconds.
        assert_eq!(unsure(after(1999), stamp(1, 0)), Some(21));
        assert_eq!(unsure(after(2020), stamp(1, 0)), None);
        assert_eq!(unsure(after(999), stamp(0, 0)), Some(21));
        assert_eq!(unsure(after(1020), stamp(0, 0)), None);
        // Times that are far away.
        assert_eq!(unsure(after(0), stamp(100, 1)), None);
        for secs in [i64::MIN, i64::MAX] {
            assert_eq!(unsure(after(0), Timestamp { secs, nanos: 0 }), None);
        }
    }

    #[test]
    fn a_program_can_set_mtime() {
        for mtime in [stamp(0, 0), stamp(1000, 0), stamp(-1000, 0)] {
            let found = unsure(after(5), stamp(0, 1), mtime, StampClock::Own);
            assert_eq!(found, Some(15));
        }
    }

    #[test]
    fn stamps_of_another_clock_are_sure_a_step_after_they_were_seen() {
        let day = 24 * 60 * 60;
        let unsure = |ctime, mtime| unsure(after(0), ctime, mtime, StampClock::Other);
        for secs in [-3600, -3, -1, 3601] {
            assert_eq!(unsure(stamp(secs, 1), stamp(secs, 1)), Some(20), "{secs}");
        }
        assert_eq!(unsure(stamp(-3601, 0), stamp(-3601, 0)), Some(1020));
        assert_eq!(unsure(stamp(-3600, 0), stamp(-3600, 0)), Some(2020));
        assert_eq!(unsure(stamp(-day, 0), stamp(-day, 0)), None);
        // A server without `ctime`.
        assert_eq!(unsure(Timestamp::default(), stamp(-1, 0)), Some(1020));
    }

    #[test]
    fn only_young_files_ask_for_the_clock() {
        let old = stamp(-100_000, 0);
        let seen = StampsSeen::new(after(0), old, old, || panic!("it does not matter"));
        assert_eq!(seen.unsure_for(), None);
    }

    #[test]
    fn a_change_can_hide_if_the_clock_meets_the_stamp() {
        let hides = |ctime, from, to, clock| {
            let seen = StampsSeen::new(from, ctime, ctime, || clock);
            seen.may_hide_change(to)
        };
        let own = |ctime, from, to| hides(ctime, from, to, StampClock::Own);
        assert!(!own(stamp(0, 0), after(1020), after(9000)));
        // A stamp of the future, which the clock reaches or not.
        assert!(own(stamp(5, 0), after(0), after(5000)));
        assert!(!own(stamp(5, 0), after(0), after(4999)));
        assert!(!hides(
            stamp(5, 0),
            after(0),
            after(5000),
            StampClock::Other
        ));
        // The clock was set back by ten seconds, behind the stamp or not.
        let set_back = moment(after(9000).real - 10 * SECOND, -10 * SECOND);
        assert!(own(stamp(-5, 0), after(0), set_back));
        assert!(!own(stamp(-15, 0), after(0), set_back));
        // It was set forward.
        let forward = moment(after(9000).real + 10 * SECOND, 10 * SECOND);
        assert!(!own(stamp(-5, 0), after(0), forward));
    }

    #[test]
    fn changes_within_the_clocks_grain_count() {
        let read = moment(100 * SECOND + 500_000_000, 0);
        let ctime = |secs, nanos| Timestamp { secs, nanos };
        assert!(read.is_after_change(ctime(100, 400_000_001), read));
        assert!(!read.is_after_change(ctime(100, 490_000_001), read));
        assert!(!read.is_after_change(ctime(100, 600_000_001), read));
        assert!(read.is_after_change(ctime(99, 999_999_999), read));
        // A time stamp of whole seconds may mean any time in its step.
        assert!(!read.is_after_change(ctime(100, 0), read));
        assert!(read.is_after_change(ctime(99, 0), read));
        let read = moment(100 * SECOND + 15_000_000, 0);
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

    #[test]
    fn a_busy_machine_does_not_look_like_a_clock_that_was_set_back() {
        let ahead = || {
            let all = (0..20_000).map(|_| Moment::now().ahead);
            all.fold((i128::MAX, i128::MIN), |(least, most), ahead| {
                (least.min(ahead), most.max(ahead))
            })
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..64).map(|_| scope.spawn(ahead)).collect();
            for thread in threads {
                let (least, most) = thread.join().unwrap();
                assert!(most - least <= JITTER, "{} ns", most - least);
            }
        });
    }
}
