//! What one worker measures of its own calls: how long they take, and whether that was spent waiting.
//!
//! The clock is read twice a directory, which is one part in fifty of reading a small one from cache. So once calls have
//! been fast for a while only one directory in eight is timed; after a slow one all are again.

use crate::regime::Regime;
use ringwalk_sys::ThreadUsage;
use std::time::{Duration, Instant};

/// A measuring window.
const WINDOW: Duration = Duration::from_millis(4);

/// Calls that take longer than this on average may have waited. From cache they take 0.5 to 5 us.
const SLOW_CALL: Duration = Duration::from_micros(20);

/// Directories with fast calls, one after the other, after which only some are timed.
const FAST_FOR_A_WHILE: u32 = 64;

/// Then this many are left out before one is timed.
const LEFT_OUT: u32 = 7;

#[derive(Debug)]
pub(crate) struct Meter {
    window: Instant,
    usage: ThreadUsage,
    /// In this window: calls that were timed, how long they took, and calls that were not.
    timed: u64,
    in_calls: Duration,
    untimed: u64,
    /// Directories with fast calls since the last with slow ones.
    fast: u32,
    /// Directories to be left out before the next is timed.
    leave_out: u32,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            window: Instant::now(),
            usage: ThreadUsage::now(),
            timed: 0,
            in_calls: Duration::ZERO,
            untimed: 0,
            fast: 0,
            leave_out: 0,
        }
    }

    /// The worker had nothing to do until now: that time says nothing.
    pub(crate) fn resume(&mut self) {
        self.usage = ThreadUsage::now();
        self.begin_window(Instant::now());
    }

    fn begin_window(&mut self, now: Instant) {
        self.window = now;
        self.timed = 0;
        self.in_calls = Duration::ZERO;
        self.untimed = 0;
    }

    /// Calls for a directory begin; the time, if they are to be timed.
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        if self.leave_out > 0 {
            self.leave_out -= 1;
            return None;
        }
        Some(Instant::now())
    }

    /// Notes `calls` for a directory, which began at `begin` and end now.
    pub(crate) fn note(&mut self, regime: &Regime, calls: u64, begin: Option<Instant>) -> Noted {
        let Some(begin) = begin else {
            self.untimed += calls;
            return Noted::default();
        };
        let end = Instant::now();
        let slow = is_slow(calls, end - begin);
        self.fast = if slow { 0 } else { self.fast + 1 };
        if self.fast > FAST_FOR_A_WHILE {
            self.leave_out = LEFT_OUT;
        }
        self.timed += calls;
        self.in_calls += end - begin;
        if end - self.window < WINDOW {
            return Noted::default();
        }
        let waiting = is_slow(self.timed, self.in_calls) && {
            let usage = ThreadUsage::now();
            let cpu = usage.cpu.saturating_sub(self.usage.cpu);
            let waited = usage.voluntary_switches > self.usage.voluntary_switches;
            self.usage = usage;
            waited && cpu < self.in_calls / 2
        };
        let first_wait = regime.report(self.timed + self.untimed, waiting);
        self.begin_window(end);
        Noted {
            ended: true,
            waiting,
            first_wait,
        }
    }
}

fn is_slow(calls: u64, took: Duration) -> bool {
    took > SLOW_CALL * u32::try_from(calls).unwrap_or(u32::MAX)
}

/// What has come of noting some calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    /// A measuring window has ended.
    pub(crate) ended: bool,
    /// It was spent waiting for a device.
    pub(crate) waiting: bool,
    /// With it, for the first time in this walk, calls were found to wait for a device.
    pub(crate) first_wait: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_calls_are_timed_now_and_then_and_slow_ones_always() {
        let regime = Regime::new(None, 1);
        let mut meter = Meter::new();
        let mut timed = 0;
        for _ in 0..1000 {
            let begin = meter.begin();
            timed += u32::from(begin.is_some());
            meter.note(&regime, 1000, begin);
        }
        // A machine that is busy with other things may make some of them slow.
        assert!((FAST_FOR_A_WHILE..900).contains(&timed), "{timed}");
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1));
        meter.note(&regime, 1, long_ago);
        assert_eq!(meter.fast, 0);
        meter.leave_out = 0;
        assert!((0..FAST_FOR_A_WHILE).all(|_| meter.begin().is_some()));
    }
}
