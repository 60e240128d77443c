//! Where the answer to one request is left, and by whom it is waited for.
//!
//! ```text
//!                       complete                    poll
//!   Waiting(waker) ─────────────────> Done(answer) ──────> Taken
//!     │        │
//!     │        └── Completer dropped: the request was lost ──> Lost
//!     └── Pending dropped: nobody waits ──> Abandoned ── complete ──> the answer is dropped by who has it
//! ```
//!
//! Both ends hold the slot and every step is taken under its lock, so whichever end goes first, the answer and what it owns
//! (buffer, descriptor) is dropped exactly once, and never while the kernel or a thread is at work on it: until it is done, all
//! that belongs to the request is in the request, and not here.
//!
//! A process that forks has its threads in the parent only: in the child nobody completes what was asked before. So a slot knows
//! the process that made it, and in any other a wait is over at once. There even the lock may be held by a thread that is not,
//! and it is only tried.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

/// The request was not answered: its thread panicked, or is in the process that this one was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

#[derive(Debug)]
enum State<T> {
    Waiting(Option<Waker>),
    Done(T),
    Lost,
    Abandoned,
    Taken,
}

#[derive(Debug)]
struct Slot<T> {
    process: u32,
    state: Mutex<State<T>>,
}

impl<T> Slot<T> {
    /// `None` if its lock is held by a thread that this process does not have.
    fn lock(&self) -> Option<MutexGuard<'_, State<T>>> {
        if self.process == super::process() {
            return Some(self.state.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The end of who answers. Dropped without an answer, it tells that there will be none.
#[derive(Debug)]
pub(crate) struct Completer<T>(Option<Arc<Slot<T>>>);

/// The end of who waits. Dropping it is saying that nobody wants the answer.
#[derive(Debug)]
pub(crate) struct Pending<T>(Arc<Slot<T>>);

/// Both ends of a new slot.
pub(crate) fn slot<T>() -> (Completer<T>, Pending<T>) {
    let slot = Arc::new(Slot {
        process: super::process(),
        state: Mutex::new(State::Waiting(None)),
    });
    (Completer(Some(Arc::clone(&slot))), Pending(slot))
}

impl<T> Completer<T> {
    /// Whether nobody waits any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        let state = self.0.as_ref().and_then(|slot| slot.lock());
        state.is_none_or(|state| matches!(*state, State::Abandoned))
    }

    /// Leaves the answer, and wakes who waits.
    pub(crate) fn complete(mut self, answer: T) {
        self.settle(State::Done(answer));
    }

    fn settle(&mut self, to: State<T>) {
        let Some(slot) = self.0.take() else { return };
        let Some(mut state) = slot.lock() else { return };
        let waker = match &mut *state {
            State::Waiting(waker) => waker.take(),
            // `to` is dropped when the lock has been let go.
            _ => return,
        };
        *state = to;
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.settle(State::Lost);
    }
}

impl<T> Pending<T> {
    /// The answer, once; or the task is woken when it is there.
    ///
    /// # Panics
    ///
    /// If the answer has been taken.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<T, Lost>> {
        let Some(mut state) = self.0.lock() else {
            return Poll::Ready(Err(Lost));
        };
        match &mut *state {
            State::Waiting(_) if self.0.process != super::process() => Poll::Ready(Err(Lost)),
            State::Waiting(Some(waker)) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
            State::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            State::Done(_) => match std::mem::replace(&mut *state, State::Taken) {
                State::Done(answer) => Poll::Ready(Ok(answer)),
                _ => unreachable!("it was done"),
            },
            State::Lost => Poll::Ready(Err(Lost)),
            State::Abandoned | State::Taken => panic!("polled after its end"),
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        let Some(mut state) = self.0.lock() else {
            return;
        };
        let left = std::mem::replace(&mut *state, State::Abandoned);
        drop(state);
        // Not under the lock: an answer may close a directory, and a waker is anybody's code.
        drop(left);
    }
}

#[cfg(test)]
mod tests;
