//! The concurrency controller: decides how many workers a walk has.
//!
//! Every worker measures its own calls in windows of a few milliseconds
//! ([`Meter`](super::meter::Meter)). A window was spent *waiting* if its calls were slow, the
//! thread had little CPU time, and the thread gave up its CPU of its own will. A thread that other
//! processes crowd out is slow too, but does not give up its CPU.
//!
//! ```text
//!   waiting windows                              throughput at least 15 % better?
//!  warm ---------------> double the workers ---> yes: double again, up to MOST_WORKERS
//!   ^                        ^                   no:  stay for a while, then try again
//!   |                        |                   worse by 10 %: back to the number before, and stay
//!   +------------------------+-------- a run of windows without waiting: as many as CPUs
//! ```
//!
//! So an SSD, a network file system or a virtual disk gets as many requests at a time as make it
//! faster. A disk that more requests make slower is left alone. The controller need not know which
//! kind of device it is. Where the disk says that it rotates, waiting also turns on inode order
//! (`sources/stat.rs`).

use super::{MOST_WORKERS, warm_workers};
use ringwalk_sys::sync::lock;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a number of workers is tried before the next decision.
const TRIAL: Duration = Duration::from_millis(12);

/// How long a number that more workers did not improve on is kept.
const SETTLED: Duration = Duration::from_millis(300);

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
    /// Calls that all workers have reported.
    calls: AtomicU64,
    busy_windows: AtomicUsize,
    waited: AtomicBool,
    inode_order: AtomicBool,
    climb: Mutex<Climb>,
}

#[derive(Debug)]
struct Climb {
    since: Instant,
    calls: u64,
    hold: Duration,
    /// Calls a second with the number of workers before the last change, and that number.
    before: Option<(f64, usize)>,
    changes: Vec<WorkerChange>,
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
            busy_windows: AtomicUsize::new(0),
            waited: AtomicBool::new(false),
            inode_order: AtomicBool::new(false),
            climb: Mutex::new(Climb {
                since: start,
                calls: 0,
                hold: Duration::ZERO,
                before: None,
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

    /// Raises the number of workers to that of CPUs: there is work for more than one. Only then it
    /// pays to find out how many CPUs there are (by affinity and cgroup quota), which means reading
    /// several files.
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
        let climb = lock(&self.climb);
        climb.changes.clone()
    }

    /// Takes the report of one window. Returns true if it is the first that was spent waiting.
    pub(crate) fn report(&self, calls: u64, waiting: bool) -> bool {
        let calls = self.calls.fetch_add(calls, Ordering::Relaxed) + calls;
        if !waiting {
            let target = self.target();
            let busy = self.busy_windows.fetch_add(1, Ordering::Relaxed);
            if !self.fixed && target > 1 && busy > 2 * target && target > self.cpus() {
                let mut climb = lock(&self.climb);
                self.change(&mut climb, calls, self.cpus(), "calls return from cache");
            }
            return false;
        }
        self.busy_windows.store(0, Ordering::Relaxed);
        let first = !self.waited.swap(true, Ordering::Relaxed);
        if !self.fixed {
            self.climb(calls);
        }
        first
    }

    fn climb(&self, calls: u64) {
        // One worker decides at a time, and no other worker waits for it.
        let Ok(mut climb) = self.climb.try_lock() else {
            return;
        };
        let elapsed = climb.since.elapsed();
        let target = self.target();
        // Another worker may have reported more calls since these were counted, and decided on
        // that.
        let made = calls.saturating_sub(climb.calls);
        if elapsed < climb.hold || made < 2 * target as u64 {
            return;
        }
        let made = u32::try_from(made).unwrap_or(u32::MAX);
        let rate = f64::from(made) / elapsed.as_secs_f64();
        let on_trial = climb.hold < SETTLED;
        let (workers, reason, hold) = match climb.before {
            Some((before, workers)) if on_trial && rate < 0.9 * before => {
                (workers, "more workers made it slower", SETTLED)
            }
            Some((before, _)) if on_trial && rate < 1.15 * before => {
                (target, "more workers made it no faster", SETTLED)
            }
            _ if target < self.most => {
                climb.before = Some((rate, target));
                let more = (2 * target.max(self.cpus())).min(self.most);
                (more, "calls wait for a device", TRIAL)
            }
            _ => return,
        };
        self.change(&mut climb, calls, workers, reason);
        climb.hold = hold;
    }

    fn change(&self, climb: &mut Climb, calls: u64, workers: usize, reason: &'static str) {
        self.busy_windows.store(0, Ordering::Relaxed);
        self.target.store(workers, Ordering::Relaxed);
        climb.since = Instant::now();
        climb.calls = calls;
        climb.hold = TRIAL;
        let at = self.start.elapsed();
        climb.changes.push(WorkerChange {
            at,
            workers,
            reason,
        });
    }
}

#[cfg(test)]
mod tests;
