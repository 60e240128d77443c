//! A scan while it is read: not begun, running, ended or closed; and by which process.
//!
//! ```text
//!           first row wanted            last batch taken
//!   Ready ───────────────────> Running ─────────────────> Ended
//!     └────────── close ──────────┴──── close ────> Closed  (Ended stays)
//! ```
//!
//! Several threads may take batches, each gets others. The lock is held while one of them waits, for a slice of time, so it is never
//! taken with the interpreter attached: whoever holds it needs no interpreter. After fork(2) the threads of a walk and whoever holds
//! the lock are in the parent only: so the process is looked at before the lock.

use super::rows::{self, Item, Shared};
use crate::waiting::{self, wait};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ringwalk::{Background, Canceller, Summary, TimedOut, Walk};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

enum State {
    Ready(Box<Walk>),
    Running(Box<Background<Item>>),
    Ended,
    Closed,
}

impl State {
    fn end(self) {
        if let Self::Running(walk) = self {
            waiting::end(*walk);
        }
    }
}

/// A scan that is read.
pub(super) struct Reading {
    pub(super) shared: Arc<Shared>,
    state: Mutex<State>,
    /// The process that began it; 0 before that.
    process: AtomicU32,
    canceller: OnceLock<Canceller>,
    closed: AtomicBool,
    summary: OnceLock<Summary>,
    tasks: Arc<Tasks>,
}

/// Tasks that wait for a batch. The walk knows one waker, so all of them have the same, and whoever finds nothing waits again.
#[derive(Default)]
struct Tasks(Mutex<Vec<Waker>>);

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Why there is no batch and will not be.
#[derive(Debug)]
pub(super) enum Refused {
    /// It was begun by this process, of which this one is a fork.
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

type Taken = Result<Option<RecordBatch>, Refused>;

impl Reading {
    pub(super) fn new(walk: Walk, shared: Arc<Shared>) -> Self {
        Self {
            shared,
            state: Mutex::new(State::Ready(Box::new(walk))),
            process: AtomicU32::new(0),
            canceller: OnceLock::new(),
            closed: AtomicBool::new(false),
            summary: OnceLock::new(),
            tasks: Arc::default(),
        }
    }

    /// Whether somebody has begun to read it.
    pub(super) fn is_begun(&self) -> bool {
        self.process.load(Ordering::Acquire) != 0
    }

    /// What the walk has done, once it has ended.
    pub(super) fn summary(&self) -> Option<&Summary> {
        self.summary.get()
    }

    /// Notes that this process reads it.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `take` take from the walk, which is begun if it has not been.
    fn with_walk<T>(
        &self,
        take: impl FnOnce(&mut Background<Item>) -> Waited<T>,
    ) -> Result<Waited<T>, Refused> {
        self.begin()?;
        let mut state = self.lock();
        if self.closed.load(Ordering::Acquire) && !matches!(*state, State::Ended) {
            return Err(Refused::Closed);
        }
        if matches!(*state, State::Ready(_))
            && let State::Ready(walk) = std::mem::replace(&mut *state, State::Closed)
        {
            let running = self.start(*walk)?;
            *state = State::Running(Box::new(running));
        }
        let State::Running(walk) = &mut *state else {
            return Ok(Waited::Ended);
        };
        let taken = take(walk);
        if matches!(taken, Waited::Ended) {
            if self.closed.load(Ordering::Acquire) {
                return Err(Refused::Closed);
            }
            if let State::Running(walk) = std::mem::replace(&mut *state, State::Ended)
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
        // Whoever closes this sets the mark before it looks for this.
        let canceller = self.canceller.get_or_init(|| running.canceller());
        if self.closed.load(Ordering::Acquire) {
            canceller.cancel();
        }
        Ok(running)
    }

    /// The next batch, unless none comes in that time.
    pub(super) fn next_within(&self, time: Duration) -> Result<Taken, TimedOut> {
        let taken = self.with_walk(|walk| match walk.next_within(time) {
            Ok(Some(item)) => Waited::Item(item),
            Ok(None) => Waited::Ended,
            Err(TimedOut) => Waited::Pending,
        });
        // A thread that waits takes the place of tasks that do, also when nothing has come.
        self.tasks.wake_all();
        match taken {
            Ok(Waited::Pending) => Err(TimedOut),
            Ok(Waited::Ended) => Ok(Ok(None)),
            Ok(Waited::Item(item)) => Ok(item.map(Some).map_err(Refused::Batch)),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// The next batch; signals are looked for meanwhile.
    pub(super) fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        Ok(wait(py, |time| self.next_within(time))??)
    }

    /// The next batch, for a task, which is woken when it is worth while to ask again.
    pub(super) fn poll_next(&self, task: &Waker) -> Poll<Taken> {
        // Before the walk is asked, which may wake it at once.
        self.tasks.lock().push(task.clone());
        let waker = Waker::from(Arc::clone(&self.tasks));
        let cx = Context::from_waker(&waker);
        let taken = self.with_walk(|walk| match walk.poll_next(&cx) {
            Poll::Ready(Some(item)) => Waited::Item(item),
            Poll::Ready(None) => Waited::Ended,
            Poll::Pending => Waited::Pending,
        });
        if !matches!(taken, Ok(Waited::Pending)) {
            self.tasks.lock().retain(|waiting| !waiting.will_wake(task));
        }
        match taken {
            Ok(Waited::Pending) => Poll::Pending,
            Ok(Waited::Ended) => Poll::Ready(Ok(None)),
            Ok(Waited::Item(item)) => Poll::Ready(item.map(Some).map_err(Refused::Batch)),
            Err(refused) => Poll::Ready(Err(refused)),
        }
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
        if !matches!(*state, State::Ended) {
            let walk = std::mem::replace(&mut *state, State::Closed);
            drop(state);
            walk.end();
        }
    }
}

enum Waited<T> {
    Item(T),
    Ended,
    Pending,
}

impl Drop for Reading {
    fn drop(&mut self) {
        let process = *self.process.get_mut();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let state = std::mem::replace(state, State::Closed);
        if process != 0 && process != std::process::id() {
            // The threads to wait for are in the parent, and the locks perhaps held by them for ever.
            std::mem::forget(state);
            return;
        }
        if matches!(state, State::Running(_)) {
            // Threads that end do not need the interpreter, but whoever waits for them must not keep it.
            waiting::detached(|| state.end());
        }
    }
}
