//! The slot for the answer to one request, and its two ends.
//!
//! ```text
//!                       complete                    poll
//!   Waiting(waker) ─────────────────> Done(answer) ──────> Taken
//!     │        │
//!     │        └── Completer dropped: the request was lost ──> Lost
//!     └── Pending dropped: nobody waits ──> Abandoned ── complete ──> the answer is dropped
//! ```
//!
//! Both ends hold the slot, and every transition happens under its lock. So whichever end goes
//! first, the answer and all that it owns (buffer, descriptor) is dropped exactly once. It is never
//! dropped while the kernel or a thread works on it: until then the request owns everything, and
//! the slot nothing.
//!
//! After fork(2) the threads exist only in the parent: in the child nobody completes earlier
//! requests. So a slot knows the process that made it, and in any other process a wait ends at
//! once. In the child a thread of the parent may even hold the lock, so it is only tried there.

use ringwalk_sys::sync::lock;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::task::{Context, Poll, Waker};

/// The request was not answered: its thread panicked, or is in the process that this one was forked
/// from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

#[derive(Debug)]
enum AnswerState<T> {
    Waiting(Option<Waker>),
    Done(T),
    Lost,
    Abandoned,
    Taken,
}

#[derive(Debug)]
struct AnswerSlot<T> {
    process: u32,
    state: Mutex<AnswerState<T>>,
}

impl<T> AnswerSlot<T> {
    /// Locks the slot. Returns `None` if a thread that this process does not have holds the lock.
    fn lock(&self) -> Option<MutexGuard<'_, AnswerState<T>>> {
        if self.process == super::process() {
            return Some(lock(&self.state));
        }
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The end of the thread that answers. Dropping it without an answer marks the request as lost.
#[derive(Debug)]
pub(crate) struct Completer<T>(Option<Arc<AnswerSlot<T>>>);

/// The end of the task that waits. Dropping it says that nobody wants the answer.
#[derive(Debug)]
pub(crate) struct Pending<T>(Arc<AnswerSlot<T>>);

/// Creates a slot, and returns both of its ends.
pub(crate) fn answer_slot<T>() -> (Completer<T>, Pending<T>) {
    let slot = Arc::new(AnswerSlot {
        process: super::process(),
        state: Mutex::new(AnswerState::Waiting(None)),
    });
    (Completer(Some(Arc::clone(&slot))), Pending(slot))
}

impl<T> Completer<T> {
    /// Returns true if nobody waits for the answer.
    pub(crate) fn is_abandoned(&self) -> bool {
        let state = self.0.as_ref().and_then(|slot| slot.lock());
        state.is_none_or(|state| matches!(*state, AnswerState::Abandoned))
    }

    /// Leaves the answer, and wakes the task that waits.
    pub(crate) fn complete(mut self, answer: T) {
        self.settle(AnswerState::Done(answer));
    }

    fn settle(&mut self, to: AnswerState<T>) {
        let Some(slot) = self.0.take() else { return };
        let Some(mut state) = slot.lock() else { return };
        let waker = match &mut *state {
            AnswerState::Waiting(waker) => waker.take(),
            // `to` is dropped after the lock has been released.
            AnswerState::Done(_)
            | AnswerState::Lost
            | AnswerState::Abandoned
            | AnswerState::Taken => return,
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
        self.settle(AnswerState::Lost);
    }
}

impl<T> Pending<T> {
    /// Returns the answer, once. Before there is one, has the task woken when it comes.
    ///
    /// # Panics
    ///
    /// If the answer has been taken.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<T, Lost>> {
        let Some(mut state) = self.0.lock() else {
            return Poll::Ready(Err(Lost));
        };
        match &mut *state {
            AnswerState::Waiting(_) if self.0.process != super::process() => Poll::Ready(Err(Lost)),
            AnswerState::Waiting(Some(waker)) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
            AnswerState::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            AnswerState::Done(_) => {
                let done = std::mem::replace(&mut *state, AnswerState::Taken);
                let AnswerState::Done(answer) = done else {
                    unreachable!("it was done");
                };
                Poll::Ready(Ok(answer))
            }
            AnswerState::Lost => Poll::Ready(Err(Lost)),
            AnswerState::Abandoned | AnswerState::Taken => panic!("polled after its end"),
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        let Some(mut state) = self.0.lock() else {
            return;
        };
        let left = std::mem::replace(&mut *state, AnswerState::Abandoned);
        drop(state);
        // After the lock has been released: an answer may close a directory, and a waker may run
        // any code.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counter() -> (Arc<Counter>, Waker) {
        let counter = Arc::new(Counter::default());
        (Arc::clone(&counter), Waker::from(counter))
    }

