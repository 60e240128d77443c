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
