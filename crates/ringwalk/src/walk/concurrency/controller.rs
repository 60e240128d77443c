//! The concurrency controller: decides how many workers a walk has.
//!
//! Every worker measures its own calls in windows of a few milliseconds
//! ([`Meter`](super::meter::Meter)). A window was spent *waiting* if its calls were slow, the
//! thread had little CPU time, and the thread gave up its CPU voluntarily. A thread that other
//! processes crowd out is slow too, but does not give up its CPU.
//!
//! What the controller decides is in [`Climb`].
//!
//! So an SSD, a network file system or a virtual disk gets as many requests at a time as make it
//! faster. A disk that more requests make slower is left alone. The controller need not know which
//! kind of device it is. Where the disk says that it rotates, waiting also turns on inode order
//! (`sources/stat.rs`).

use super::climb::{Climb, Measured, Step};
use super::{MOST_WORKERS, warm_workers};
use ringwalk_sys::sync::lock;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A change of the number of workers, for the explanation of a walk.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerChange {
    /// Time since the walk began.
    pub at: Duration,
    /// The number of workers from then on.
    pub workers: usize,
    /// The reason, for people.
    pub reason: &'static str,
}

/// The number of workers wanted, shared by all of them.
#[derive(Debug)]
pub(crate) struct ConcurrencyController {
    start: Instant,
    target: AtomicUsize,
    /// The caller has given the number: it stays.
    fixed: bool,
    most: usize,
    cpus: OnceLock<usize>,
    /// Calls that all workers have reported; how many of them were timed; their nanoseconds.
    calls: AtomicU64,
    timed: AtomicU64,
    in_calls: AtomicU64,
    busy_windows: AtomicUsize,
    waited: AtomicBool,
    inode_order: AtomicBool,
    decisions: Mutex<Decisions>,
}

/// The decisions so far, and the counters at the time of the last.
#[derive(Debug)]
struct Decisions {
    since: Instant,
    calls: u64,
    timed: u64,
    in_calls: u64,
    climb: Climb,
    changes: Vec<WorkerChange>,
}

/// Calls that a worker has made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    pub(crate) calls: u64,
    /// How many of them were timed, and how long these took.
    pub(crate) timed: u64,
    pub(crate) took: Duration,
}

/// What a report has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The report is the first of a window that was spent waiting.
    pub(crate) first_wait: bool,
    /// More workers are wanted than before.
    pub(crate) raised: bool,
}

impl ConcurrencyController {
    /// Creates a controller. `wanted` is the number that the caller gave; `most` is the largest
    /// number that the limits of the process allow.
    pub(crate) fn new(wanted: Option<NonZeroUsize>, most: usize) -> Self {
        let start = Instant::now();
        Self {
            start,
            target: AtomicUsize::new(wanted.map_or(1, |n| n.get().min(most))),
            fixed: wanted.is_some(),
            most: most.min(MOST_WORKERS.max(wanted.map_or(0, NonZeroUsize::get))),
            cpus: OnceLock::new(),
            calls: AtomicU64::new(0),
            timed: AtomicU64::new(0),
            in_calls: AtomicU64::new(0),
            busy_windows: AtomicUsize::new(0),
            waited: AtomicBool::new(false),
            inode_order: AtomicBool::new(false),
            decisions: Mutex::new(Decisions {
                since: start,
                calls: 0,
                timed: 0,
                in_calls: 0,
                climb: Climb::default(),
                changes: Vec::new(),
            }),
        }
    }

    /// Returns the largest number of workers that there may ever be.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns how many workers there should be now.
    pub(crate) fn target(&self) -> usize {
        self.target.load(Ordering::Relaxed)
    }

    /// Raises the number of workers to the number of CPUs: there is work for more than one. Only
    /// then is it worth finding out how many CPUs there are (by affinity and cgroup quota), which
    /// means reading several files.
    pub(crate) fn there_is_more_work(&self) {
        if !self.fixed && self.cpus.get().is_none() {
            let cpus = self.cpus();
            self.target.fetch_max(cpus, Ordering::Relaxed);
        }
    }

    fn cpus(&self) -> usize {
        *self.cpus.get_or_init(|| warm_workers().min(self.most))
    }

    /// Returns true if at least one window was spent waiting.
    pub(crate) fn has_waited(&self) -> bool {
        self.waited.load(Ordering::Relaxed)
    }

    pub(crate) fn uses_inode_order(&self) -> bool {
        self.inode_order.load(Ordering::Relaxed)
    }

    pub(crate) fn use_inode_order(&self) {
        self.inode_order.store(true, Ordering::Relaxed);
    }

    /// Returns the changes of the number of workers so far.
    pub(crate) fn changes(&self) -> Vec<WorkerChange> {
        lock(&self.decisions).changes.clone()
    }

