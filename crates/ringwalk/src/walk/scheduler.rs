//! The work of a walk, and how workers share it, take it, and sleep while there is none.
//!
//! ```text
//!   worker 0            worker 1                 worker n (asleep)
//!   [new ... old]       [new ... old]            [        ]
//!    ^ |     +--- steal ----^                         ^
//!    | v     the oldest: the largest subtree          | notified when work is pushed while a worker is idle
//!   push, pop: the newest, depth first
//! ```
//!
//! Every worker has a deque of its own. The worker pushes what it finds and pops the newest task,
//! so it walks depth first and few directories are in flight. Other workers steal the oldest task.
//!
//! In a directory larger than a buffer, the worker pushes the rest of the directory *before* it
//! asks for the metadata of the entries just read. Another worker can then read on. The owner
//! itself comes back to the rest only after all subdirectories that were pushed on top of it.
//!
//! # Sleep
//!
//! A worker that finds no work takes the lock, counts itself idle, and looks at all deques once
//! more before it waits. A worker that pushes work reads the idle count afterwards. Both do that
//! around a sequentially consistent fence: either the pushing worker sees the sleeper, or the
//! sleeper sees the work. The pushing worker takes the lock before it notifies, so the notification
//! cannot fall between the look and the wait.
//!
//! The walk ends when every root has been left; [`Scheduler::finish_root`] counts them.

use crate::sources::TreeListing;
use crate::sources::raw_batch::RawBatch;
use crate::sources::volume::Position;
use crate::visit::dir::Dir;
use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use ringwalk_sys::DirectoryFd;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A piece of work.
pub(crate) enum Task<S> {
    /// The roots from this index on.
    Roots(usize),
    /// What another walk has left over.
    Leftovers,
    /// A directory to open and read.
    Open(Arc<Dir<S>>),
    /// A directory whose entries were read together with the entries of a directory above it.
    Listed(Box<(Arc<Dir<S>>, TreeListing)>),
    /// The rest of a directory that was read in part.
    Rest(Box<Rest<S>>),
    /// Entries that have been read, and wait for their metadata and their visitor.
    Part(Box<Part<S>>),
}

/// The rest of a directory: what is behind the entries that were read.
pub(crate) struct Rest<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) next_batch: u32,
    pub(crate) from: RestFrom,
}

/// Where the rest of a directory is read from.
pub(crate) enum RestFrom {
    /// The source of a worker, at the position of the open directory.
    Fd {
        fd: Arc<DirectoryFd>,
        /// The allowance counts the descriptor as held.
        pinned: bool,
    },
    /// What the directory was listed from without being opened: its mounted volume, or the saved
    /// tree.
    Listing(Position),
}

/// A part of a batch that was given away, or put off until the entries before it have been walked.
///
/// A part does not keep its directory open: in a deep tree every level can have one that waits. The
/// slot of its directory expects it like a child, and holds the descriptor for it while the
/// allowance has room.
pub(crate) struct Part<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) raw: RawBatch,
    /// The source has filled in the metadata.
    pub(crate) metadata: bool,
    /// The numbers of the part within its directory.
    pub(crate) numbers: Range<u64>,
}

pub(crate) struct Scheduler<S> {
    stealers: Box<[OnceLock<Stealer<Task<S>>>]>,
    started: AtomicUsize,
    idle: AtomicUsize,
    lock: Mutex<()>,
    /// Work has been pushed, or the walk is over.
    work: Condvar,
    /// More workers are wanted, or the walk is over.
    wanted: Condvar,
    /// Roots, and batches of roots, that are not finished.
    roots: AtomicUsize,
    stopped: AtomicBool,
}

