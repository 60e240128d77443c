//! How many workers there are: as many as CPUs while calls return from cache, more while they wait for a device.
//!
//! Every worker measures its own calls in windows of a few milliseconds ([`Meter`](crate::meter::Meter)). A window in which calls were slow,
//! the thread had little CPU time, and it gave up its CPU of its own will, was spent *waiting*; a thread that other
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
//! So an SSD, a network file system or a virtual disk gets the queue depth it rewards, and a disk that more requests only
//! make slower is left alone, without having to be told which is which. Where the disk says that it rotates, waiting
//! also turns on inode order (see `stat.rs`).

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The most workers that wait for a device at a time: what fills the queues of most devices and servers, and with its
/// buffers still fits into 16 MiB. On a disk with 2 ms a read and eight requests at a time all numbers from 8 to 128 took
/// the same time, so too many do no harm there.
pub(crate) const MOST_WORKERS: usize = 64;

/// The most workers on a warm cache unless told otherwise: a shared host with 128 CPUs is not ours alone.
const MOST_BUSY_WORKERS: usize = 16;

/// How long a number of workers is tried before the next decision.
const TRIAL: Duration = Duration::from_millis(12);

/// How long a number that more workers did not improve on is kept.
const SETTLED: Duration = Duration::from_millis(300);

/// How many workers a walk has while its calls return from cache, unless told otherwise: as many as CPUs this process
/// may use, by affinity and by the quota of its cgroups, and at most 16.
pub fn warm_workers() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    cpus.min(MOST_BUSY_WORKERS)
}

/// A change of the number of workers, for the explanation of a walk.
#[derive(Clone, Debug)]
pub struct WorkerChange {
    /// Time since the walk began.
    pub at: Duration,
    /// The number from then on.
    pub workers: usize,
    /// Why.
    pub reason: &'static str,
}

/// The number of workers wanted, shared by all of them.
#[derive(Debug)]
pub(crate) struct Regime {
    start: Instant,
    target: AtomicUsize,
    /// The number is given and stays.
    fixed: bool,
    most: usize,
    cpus: OnceLock<usize>,
    /// Calls made by all workers, as far as they have reported.
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
    /// Calls a second with the number before, and that number.
    before: Option<(f64, usize)>,
    changes: Vec<WorkerChange>,
}

impl Regime {
    /// `wanted`: the number if it is given; `most`: what the limits of the process allow.
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

    /// The most workers there may ever be.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// How many workers there should be now.
    pub(crate) fn target(&self) -> usize {
        self.target.load(Ordering::Relaxed)
    }

    /// There is work for more than one worker. Only then it is worth finding out how many CPUs there are (by affinity
    /// and cgroup quota), which takes the reading of several files.
    pub(crate) fn there_is_more_work(&self) {
        if !self.fixed && self.cpus.get().is_none() {
            let cpus = self.cpus();
            self.target.fetch_max(cpus, Ordering::Relaxed);
        }
    }

    fn cpus(&self) -> usize {
        *self.cpus.get_or_init(|| warm_workers().min(self.most))
    }

    /// Whether some window was spent waiting.
    pub(crate) fn has_waited(&self) -> bool {
        self.waited.load(Ordering::Relaxed)
    }

    pub(crate) fn uses_inode_order(&self) -> bool {
        self.inode_order.load(Ordering::Relaxed)
    }

    pub(crate) fn use_inode_order(&self) {
        self.inode_order.store(true, Ordering::Relaxed);
    }

    /// The changes so far.
    pub(crate) fn changes(&self) -> Vec<WorkerChange> {
        let climb = self.climb.lock().unwrap_or_else(PoisonError::into_inner);
        climb.changes.clone()
    }

    /// Takes the report of one window; true if it is the first that was spent waiting.
    pub(crate) fn report(&self, calls: u64, waiting: bool) -> bool {
        let calls = self.calls.fetch_add(calls, Ordering::Relaxed) + calls;
        if !waiting {
            let target = self.target();
            let busy = self.busy_windows.fetch_add(1, Ordering::Relaxed);
            if !self.fixed && target > 1 && busy > 2 * target && target > self.cpus() {
                let mut climb = self.climb.lock().unwrap_or_else(PoisonError::into_inner);
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
        // One worker decides at a time; the others have better things to do than to wait for it.
        let Ok(mut climb) = self.climb.try_lock() else {
            return;
        };
        let elapsed = climb.since.elapsed();
        let target = self.target();
        // Another worker may have reported more, and decided on it, since these calls were counted.
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
