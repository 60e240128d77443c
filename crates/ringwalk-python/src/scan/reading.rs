//! The states of a scan: not begun, running, ended or closed; and the process that reads it.
//!
//! ```text
//!           first row wanted            last batch taken
//!   Ready ───────────────────> Running ─────────────────> Ended
//!     └────────── close ──────────┴──── close ────> Closed  (Ended stays)
//! ```
//!
//! Several threads can read batches; each gets others. A thread holds the lock while it waits, for
//! a slice of time, so no thread takes the lock while it is attached to the interpreter. After
//! fork(2), the threads of the walk and the holder of the lock exist in the parent only: so each
//! call checks the process before it takes the lock.

use super::rows::{self, Item, SharedScan};
use crate::waiting::{self, wait};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ringwalk::sync::{IgnorePoison, lock};
use ringwalk::{Background, Canceller, Next, Summary, Walk};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

enum ScanState {
    Ready(Box<Walk>),
    Running(Box<Background<Item>>),
    Ended,
    Closed,
}

impl ScanState {
    fn end(self) {
        if let Self::Running(walk) = self {
            waiting::end(*walk);
        }
    }
}

/// A scan that a program reads.
pub(super) struct Reading {
    pub(super) shared: Arc<SharedScan>,
    state: Mutex<ScanState>,
    /// The process that began the scan; 0 before that.
    process: AtomicU32,
    canceller: OnceLock<Canceller>,
    closed: AtomicBool,
    summary: OnceLock<Summary>,
    tasks: Arc<Tasks>,
}

/// Tasks that wait for a batch. The walk knows one waker, so all tasks share it, and a task that
/// finds no batch waits again.
#[derive(Default)]
struct Tasks(Mutex<Vec<Waker>>);

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, Vec<Waker>> {
        lock(&self.0)
    }

    fn wake_all(&self) {
        let waiting = std::mem::take(&mut *self.lock());
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

/// The reason why there is no batch and will not be one.
#[derive(Debug)]
pub(super) enum Refused {
    /// This process began the scan; the current process is a fork of it.
    Forked(u32),
    Closed,
    /// No thread can be started.
    Threads(std::io::Error),
    Batch(ArrowError),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forked(process) => write!(
                f,
                "this scan was begun by process {process} before fork(): its threads are not in this process; begin another one"
            ),
            Self::Closed => f.write_str("this scan has been closed"),
            Self::Threads(error) => write!(f, "cannot start a thread: {error}"),
            Self::Batch(error) => error.fmt(f),
        }
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => PyValueError::new_err(refused.to_string()),
            Refused::Threads(error) => error.into(),
            Refused::Forked(_) | Refused::Batch(_) => PyRuntimeError::new_err(refused.to_string()),
        }
    }
}

impl Reading {
    pub(super) fn new(walk: Walk, shared: Arc<SharedScan>) -> Self {
        Self {
            shared,
            state: Mutex::new(ScanState::Ready(Box::new(walk))),
            process: AtomicU32::new(0),
            canceller: OnceLock::new(),
            closed: AtomicBool::new(false),
            summary: OnceLock::new(),
            tasks: Arc::default(),
        }
    }

    /// Returns true if a process has begun to read the scan.
    pub(super) fn is_begun(&self) -> bool {
        self.process.load(Ordering::Acquire) != 0
    }

    /// Returns the summary when the walk has ended.
    pub(super) fn summary(&self) -> Option<&Summary> {
        self.summary.get()
    }