    /// Adds calls, and returns how many there are in all.
    pub(crate) fn count(&self, made: Made) -> u64 {
        let nanos = u64::try_from(made.took.as_nanos()).unwrap_or(u64::MAX);
        self.in_calls.fetch_add(nanos, Ordering::Relaxed);
        self.timed.fetch_add(made.timed, Ordering::Relaxed);
        self.calls.fetch_add(made.calls, Ordering::Relaxed) + made.calls
    }

    /// Takes the report of one window: the calls in it that were not yet counted, and whether it
    /// was spent waiting.
    pub(crate) fn report(&self, made: Made, waiting: bool) -> Decision {
        let calls = self.count(made);
        if !waiting {
            let target = self.target();
            let busy = self.busy_windows.fetch_add(1, Ordering::Relaxed);
            if !self.fixed && target > 1 && busy > 2 * target && target > self.cpus() {
                let mut decisions = lock(&self.decisions);
                decisions.climb.forget();
                self.change(&mut decisions, self.cpus(), Some("calls return from cache"));
            }
            return Decision::default();
        }
        self.busy_windows.store(0, Ordering::Relaxed);
        Decision {
            first_wait: !self.waited.swap(true, Ordering::Relaxed),
            raised: !self.fixed && self.decide(calls),
        }
    }

    /// Decides about the number of workers, after so many calls were reported in all. Returns true
    /// if it is higher now.
    fn decide(&self, calls: u64) -> bool {
        // One worker decides at a time, and no other worker waits for it.
        let Ok(mut decisions) = self.decisions.try_lock() else {
            return false;
        };
        let target = self.target();
        // Another worker may have reported more calls since these were counted, and decided on
        // that.
        let measured = Measured {
            calls: calls.saturating_sub(decisions.calls),
            timed: self
                .timed
                .load(Ordering::Relaxed)
                .saturating_sub(decisions.timed),
            in_calls: Duration::from_nanos(
                self.in_calls
                    .load(Ordering::Relaxed)
                    .saturating_sub(decisions.in_calls),
            ),
            elapsed: decisions.since.elapsed(),
            workers: target,
            least: self.cpus(),
            most: self.most,
        };
        let Some(Step { workers, reason }) = decisions.climb.step(measured) else {
            return false;
        };
        self.change(&mut decisions, workers, reason);
        workers > target
    }

    fn change(&self, decisions: &mut Decisions, workers: usize, reason: Option<&'static str>) {
        self.busy_windows.store(0, Ordering::Relaxed);
        self.target.store(workers, Ordering::Relaxed);
        decisions.since = Instant::now();
        decisions.calls = self.calls.load(Ordering::Relaxed);
        decisions.timed = self.timed.load(Ordering::Relaxed);
        decisions.in_calls = self.in_calls.load(Ordering::Relaxed);
        if let Some(reason) = reason {
            decisions.changes.push(WorkerChange {
                at: self.start.elapsed(),
                workers,
                reason,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(calls: u64) -> Made {
        Made {
            calls,
            timed: calls,
            took: Duration::from_nanos(calls),
        }
    }

    fn wait_out_trial(concurrency: &ConcurrencyController) {
        concurrency.decisions.lock().unwrap().since -= Duration::from_secs(10);
    }

    #[test]
    fn waiting_raises_the_number_and_cache_lowers_it() {
        let concurrency = ConcurrencyController::new(None, 1000);
        concurrency.there_is_more_work();
        let cpus = concurrency.target();
        let first = Decision {
            first_wait: true,
            raised: true,
        };
        assert_eq!(concurrency.report(calls(1000), true), first);
        assert_eq!(concurrency.target(), 2 * cpus);
        for _ in 0..20 * MOST_WORKERS {
            assert_eq!(concurrency.report(calls(1000), false), Decision::default());
        }
        assert_eq!(concurrency.target(), cpus);
    }

    #[test]
    fn the_number_is_bounded_while_more_helps() {
        let concurrency = ConcurrencyController::new(None, 1000);
        let mut made = 1000;
        for _ in 0..40 {
            wait_out_trial(&concurrency);
            concurrency.report(calls(made), true);
            made *= 2;
        }
        assert_eq!(concurrency.target(), MOST_WORKERS);
    }

    #[test]
    fn a_report_that_was_overtaken_decides_nothing() {
        let concurrency = ConcurrencyController::new(None, 1000);
        concurrency.report(calls(1000), true);
        let target = concurrency.target();
        wait_out_trial(&concurrency);
        // This report was counted before the one above. Its worker then had to wait for its CPU.
        assert!(!concurrency.decide(999));
        assert_eq!(concurrency.target(), target);
    }

    #[test]
    fn a_given_number_stays() {
        let concurrency = ConcurrencyController::new(NonZeroUsize::new(3), 1000);
        concurrency.there_is_more_work();
        assert!(!concurrency.report(calls(1000), true).raised);
        assert_eq!(concurrency.target(), 3);
        let bounded = ConcurrencyController::new(NonZeroUsize::new(3), 2);
        assert_eq!(bounded.target(), 2);
        let large = ConcurrencyController::new(NonZeroUsize::new(700), 1000);
        assert_eq!((large.target(), large.most()), (700, 700));
    }
}