    fn woken(counter: &Counter) -> usize {
        counter.0.load(Ordering::Relaxed)
    }

    #[test]
    fn an_answer_wakes_who_polled_last_and_is_taken_once() {
        let (completer, mut pending) = answer_slot();
        let (first, second) = (counter(), counter());
        for waker in [&first.1, &second.1] {
            assert!(pending.poll(&Context::from_waker(waker)).is_pending());
        }
        completer.complete(5);
        assert_eq!((woken(&first.0), woken(&second.0)), (0, 1));
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(pending.poll(&cx), Poll::Ready(Ok(5)));
    }

    #[test]
    fn an_answer_that_was_there_first_wakes_nobody() {
        let (completer, mut pending) = answer_slot();
        completer.complete("there");
        let (count, waker) = counter();
        let answer = pending.poll(&Context::from_waker(&waker));
        assert_eq!((answer, woken(&count)), (Poll::Ready(Ok("there")), 0));
    }

    #[test]
    fn what_is_answered_to_nobody_is_dropped() {
        for abandoned_first in [false, true] {
            let owned = Arc::new(());
            let (completer, pending) = answer_slot();
            if abandoned_first {
                drop(pending);
                assert!(completer.is_abandoned());
                completer.complete(Arc::clone(&owned));
            } else {
                assert!(!completer.is_abandoned());
                completer.complete(Arc::clone(&owned));
                assert_eq!(Arc::strong_count(&owned), 2);
                drop(pending);
            }
            assert_eq!(Arc::strong_count(&owned), 1);
        }
    }

    #[test]
    fn a_request_that_is_dropped_is_told_as_lost() {
        let (completer, mut pending) = answer_slot::<u8>();
        let (count, waker) = counter();
        let cx = Context::from_waker(&waker);
        assert!(pending.poll(&cx).is_pending());
        drop(completer);
        assert_eq!(woken(&count), 1);
        assert_eq!(pending.poll(&cx), Poll::Ready(Err(Lost)));
    }

    /// As in a forked child: another process made the slot, and its lock may never be released.
    #[test]
    fn nobody_waits_for_the_threads_of_another_process() {
        let slot = Arc::new(AnswerSlot {
            process: super::super::process() + 1,
            state: Mutex::new(AnswerState::<u8>::Waiting(None)),
        });
        let mut pending = Pending(Arc::clone(&slot));
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(pending.poll(&cx), Poll::Ready(Err(Lost)));
        let held = slot.state.lock().unwrap();
        assert_eq!(pending.poll(&cx), Poll::Ready(Err(Lost)));
        drop(pending);
        drop(held);
    }

    #[test]
    fn both_ends_on_threads_of_their_own() {
        for round in 0..if cfg!(miri) { 20 } else { 2000 } {
            let (completer, mut pending) = answer_slot();
            let owned = Arc::new(round);
            let answer = Arc::clone(&owned);
            std::thread::scope(|scope| {
                scope.spawn(move || completer.complete(answer));
                scope.spawn(move || {
                    let cx = Context::from_waker(Waker::noop());
                    // The future is dropped at different points.
                    for _ in 0..round % 7 {
                        if let Poll::Ready(answer) = pending.poll(&cx) {
                            assert_eq!(answer.as_deref(), Ok(&round));
                            break;
                        }
                    }
                });
            });
            assert_eq!(Arc::strong_count(&owned), 1);
        }
    }
}
