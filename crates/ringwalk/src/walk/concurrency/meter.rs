//! The measurements of one worker: how long its calls take, and whether that time was spent
//! waiting.
//!
//! Two readings of the clock a directory take one fiftieth of the time that reading a small
//! directory from cache does. So once calls have been fast for a while, only one directory in eight
//! is timed. After a slow one all directories are timed again.

use crate::walk::concurrency::ConcurrencyController;
use crate::walk::concurrency::controller::{Decision, Made};
use ringwalk_sys::ThreadUsage;
use std::time::{Duration, Instant};

/// The length of a measuring window.
pub(crate) const WINDOW: Duration = Duration::from_millis(4);

/// Calls that take longer than this on average may have waited. From cache they take 0.5 to 5 us.
const SLOW_CALL: Duration = Duration::from_micros(20);

/// After this many directories with fast calls in a row, only some are timed.
const FAST_FOR_A_WHILE: u32 = 64;

/// How many directories are then skipped before one is timed.
const SKIPPED: u32 = 7;

#[derive(Debug)]
pub(crate) struct Meter {
    window: Instant,
    usage: ThreadUsage,
    /// In this window: calls that were timed, and how long they took.
    timed: u64,
    in_calls: Duration,
    /// Calls that the controller has not counted yet.
    uncounted: Made,
    /// Directories with fast calls since the last with slow ones.
    fast: u32,
    /// Directories to skip before the next is timed.
    skip: u32,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            window: Instant::now(),
            usage: ThreadUsage::now(),
            timed: 0,
            in_calls: Duration::ZERO,
            uncounted: Made::default(),
            fast: 0,
            skip: 0,
        }
    }

    /// Begins a new window: the worker had nothing to do until now, and that time says nothing.
    pub(crate) fn resume(&mut self) {
        self.usage = ThreadUsage::now();
        self.begin_window(Instant::now());
    }

    fn begin_window(&mut self, now: Instant) {
        self.window = now;
        self.timed = 0;
        self.in_calls = Duration::ZERO;
        self.uncounted = Made::default();
    }

    /// Returns the time at which the calls for a directory begin, if they are to be timed.
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        Some(Instant::now())
    }

    /// Notes `calls` for a directory, which began at `begin` and end now.
    pub(crate) fn note(
        &mut self,
        concurrency: &ConcurrencyController,
        calls: u64,
        begin: Option<Instant>,
    ) -> WindowEnd {
        let Some(begin) = begin else {
            self.uncounted.calls += calls;
            return WindowEnd::default();
        };
        let end = Instant::now();
        let took = end - begin;
        let slow = is_slow(calls, took);
        self.fast = if slow { 0 } else { self.fast + 1 };
        if self.fast > FAST_FOR_A_WHILE {
            self.skip = SKIPPED;
        }
        self.timed += calls;
        self.in_calls += took;
        self.uncounted.calls += calls;
        self.uncounted.timed += calls;
        self.uncounted.took += took;
        if slow {
            // The controller compares numbers of workers after a few slow calls of each.
            concurrency.count(std::mem::take(&mut self.uncounted));
        }
        if end - self.window < WINDOW {
            return WindowEnd {
                took,
                slow,
                ..WindowEnd::default()
            };
        }
        let waiting = is_slow(self.timed, self.in_calls) && {
            let usage = ThreadUsage::now();
            let cpu = usage.cpu.saturating_sub(self.usage.cpu);
            let waited = usage.voluntary_switches > self.usage.voluntary_switches;
            self.usage = usage;
            waited && cpu < self.in_calls / 2
        };
        let decision = concurrency.report(std::mem::take(&mut self.uncounted), waiting);
        self.begin_window(end);
        WindowEnd {
            took,
            slow,
            ended: true,
            waiting,
            decision,
        }
    }
}

fn is_slow(calls: u64, took: Duration) -> bool {
    took > SLOW_CALL * u32::try_from(calls).unwrap_or(u32::MAX)
}

/// The results of noting some calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowEnd {
    /// How long the calls took; zero if they were not timed.
    pub(crate) took: Duration,
    /// The calls took longer than from cache.
    pub(crate) slow: bool,
    /// A measuring window has ended.
    pub(crate) ended: bool,
    /// The window was spent waiting for a device.
    pub(crate) waiting: bool,
    /// What the controller made of the window.
    pub(crate) decision: Decision,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_calls_are_timed_now_and_then_and_slow_ones_always() {
        let concurrency = ConcurrencyController::new(None, 1);
        let mut meter = Meter::new();
        let mut timed = 0;
        for _ in 0..1000 {
            let begin = meter.begin();
            timed += u32::from(begin.is_some());
            meter.note(&concurrency, 1000, begin);
        }
        // A machine that is busy with other things may make some of them slow.
        assert!((FAST_FOR_A_WHILE..900).contains(&timed), "{timed}");
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1));
        meter.note(&concurrency, 1, long_ago);
        assert_eq!(meter.fast, 0);
        meter.skip = 0;
        assert!((0..FAST_FOR_A_WHILE).all(|_| meter.begin().is_some()));
    }
}
