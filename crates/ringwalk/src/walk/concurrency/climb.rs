//! Decisions about the number of workers while calls wait.
//!
//! ```text
//!   waiting windows                              throughput at least 15 % better?
//!  warm ---------------> double the workers ---> yes: double again, or more, up to MOST_WORKERS
//!   ^                        ^      ^            no:  stay; or back, if calls take twice as long
//!   |                        |      |                 or throughput is worse by 10 %
//!   |                        |      |                               |
//!   |                        |      +---- after a while, not crowded ---- settled <---------+
//!   |                        |                                               |              |
//!   |                        |          after a while, crowded: half as many workers ----> no worse?
//!   +------------------------+-------- a run of windows without waiting: as many as CPUs
//! ```
//!
//! A server is *crowded* if calls take more than twice as long as with few workers. If a server
//! gets more requests than it works on at a time, they only wait in its queue, before the requests
//! of others. So for a crowded server the controller tries half as many workers, and keeps that
//! number if it loses less than 10 %.

use std::time::Duration;

/// How long new workers have at least, before a number of workers is measured: they have no answer
/// yet. They get as long as 1.5 calls, and 40 us for each thread.
const LEAD_IN: Duration = Duration::from_millis(4);
const CALLS_OF_LEAD_IN: f64 = 1.5;
const START_OF_A_THREAD: Duration = Duration::from_micros(40);

/// How long a number of workers is measured at least, and how many times as long as a call.
const MEASURING: Duration = Duration::from_millis(8);
const CALLS_OF_MEASURING: f64 = 2.0;

/// The number of workers is multiplied by this while the throughput grows nearly as much.
const FAST: usize = 4;

/// How long a number is kept first after a trial has not improved on it, and how long at most. The
/// time doubles with every such trial: trials are a burden on the server.
const SETTLED: Duration = Duration::from_millis(40);
const LONGEST_SETTLED: Duration = Duration::from_millis(3200);

/// What all workers have measured since the last change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) calls: u64,
    /// Calls that were timed, and how long they took together.
    pub(super) timed: u64,
    pub(super) in_calls: Duration,
    pub(super) elapsed: Duration,
    /// The number of workers now, and its bounds.
    pub(super) workers: usize,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// The next number of workers. Measurements from before this step do not count any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) workers: usize,
    /// The reason, for people. `None` if the number stays and is measured anew.
    pub(super) reason: Option<&'static str>,
}

/// The state between decisions.
#[derive(Debug, Default)]
pub(super) struct Climb {
    hold: Duration,
    phase: Phase,
    trial: Trial,
    /// The time of a call with few workers, in seconds.
    alone: Option<f64>,
    settled: Option<Duration>,
}

/// The purpose of the time since the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// A measurement.
    #[default]
    Measuring,
    /// The second measurement: in the first, more workers were no better. Other programs may have
    /// been the reason.
    MeasuringAgain,
    /// A pause before the measurement begins.
    LeadIn,
}

/// What is being tried.
#[derive(Clone, Copy, Debug, Default)]
enum Trial {
    /// Nothing: the next measurement decides what to try.
    #[default]
    None,
    More(Before),
    Fewer(Before),
}

/// The measurement before a change.
#[derive(Clone, Copy, Debug)]
struct Before {
    workers: usize,
    /// Calls a second.
    rate: f64,
    /// Seconds a call.
    latency: f64,
}

impl Climb {
    /// Forgets the trial: calls do not wait any more.
    pub(super) fn forget(&mut self) {
        *self = Self {
            alone: self.alone,
            ..Self::default()
        };
    }

