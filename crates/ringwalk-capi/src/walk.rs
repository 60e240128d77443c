//! A walk that C has opened, and its states.
//!
//! ```text
//!            next                       end
//!   Ready ─────────> Reading ──────────────────────> Ended(how)
//!     │                  └── cancelled, on next ───> Ended(none)
//!     │ run                                             ^
//!     └───────────> Running ─── the walk is over ───────┘
//! ```
//!
//! A walk can be closed in every state but `Running`: there the threads that would have to end are
//! in callbacks of C.

use crate::abi::{RingwalkLeftover, RingwalkVisitor};
use crate::cancel::{self, Ticket};
use crate::held::Held;
use crate::summary::Ended;
use crate::visit::{self, Callback};
use ringwalk::{Batches, Next, Summary, Walk};
use ringwalk_sys::sync::lock;
use ringwalk_sys::with_signals_blocked;
use rustix::io::Errno;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// The time after which a call that waits for a batch checks whether the walk was cancelled. A
/// signal handler can cancel a walk, and cannot wake a thread.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// An open walk, which C knows by its handle.
#[derive(Debug)]
pub(crate) struct OpenWalk {
    ticket: Ticket,
    /// True if C wants callbacks for directories that are left.
    leaves: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Ready(Box<Walk>),
    Reading(Box<Batches>),
    Running,
    Ended(Option<Box<Ended>>),
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

    /// Returns the next batch or error; `None` at the end.
    ///
    /// # Errors
    ///
    /// `ECANCELED`; `EBUSY` while the walk is run; `EBADF` if another thread has closed it;
    /// `EAGAIN` if no thread can be started.
    pub(crate) fn next(&self) -> Result<Option<Box<Held>>, Errno> {
        let mut state = self.lock();
        if self.ticket.is_cancelled() && !matches!(*state, State::Running | State::Closed) {
            state.cancel();
            return Err(Errno::CANCELED);
        }
        if matches!(*state, State::Ready(_)) {
            // The state if no thread can be started: the walk is consumed then.
            let State::Ready(walk) = std::mem::replace(&mut *state, State::Ended(None)) else {
                return Err(Errno::INVAL);
            };
            // Signal handlers of the program run on its own threads, whose calls they must
            // interrupt.
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
            match batches.next_within(LOOK_EVERY) {
                Next::Item(item) => break Some(item),
                Next::End => break None,
                Next::Pending if self.ticket.is_cancelled() => {
                    state.cancel();
                    return Err(Errno::CANCELED);
                }
                Next::Pending => {}
            }
        };
        if item.is_none() {
            let leftovers = batches.leftovers();
            let summary = batches.summary().cloned();
            let ended = summary.map(|summary| Box::new(Ended::new(summary, leftovers)));
            *state = State::Ended(ended);
        }
        Ok(item.map(|item| Box::new(Held::from(item))))
    }

    /// Runs the walk with a callback, on this thread and others. Returns 0, the answer of the
    /// callback that ended the walk, or `-ECANCELED`.
    ///
    /// # Errors
    ///
    /// `EBUSY` if the walk is being read or run; `EALREADY` if it has been.
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
                        State::Ready(_) | State::Reading(_) | State::Running => Errno::BUSY,
                    };
                    *state = other;
                    return Err(refused);
                }
            }
        };
        // Sets the state also if the walk panics.
        let mut ending = Ending {
            walk: self,
            ended: None,
        };
        let (ended, result) = visit::run(*walk, &callback);
        ending.ended = Some(Box::new(ended));
        Ok(result)
    }

    /// # Errors
    ///
    /// `EAGAIN` before the end of the walk; `ECANCELED` if it was cancelled while it was read.
    pub(crate) fn summary(&self) -> Result<Summary, Errno> {
        match &*self.lock() {
            State::Ended(Some(ended)) => Ok(ended.summary.clone()),
            State::Ended(None) => Err(Errno::CANCELED),
            State::Closed => Err(Errno::BADF),
            State::Ready(_) | State::Reading(_) | State::Running => Err(Errno::AGAIN),
        }
    }

    /// Returns address and number of the leftovers, which stay valid until the walk is closed.
    ///
    /// # Errors
    ///
    /// `EAGAIN` before the end of the walk; `ECANCELED` if it was stopped or cancelled.
    pub(crate) fn leftovers(&self) -> Result<(*const RingwalkLeftover, usize), Errno> {
        match &*self.lock() {
            State::Ended(ended) => {
                let leftovers = ended.as_ref().and_then(|ended| ended.leftovers.as_ref());
                let raw = leftovers.ok_or(Errno::CANCELED)?.raw();
                Ok((raw.as_ptr(), raw.len()))
            }
            State::Closed => Err(Errno::BADF),
            State::Ready(_) | State::Reading(_) | State::Running => Err(Errno::AGAIN),
        }
    }

    /// Ends the walk and waits for its threads. A thread that waits for a batch gets `ECANCELED`.
    ///
    /// # Errors
    ///
    /// `EBUSY` while the walk is run; `EBADF` if another thread has closed it.
    pub(crate) fn close(&self) -> Result<(), Errno> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // Another thread waits for a batch.
                cancel::cancel(self.handle());
                self.lock()
            }
        };
        match &*state {
            State::Running => return Err(Errno::BUSY),
            State::Closed => return Err(Errno::BADF),
            State::Ready(_) | State::Reading(_) | State::Ended(_) => {}
        }
        let ended = std::mem::replace(&mut *state, State::Closed);
        drop(state);
        // Dropping the walk joins its threads.
        drop(ended);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
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

/// Moves a walk from `Running` to `Ended` when it is dropped, so also after a panic.
struct Ending<'a> {
    walk: &'a OpenWalk,
    ended: Option<Box<Ended>>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.walk.lock() = State::Ended(self.ended.take());
    }
}