impl<S> Scheduler<S> {
    /// Creates the scheduler of at most `most` workers, with one batch of roots to visit.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            stealers: (0..most).map(|_| OnceLock::new()).collect(),
            started: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            lock: Mutex::new(()),
            work: Condvar::new(),
            wanted: Condvar::new(),
            roots: AtomicUsize::new(1),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns the index of the worker to start next, if fewer than `target` have been started.
    pub(crate) fn next_worker(&self, target: usize) -> Option<usize> {
        let most = target.min(self.stealers.len());
        self.started
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < most).then_some(n + 1)
            })
            .ok()
    }

    /// Notes that a worker could not be started: no more are tried.
    pub(crate) fn give_up_starting(&self) {
        self.started.store(self.stealers.len(), Ordering::Relaxed);
    }

    /// Lets other workers steal from `deque`.
    pub(crate) fn register(&self, index: usize, deque: &Deque<Task<S>>) {
        // An index is given out once, so the cell is empty.
        let _ = self.stealers[index].set(deque.stealer());
    }

    /// Returns how many workers wait for work.
    pub(crate) fn idle(&self) -> usize {
        self.idle.load(Ordering::Relaxed)
    }

    /// Takes the oldest task of another worker, beginning with the one after `index`.
    pub(crate) fn steal(&self, index: usize) -> Option<Task<S>> {
        let started = self.started.load(Ordering::Relaxed).max(index + 1);
        let (before, after) = self.stealers[..started].split_at(index);
        let mut retry = true;
        while retry {
            retry = false;
            for stealer in after.iter().skip(1).chain(before).filter_map(OnceLock::get) {
                match stealer.steal() {
                    Steal::Success(task) => return Some(task),
                    Steal::Retry => retry = true,
                    Steal::Empty => {}
                }
            }
        }
        None
    }

    fn has_work(&self) -> bool {
        let started = self.started.load(Ordering::Relaxed);
        let mut stealers = self.stealers[..started].iter().filter_map(OnceLock::get);
        stealers.any(|stealer| !stealer.is_empty())
    }

    /// Wakes workers for `tasks` that have just been pushed.
    pub(crate) fn pushed(&self, tasks: usize) {
        fence(Ordering::SeqCst);
        let idle = self.idle.load(Ordering::Relaxed);
        if idle > 0 {
            drop(self.lock());
            for _ in 0..tasks.min(idle) {
                self.work.notify_one();
            }
        }
    }

    /// Sleeps until there may be work or the walk is over.
    pub(crate) fn wait_for_work(&self) {
        let guard = self.lock();
        self.idle.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !self.has_work() && !self.is_over() {
            drop(self.work.wait(guard));
        }
        self.idle.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sleeps while `surplus` returns true and the walk goes on: this worker is one too many.
    pub(crate) fn wait_while_surplus(&self, surplus: impl Fn() -> bool) {
        // The other workers take the tasks in this worker's deque.
        self.pushed(usize::MAX);
        let mut guard = self.lock();
        while surplus() && !self.is_over() {
            guard = self.wanted.wait(guard).ignore_poison();
        }
    }

    /// Sleeps for this time, or until the walk is over.
    pub(crate) fn sleep(&self, time: Duration) {
        let begin = Instant::now();
        let mut guard = self.lock();
        while !self.is_over() {
            let remaining = time.saturating_sub(begin.elapsed());
            if remaining.is_zero() {
                return;
            }
            let waited = self.wanted.wait_timeout(guard, remaining);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Wakes surplus workers: the number of workers wanted may have risen.
    pub(crate) fn wake_surplus(&self) {
        drop(self.lock());
        self.wanted.notify_all();
    }

    pub(crate) fn add_roots(&self, count: usize) {
        self.roots.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes that a root has been left, or a batch of roots is finished.
    pub(crate) fn finish_root(&self) {
        if self.roots.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake_all();
        }
    }

    /// Ends the walk before everything has been read.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.wake_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns a flag that is set when the walk ends before everything has been read.
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stopped
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_stopped() || self.roots.load(Ordering::Acquire) == 0
    }

    fn wake_all(&self) {
        drop(self.lock());
        self.work.notify_all();
        self.wanted.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        lock(&self.lock)
    }
}

/// Ends the walk when its thread panics: the other workers would wait for ever for a visitor that
/// panicked.
pub(crate) struct StopOnPanic<'a, S>(pub(crate) &'a Scheduler<S>);

impl<S> Drop for StopOnPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