    /// Returns the next step, if it is time for one.
    pub(super) fn step(&mut self, measured: Measured) -> Option<Step> {
        let Measured {
            workers, elapsed, ..
        } = measured;
        if elapsed < self.hold {
            return None;
        }
        if self.phase == Phase::LeadIn {
            return Some(self.measure(workers, Phase::Measuring));
        }
        let enough = 2 * workers as u64;
        if measured.calls < enough || measured.timed == 0 {
            return None;
        }
        let latency = measured.in_calls.as_secs_f64() / as_f64(measured.timed);
        if elapsed.as_secs_f64() < latency * CALLS_OF_MEASURING && self.alone.is_some() {
            return None;
        }
        let now = Before {
            workers,
            rate: as_f64(measured.calls) / elapsed.as_secs_f64(),
            latency,
        };
        let alone = self.alone.map_or(latency, |alone| alone.min(latency));
        self.alone = Some(alone);
        let crowded = latency > 2.0 * alone;
        match self.trial {
            Trial::More(before) if now.rate < 1.15 * before.rate => {
                if self.phase == Phase::Measuring {
                    return Some(self.measure(workers, Phase::MeasuringAgain));
                }
                Some(if now.rate < 0.9 * before.rate {
                    self.settle(before.workers, "more workers made it slower")
                } else if crowded {
                    self.settle(before.workers, "more requests only wait for each other")
                } else {
                    self.settle(workers, "more workers made it no faster")
                })
            }
            Trial::More(before) => {
                self.settled = None;
                if crowded {
                    // Little is to be gained by still more, and threads are not free.
                    return Some(self.settle(workers, "more workers made it faster"));
                }
                let gain =
                    now.rate / before.rate * as_f64(before.workers as u64) / as_f64(workers as u64);
                self.try_more(measured, now, if gain > 0.85 { FAST } else { 2 })
            }
            Trial::Fewer(before) if now.rate < 0.9 * before.rate => {
                if latency > 0.75 * before.latency {
                    // Fewer requests take as long: that is not the crowd's doing.
                    self.alone = Some(latency);
                }
                Some(self.settle(before.workers, "fewer workers made it slower"))
            }
            _ if crowded && workers > measured.least => Some(self.try_fewer(measured, now)),
            Trial::Fewer(_) => Some(self.settle(workers, "fewer workers are as fast")),
            Trial::None => self.try_more(measured, now, 2),
        }
    }

    /// Measures the same number of workers from now on.
    fn measure(&mut self, workers: usize, phase: Phase) -> Step {
        self.phase = phase;
        self.hold = MEASURING;
        Step {
            workers,
            reason: None,
        }
    }

    /// Multiplies the number of workers. Returns `None` if there are as many as there may be.
    fn try_more(&mut self, measured: Measured, now: Before, factor: usize) -> Option<Step> {
        let Measured { least, most, .. } = measured;
        if now.workers >= most {
            self.trial = Trial::None;
            self.phase = Phase::LeadIn;
            self.hold = measured.elapsed + SETTLED;
            return None;
        }
        let workers = (factor * now.workers.max(least)).min(most);
        Some(self.change(Trial::More(now), now, workers, "calls wait for a device"))
    }

    /// Halves the number of workers.
    fn try_fewer(&mut self, measured: Measured, now: Before) -> Step {
        let workers = (now.workers / 2).max(measured.least);
        self.change(
            Trial::Fewer(now),
            now,
            workers,
            "requests wait for each other",
        )
    }

    fn change(&mut self, trial: Trial, now: Before, workers: usize, reason: &'static str) -> Step {
        self.trial = trial;
        self.phase = Phase::LeadIn;
        let calls = Duration::from_secs_f64(now.latency * CALLS_OF_LEAD_IN);
        let threads = u32::try_from(workers.saturating_sub(now.workers)).unwrap_or(u32::MAX);
        self.hold = LEAD_IN.max(calls).max(START_OF_A_THREAD * threads);
        Step {
            workers,
            reason: Some(reason),
        }
    }

    /// Keeps a number of workers for a while.
    fn settle(&mut self, workers: usize, reason: &'static str) -> Step {
        let time = self.settled.map_or(SETTLED, |time| 2 * time);
        let time = time.min(LONGEST_SETTLED);
        self.settled = Some(time);
        self.hold = time;
        self.phase = Phase::LeadIn;
        self.trial = Trial::None;
        Step {
            workers,
            reason: Some(reason),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "calls are counted for less than a minute"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small numbers of a simulation"
    )]

    use super::*;
    use crate::walk::concurrency::MOST_WORKERS;

    /// A server in simulated time: it works on so many requests at a time, each takes so long, and
    /// more requests than that slow it down by this part each.
    #[derive(Clone, Copy)]
    struct Server {
        at_a_time: usize,
        milliseconds: f64,
        slowdown: f64,
    }

    impl Server {
        /// Returns requests a second, and seconds a request, with so many workers.
        fn serve(self, workers: usize) -> (f64, f64) {
            let served = workers.min(self.at_a_time) as f64;
            let queued = (workers as f64 - served).max(0.0);
            let rate = served / (self.milliseconds / 1000.0) / (1.0 + queued * self.slowdown);
            (rate, workers as f64 / rate)
        }
    }

