//! Work between workers: who has it, who takes it, who sleeps until there is some.
//!
//! ```text
//!   worker 0            worker 1                 worker n (asleep)
//!   [new ... old]       [new ... old]            [        ]
//!    ^ |     +--- steal ----^                         ^
//!    | v     the oldest: the largest subtree          | notified when work is pushed while somebody is idle
//!   push, pop: the newest, depth first
//! ```
//!
//! Every worker has a deque of its own. It pushes what it finds and pops the newest, so it walks depth first and few
//! directories are in flight; others steal the oldest. In a directory larger than a buffer, the rest of the directory is
//! pushed *before* the entries just read are asked for their metadata: so another worker reads on meanwhile, and the
//! owner comes back to it only after the subdirectories on top of it, however many there are.
//!
//! Sleeping: a worker takes the lock, counts itself idle, and looks at all deques once more before it waits. A worker
//! that pushes looks at the count after pushing, with a sequentially consistent fence on both sides: either it sees the
//! sleeper, or the sleeper sees the work. It takes the lock before it notifies, so the notification cannot fall between
//! look and wait.
//!
//! The walk ends when every root has been left: [`Scheduler::finish_root`] counts them.

use crate::dir::Dir;
use crate::raw_batch::RawBatch;
use crate::volume::Position;
use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use ringwalk_sys::DirectoryFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// A piece of work.
pub(crate) enum Task<S> {
    /// The roots from this index on.
    Roots(usize),
    /// A directory to be opened and read.
    Open(Arc<Dir<S>>),
    /// The rest of a directory.
    Read(Box<Rest<S>>),
    /// The rest of a directory that is read past the VFS.
    List(Box<ListRest<S>>),
    /// Entries that have been read and wait for their metadata and their visitor.
    Part(Box<Part<S>>),
}

/// An open directory that has been read in part.
pub(crate) struct Rest<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) fd: Arc<DirectoryFd>,
    pub(crate) next_batch: u32,
    /// Its descriptor is counted as held.
    pub(crate) pinned: bool,
}

impl<S> Rest<S> {
    /// What is left of a directory when the next batch has been read.
    pub(crate) fn behind(&self) -> Self {
        Self {
            dir: Arc::clone(&self.dir),
            fd: Arc::clone(&self.fd),
            next_batch: self.next_batch + 1,
            pinned: true,
        }
    }
}

/// A large directory whose first entries have been listed past the VFS.
pub(crate) struct ListRest<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) position: Position,
    pub(crate) next_batch: u32,
}

/// A part of a batch, given away, or put off until what is before it has been walked.
///
/// It does not keep its directory open: in a deep tree, every level can have one that waits. Its
/// directory's slot expects it like a child, and holds the descriptor for it as long as the budget
/// allows.
pub(crate) struct Part<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) raw: RawBatch,
    /// The source has given metadata with it.
    pub(crate) metadata: bool,
    pub(crate) index: u32,
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
    /// Roots, and batches of roots, that are not done.
    roots: AtomicUsize,
    stopped: AtomicBool,
}

impl<S> Scheduler<S> {
    /// For at most `most` workers, with one batch of roots to be done.
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

    /// The index of a worker to be started, if there are fewer than `target` yet.
    pub(crate) fn next_worker(&self, target: usize) -> Option<usize> {
        let most = target.min(self.stealers.len());
        self.started
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < most).then_some(n + 1)
            })
            .ok()
    }

    /// A worker could not be started after all, and no more are to be tried.
    pub(crate) fn give_up_starting(&self) {
        self.started.store(self.stealers.len(), Ordering::Relaxed);
    }

    /// Lets other workers steal from `deque`.
    pub(crate) fn register(&self, index: usize, deque: &Deque<Task<S>>) {
        // An index is given out once, so the cell is empty.
        let _ = self.stealers[index].set(deque.stealer());
    }

    /// How many workers wait for work.
    pub(crate) fn idle(&self) -> usize {
        self.idle.load(Ordering::Relaxed)
    }

    /// Takes the oldest task of another worker, beginning with the one after `index`.
    pub(crate) fn steal(&self, index: usize) -> Option<Task<S>> {
        let (before, after) = self.stealers.split_at(index);
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
        let mut stealers = self.stealers.iter().filter_map(OnceLock::get);
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

    /// Sleeps while `surplus` says that this worker is one too many and the walk goes on.
    pub(crate) fn wait_while_surplus(&self, surplus: impl Fn() -> bool) {
        // What this worker has in its deque is left to the others.
        self.pushed(usize::MAX);
        let mut guard = self.lock();
        while surplus() && !self.is_over() {
            guard = self
                .wanted
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The number of workers wanted may have risen.
    pub(crate) fn wake_surplus(&self) {
        drop(self.lock());
        self.wanted.notify_all();
    }

    pub(crate) fn add_roots(&self, count: usize) {
        self.roots.fetch_add(count, Ordering::Relaxed);
    }

    /// A root has been left, or a batch of roots is done.
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

    /// Set when the walk is ended before everything has been read.
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
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the walk when its thread panics: a visitor that does so must not leave the other workers waiting for ever.
pub(crate) struct StopOnPanic<'a, S>(pub(crate) &'a Scheduler<S>);

impl<S> Drop for StopOnPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
