//! A walk that C has opened, and in what state it is.
//!
//! ```text
//!            next                       end
//!   Ready ─────────> Reading ──────────────────────> Ended(summary)
//!     │                  └── cancelled, on next ───> Ended(none)
//!     │ run                                             ^
//!     └───────────> Running ─── the walk is over ───────┘
//! ```
//!
//! Closing is possible in every state but `Running`, where the threads that would have to end are in C's callback.

use crate::abi::RingwalkVisitor;
use crate::cancel::{self, Ticket};
use crate::held::Held;
use crate::visit::{self, Callback};
use ringwalk::{Batches, Summary, Walk};
use ringwalk_sys::with_signals_blocked;
use rustix::io::Errno;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// How long a cancelled walk may go on waiting for a batch: a signal handler, which may cancel it, can wake nobody.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A walk, by its handle.
#[derive(Debug)]
pub(crate) struct OpenWalk {
    ticket: Ticket,
    /// Whether callbacks are wanted for directories that are left.
    leaves: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Ready(Box<Walk>),
    Reading(Box<Batches>),
    Running,
    Ended(Option<Box<Summary>>),
    Closed,
}

impl OpenWalk {
    /// # Errors
    ///
    /// `EMFILE` if too many are open.
    pub(crate) fn new(walk: Walk, leaves: bool) -> Result<Self, Errno> {
        Ok(Self {
            ticket: Ticket::take().ok_or(Errno::MFILE)?,
            leaves,
            state: Mutex::new(State::Ready(Box::new(walk))),
        })
    }

    pub(crate) fn handle(&self) -> usize {
        self.ticket.handle()
    }

    /// The next batch or error; `None` at the end.
    ///
    /// # Errors
    ///
    /// `ECANCELED`; `EBUSY` while it is run; `EBADF` if it has been closed meanwhile; `EAGAIN` if no thread can be
    /// started.
    pub(crate) fn next(&self) -> Result<Option<Box<Held>>, Errno> {
        let mut state = self.lock();
        if self.ticket.is_cancelled() && !matches!(*state, State::Running | State::Closed) {
            state.cancel();
            return Err(Errno::CANCELED);
        }
        if matches!(*state, State::Ready(_)) {
            // What it is if no thread can be started: the walk is gone then.
            let State::Ready(walk) = std::mem::replace(&mut *state, State::Ended(None)) else {
                return Err(Errno::INVAL);
            };
            // The program's handlers run on its own threads, whose calls they are to interrupt.
            let batches = with_signals_blocked(|| walk.batches());
            let batches =
                batches.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))?;
            *state = State::Reading(Box::new(batches));
        }
        let batches = match &mut *state {
            State::Reading(batches) => batches,
            State::Ended(_) => return Ok(None),
            State::Closed => return Err(Errno::BADF),
            State::Ready(_) | State::Running => return Err(Errno::BUSY),
        };
        let item = loop {
            if let Ok(item) = batches.next_within(LOOK_EVERY) {
                break item;
            }
            if self.ticket.is_cancelled() {
                state.cancel();
                return Err(Errno::CANCELED);
            }
        };
        if item.is_none() {
            let summary = batches.summary().cloned().map(Box::new);
            *state = State::Ended(summary);
        }
        Ok(item.map(|item| Box::new(Held::from(item))))
    }

    /// Runs the walk with a callback, on this thread and others; 0, or what the callback answered to end it, or
    /// `-ECANCELED`.
    ///
    /// # Errors
    ///
    /// `EBUSY` if it is being read or run; `EALREADY` if it has been.
    pub(crate) fn run(&self, callback: RingwalkVisitor, data: *mut c_void) -> Result<c_int, Errno> {
        let callback = Callback::new(
            callback.ok_or(Errno::INVAL)?,
            data,
            self.leaves,
            &self.ticket,
        );
        let walk = {
            let mut state = self.lock();
            match std::mem::replace(&mut *state, State::Running) {
                State::Ready(walk) => walk,
                other => {
                    let refused = match other {
                        State::Ended(_) => Errno::ALREADY,
                        State::Closed => Errno::BADF,
                        _ => Errno::BUSY,
                    };
                    *state = other;
                    return Err(refused);
                }
            }
        };
        // Also if the walk panics.
        let mut ending = Ending {
            walk: self,
            summary: None,
        };
        let (summary, result) = visit::run(*walk, &callback);
        ending.summary = Some(Box::new(summary));
        Ok(result)
    }

    /// # Errors
    ///
    /// `EAGAIN` before its end, and of a walk that was cancelled while it was read.
    pub(crate) fn summary(&self) -> Result<Summary, Errno> {
        match &*self.lock() {
            State::Ended(Some(summary)) => Ok((**summary).clone()),
            State::Ended(None) => Err(Errno::CANCELED),
            State::Closed => Err(Errno::BADF),
            _ => Err(Errno::AGAIN),
        }
    }

    /// Ends the walk and waits for its threads; who waits for a batch meanwhile is told that it was cancelled.
    ///
    /// # Errors
    ///
    /// `EBUSY` while it is run; `EBADF` if another thread has closed it.
    pub(crate) fn close(&self) -> Result<(), Errno> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // Some other thread waits for a batch.
                cancel::cancel(self.handle());
                self.lock()
            }
        };
        match &*state {
            State::Running => return Err(Errno::BUSY),
            State::Closed => return Err(Errno::BADF),
            _ => {}
        }
        let ended = std::mem::replace(&mut *state, State::Closed);
        drop(state);
        // Joins its threads.
        drop(ended);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends the walk and waits for its threads.
    fn cancel(&mut self) {
        if let Self::Ready(_) | Self::Reading(_) = self {
            *self = Self::Ended(None);
        }
    }
}

/// Takes a walk out of `Running` when it is over, however it ended.
struct Ending<'a> {
    walk: &'a OpenWalk,
    summary: Option<Box<Summary>>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.walk.lock() = State::Ended(self.summary.take());
    }
}