    /// A climb in simulated time, in steps of one millisecond.
    struct Walk {
        climb: Climb,
        workers: usize,
        elapsed: Duration,
        calls: f64,
        in_calls: f64,
    }

    impl Walk {
        fn new() -> Self {
            Self {
                climb: Climb::default(),
                workers: 2,
                elapsed: Duration::ZERO,
                calls: 0.0,
                in_calls: 0.0,
            }
        }

        /// Walks for so long. Returns the requests a second on average, and the largest number of
        /// workers.
        fn run(&mut self, server: Server, milliseconds: u32) -> (f64, usize) {
            let (mut done, mut most) = (0.0, 0);
            for _ in 0..milliseconds {
                let (rate, latency) = server.serve(self.workers);
                self.elapsed += Duration::from_millis(1);
                self.calls += rate / 1000.0;
                self.in_calls += latency * rate / 1000.0;
                done += rate / 1000.0;
                most = most.max(self.workers);
                let measured = Measured {
                    calls: self.calls as u64,
                    timed: self.calls as u64,
                    in_calls: Duration::from_secs_f64(self.in_calls),
                    elapsed: self.elapsed,
                    workers: self.workers,
                    least: 2,
                    most: MOST_WORKERS,
                };
                if let Some(step) = self.climb.step(measured) {
                    self.workers = step.workers;
                    self.elapsed = Duration::ZERO;
                    (self.calls, self.in_calls) = (0.0, 0.0);
                }
            }
            (done * 1000.0 / f64::from(milliseconds), most)
        }
    }

    const WIDE: Server = Server {
        at_a_time: 10_000,
        milliseconds: 5.0,
        slowdown: 0.0,
    };

    const NARROW: Server = Server {
        at_a_time: 20,
        milliseconds: 1.0,
        slowdown: 0.0,
    };

    #[test]
    fn a_server_that_takes_everything_gets_the_most_within_a_fifth_of_a_second() {
        let mut walk = Walk::new();
        walk.run(WIDE, 200);
        assert_eq!(walk.workers, MOST_WORKERS);
    }

    #[test]
    fn more_requests_than_the_server_works_on_are_taken_back() {
        let mut walk = Walk::new();
        let (_, most) = walk.run(NARROW, 300);
        assert!(most <= 128, "{most}");
        let (rate, most) = walk.run(NARROW, 5000);
        assert!((20..=64).contains(&walk.workers), "{}", walk.workers);
        assert!(rate > 0.95 * 20_000.0, "{rate}");
        assert!(most <= 64, "{most}");
    }

    #[test]
    fn a_server_that_suffers_from_more_requests_is_spared() {
        let suffers = Server {
            slowdown: 0.01,
            ..NARROW
        };
        let mut walk = Walk::new();
        walk.run(suffers, 300);
        let (rate, _) = walk.run(suffers, 3000);
        while !matches!(walk.climb.trial, Trial::None) {
            walk.run(suffers, 1);
        }
        assert!((16..=32).contains(&walk.workers), "{}", walk.workers);
        assert!(rate > 0.8 * 20_000.0, "{rate}");
    }

    #[test]
    fn a_server_that_becomes_narrow_gets_fewer_requests() {
        let mut walk = Walk::new();
        walk.run(WIDE, 1000);
        let narrow = Server {
            at_a_time: 20,
            ..WIDE
        };
        walk.run(narrow, 20_000);
        assert!(walk.workers <= 64, "{}", walk.workers);
        // It gets more again when it takes more.
        walk.run(WIDE, 20_000);
        assert_eq!(walk.workers, MOST_WORKERS);
    }

    #[test]
    fn a_server_that_becomes_slower_for_all_keeps_its_requests() {
        let mut walk = Walk::new();
        walk.run(WIDE, 1000);
        let slower = Server {
            milliseconds: 20.0,
            ..WIDE
        };
        let (rate, _) = walk.run(slower, 10_000);
        let (most, _) = slower.serve(MOST_WORKERS);
        assert!(rate > 0.8 * most, "{rate}");
    }

    #[test]
    fn trials_without_success_become_rare() {
        let mut walk = Walk::new();
        walk.run(NARROW, 10_000);
        assert_eq!(walk.climb.settled, Some(LONGEST_SETTLED));
        walk.climb.forget();
        assert_eq!(walk.climb.settled, None);
    }
}
