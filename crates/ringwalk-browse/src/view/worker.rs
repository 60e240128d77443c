//! Work on a background thread: whatever may take longer than a frame.
//!
//! ```text
//!   Slot::ask ── job ──> queue ──> thread ── answer ──> Slot::take
//! ```
//!
//! A slot has at most one question. Asking again drops the older question: its job is skipped if it
//! has not begun, and its answer goes nowhere.

use ringwalk_gnu::no_thread;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one job after the other. It ends after the current job when the worker is
/// dropped.
pub(crate) struct Worker {
    jobs: Sender<Job>,
    /// Dropped with the worker, so that jobs in the queue are skipped.
    alive: Arc<()>,
}

impl Worker {
    /// Starts the thread.
    pub(crate) fn start(name: &str) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        // Signals are for the thread that owns the terminal.
        ringwalk_sys::with_signals_blocked(|| {
            thread::Builder::new().name(name.to_owned()).spawn(move || {
                for job in queue {
                    job();
                }
            })
        })
        .map_err(no_thread)?;
        Ok(Self {
            jobs,
            alive: Arc::new(()),
        })
    }
}

/// Whether somebody still waits for the answer to a question.
pub(crate) struct Wanted {
    worker: Weak<()>,
    question: Weak<()>,
}

impl Wanted {
    /// Returns false once the question, or the worker, is dropped.
    pub(crate) fn is_wanted(&self) -> bool {
        self.worker.strong_count() > 0 && self.question.strong_count() > 0
    }
}

/// A place for one question and its answer.
pub(crate) struct Slot<T> {
    pending: Option<Pending<T>>,
}

struct Pending<T> {
    answer: Receiver<T>,
    /// Dropped with the question.
    _wanted: Arc<()>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { pending: None }
    }
}

impl<T: Send + 'static> Slot<T> {
    /// Asks a worker a question.
    pub(crate) fn ask(&mut self, worker: &Worker, question: impl FnOnce() -> T + Send + 'static) {
        self.ask_long(worker, |_| question());
    }

    /// Asks a worker a question whose answer takes long, and may end early once nobody waits.
    pub(crate) fn ask_long(
        &mut self,
        worker: &Worker,
        question: impl FnOnce(&Wanted) -> T + Send + 'static,
    ) {
        let (sender, answer) = mpsc::channel();
        let token = Arc::new(());
        let wanted = Wanted {
            worker: Arc::downgrade(&worker.alive),
            question: Arc::downgrade(&token),
        };
        let job = move || {
            if wanted.is_wanted() {
                // The question may be dropped meanwhile.
                let _ = sender.send(question(&wanted));
            }
        };
        // The thread ends only by a panic in a job. Then no answer comes, which `take` notices.
        let _ = worker.jobs.send(Box::new(job));
        self.pending = Some(Pending {
            answer,
            _wanted: token,
        });
    }

    /// Returns true if an answer is still to come.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Drops the question.
    pub(crate) fn forget(&mut self) {
        self.pending = None;
    }

    /// Returns the answer if it is there.
    pub(crate) fn take(&mut self) -> Option<T> {
        match self.pending.as_ref()?.answer.try_recv() {
            Ok(answer) => {
                self.pending = None;
                Some(answer)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.pending = None;
                None
            }
        }
    }

    /// Returns the answer, waiting for it at most this long.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<T> {
        match self.pending.as_ref()?.answer.recv_timeout(limit) {
            Ok(answer) => {
                self.pending = None;
                Some(answer)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.pending = None;
                None
            }
        }
    }
}