    /// Records that this process reads the scan.
    fn begin(&self) -> Result<(), Refused> {
        let this = std::process::id();
        match self
            .process
            .compare_exchange(0, this, Ordering::AcqRel, Ordering::Acquire)
        {
            Err(other) if other != this => Err(Refused::Forked(other)),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ScanState> {
        lock(&self.state)
    }

    /// Calls `take` with the walk, which it begins if necessary.
    fn with_walk<T>(
        &self,
        take: impl FnOnce(&mut Background<Item>) -> Next<T>,
    ) -> Result<Next<T>, Refused> {
        self.begin()?;
        let mut state = self.lock();
        if self.closed.load(Ordering::Acquire) && !matches!(*state, ScanState::Ended) {
            return Err(Refused::Closed);
        }
        if matches!(*state, ScanState::Ready(_))
            && let ScanState::Ready(walk) = std::mem::replace(&mut *state, ScanState::Closed)
        {
            let running = self.start(*walk)?;
            *state = ScanState::Running(Box::new(running));
        }
        let ScanState::Running(walk) = &mut *state else {
            return Ok(Next::End);
        };
        let taken = take(walk);
        if matches!(taken, Next::End) {
            if self.closed.load(Ordering::Acquire) {
                return Err(Refused::Closed);
            }
            if let ScanState::Running(walk) = std::mem::replace(&mut *state, ScanState::Ended)
                && let Some(summary) = walk.into_summary()
            {
                let _ = self.summary.set(summary);
            }
        }
        Ok(taken)
    }

    fn start(&self, walk: Walk) -> Result<Background<Item>, Refused> {
        let shared = Arc::clone(&self.shared);
        let running = Background::start("ringwalk-scan", move |sender| {
            rows::walk(walk, &shared, sender)
        })
        .map_err(Refused::Threads)?;
        // `close` sets the mark before it looks for this canceller.
        let canceller = self.canceller.get_or_init(|| running.canceller());
        if self.closed.load(Ordering::Acquire) {
            canceller.cancel();
        }
        Ok(running)
    }

    /// The next batch, unless none comes in that time.
    pub(super) fn next_within(&self, time: Duration) -> Next<Result<RecordBatch, Refused>> {
        let taken = self.with_walk(|walk| walk.next_within(time));
        // A thread that waits takes the place of tasks that do, also when nothing has come.
        self.tasks.wake_all();
        batch_or_refusal(taken)
    }

    /// Returns the next batch, and checks for signals meanwhile.
    pub(super) fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        Ok(wait(py, |time| self.next_within(time))?.transpose()?)
    }

    /// The next batch, for a task, which is woken when it is worth while to ask again.
    pub(super) fn poll_next(&self, task: &Waker) -> Poll<Option<Result<RecordBatch, Refused>>> {
        // Before the walk is asked, which may wake it at once.
        self.tasks.lock().push(task.clone());
        let waker = Waker::from(Arc::clone(&self.tasks));
        let cx = Context::from_waker(&waker);
        let taken = self.with_walk(|walk| walk.poll_next(&cx).into());
        if !matches!(taken, Ok(Next::Pending)) {
            self.tasks.lock().retain(|waiting| !waiting.will_wake(task));
        }
        batch_or_refusal(taken).into_poll()
    }

    /// Ends the walk, wakes all receivers, and waits for the threads at most as long as
    /// [`waiting::end`] does. The caller has detached from the interpreter.
    pub(super) fn close(&self) {
        let process = self.process.load(Ordering::Acquire);
        if process != 0 && process != std::process::id() {
            return;
        }
        self.closed.store(true, Ordering::Release);
        if let Some(canceller) = self.canceller.get() {
            canceller.cancel();
        }
        let mut state = self.lock();
        if !matches!(*state, ScanState::Ended) {
            let walk = std::mem::replace(&mut *state, ScanState::Closed);
            drop(state);
            walk.end();
        }
    }
}

fn batch_or_refusal(taken: Result<Next<Item>, Refused>) -> Next<Result<RecordBatch, Refused>> {
    match taken {
        Ok(next) => next.map(|item| item.map_err(Refused::Batch)),
        Err(refused) => Next::Item(Err(refused)),
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let process = *self.process.get_mut();
        let state = self.state.get_mut().ignore_poison();
        let state = std::mem::replace(state, ScanState::Closed);
        if process != 0 && process != std::process::id() {
            // The threads to wait for are in the parent, and may hold the locks for ever.
            std::mem::forget(state);
            return;
        }
        if matches!(state, ScanState::Running(_)) {
            // Threads that end do not need the interpreter, but the thread that waits for them must
            // release it.
            waiting::detached(|| state.end());
        }
    }
}
