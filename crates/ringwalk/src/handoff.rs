//! What workers have made, handed to one taker, who may be a thread or a task.
//!
//! ```text
//!   workers ── send ──> items (at most `MOST_AHEAD` entries' worth) ── take all ──> taker
//!      ^  wait when it is full                                              │
//!      └────────────────────── woken when it has been emptied ──────────────┘
//! ```
//!
//! Everything is under one lock, and whoever finds something in the state to wait for says so there before it waits: a sender is
//! counted, the taker leaves how it is to be woken. So nobody is woken who does not wait, and nobody who waits is forgotten.
//! The taker takes all there is at once. When it is slower than the workers, it never waits and nobody makes a system call; when
//! it is faster, what comes while it wakes up is taken together.

use crate::timed_wait::wait_at_most;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Entries that wait to be taken, unless one batch has more. With metadata and paths they take about 1 MiB; as many more the taker has.
const MOST_AHEAD: usize = 4096;

/// A taker that finds nothing is not woken for each batch that comes, as long as these come quickly: waking it takes longer than reading
/// a small directory does. It is left alone until so many entries' worth has come, or so much time has passed. Of 84 000 entries in 5100
/// directories, by two workers on two processors: 125 switches of the taker instead of 3970, and a tenth less processor time.
const ENOUGH: usize = 1024;
const PATIENCE: Duration = Duration::from_millis(1);

/// Nobody takes anything any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody takes anything any more")
    }
}

impl std::error::Error for Closed {}

/// How the taker is to be woken.
enum Waiting {
    No,
    /// For so many entries' worth.
    Thread(usize),
    Task(Waker),
}

struct State<T> {
    items: VecDeque<T>,
    /// Entries' worth of all items.
    weight: usize,
    /// Nothing more will be sent.
    ended: bool,
    /// Nothing more will be taken.
    closed: bool,
    taker: Waiting,
    senders_waiting: usize,
}

/// The place where items change hands.
pub(crate) struct Handoff<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

/// What taking has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Items,
    Ended,
    TimedOut,
}

impl<T> Handoff<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                weight: 0,
                ended: false,
                closed: false,
                taker: Waiting::No,
                senders_waiting: 0,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing that panics is done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over items of `weight` entries together; waits while there is no room for them.
    pub(crate) fn send(
        &self,
        items: impl IntoIterator<Item = T>,
        weight: usize,
    ) -> Result<(), Closed> {
        let mut state = self.lock();
        while !state.closed && state.weight > 0 && state.weight + weight > MOST_AHEAD {
            state.senders_waiting += 1;
            state = self
                .emptied
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.senders_waiting -= 1;
        }
        if state.closed {
            return Err(Closed);
        }
        let before = state.items.len();
        state.items.extend(items);
        if state.items.len() == before {
            // Its weight would never be taken, and in the end there would be no room for anything.
            return Ok(());
        }
        state.weight += weight.max(1);
        self.wake(state);
        Ok(())
    }

    /// Nothing more will be sent.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        self.wake(state);
    }

    /// Nothing more will be taken: what is there is dropped, and senders are told.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.weight = 0;
        // Dropped outside of the lock.
        let _items = std::mem::take(&mut state.items);
        self.emptied.notify_all();
        self.wake(state);
    }

    /// Whether nothing more will be taken.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn wake(&self, mut state: MutexGuard<'_, State<T>>) {
        let over = state.ended || state.closed;
        if let Waiting::Thread(enough) = state.taker
            && state.weight < enough
            && !over
        {
            return;
        }
        let taker = std::mem::replace(&mut state.taker, Waiting::No);
        drop(state);
        match taker {
            Waiting::No => {}
            Waiting::Thread(_) => self.filled.notify_one(),
            Waiting::Task(waker) => waker.wake(),
        }
    }

    /// Waits until all senders have ended, at most until `deadline`. Returns whether they have.
    pub(crate) fn wait_for_end(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while !state.ended {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            state.taker = Waiting::Thread(usize::MAX);
            state = wait_at_most(&self.filled, state, left);
            state.taker = Waiting::No;
        }
        true
    }

    /// Moves all items into `into`, which is empty; waits for the first, at most until `deadline`.
    pub(crate) fn take(&self, into: &mut VecDeque<T>, deadline: Option<Instant>) -> Taken {
        let mut state = self.lock();
        let mut enough = ENOUGH;
        loop {
            if let Some(taken) = self.take_now(&mut state, into) {
                return taken;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Taken::TimedOut;
            }
            let patience = (enough > 1).then_some(PATIENCE);
            let time = patience.into_iter().chain(left).min();
            state.taker = Waiting::Thread(enough);
            state = wait_at_most(&self.filled, state, time);
            state.taker = Waiting::No;
            // Nothing comes quickly: now for whatever comes.
            enough = 1;
        }
    }

    /// The same for a task, which is woken when there is something. Where it has been closed that is not before its senders have ended: a
    /// task that waited for them otherwise would block its thread.
    pub(crate) fn poll_take(&self, into: &mut VecDeque<T>, cx: &Context<'_>) -> Poll<Taken> {
        let mut state = self.lock();
        if let Some(taken) = self.take_now(&mut state, into)
            && (taken == Taken::Items || state.ended)
        {
            return Poll::Ready(taken);
        }
        state.taker = Waiting::Task(cx.waker().clone());
        Poll::Pending
    }

    fn take_now(&self, state: &mut State<T>, into: &mut VecDeque<T>) -> Option<Taken> {
        if !state.items.is_empty() {
            std::mem::swap(&mut state.items, into);
            state.weight = 0;
            if state.senders_waiting > 0 {
                self.emptied.notify_all();
            }
            return Some(Taken::Items);
        }
        (state.ended || state.closed).then_some(Taken::Ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::thread;

    fn take(handoff: &Handoff<u32>) -> Option<Vec<u32>> {
        let mut items = VecDeque::new();
        match handoff.take(&mut items, None) {
            Taken::Items => Some(items.into()),
            Taken::Ended => None,
            Taken::TimedOut => unreachable!("no deadline was given"),
        }
    }

    #[test]
    fn all_that_is_sent_is_taken_and_then_it_ends() {
        let handoff = Handoff::new();
        let sender = Arc::clone(&handoff);
        let senders = thread::spawn(move || {
            thread::scope(|scope| {
                for first in [0, 1] {
                    let sender = &sender;
                    scope.spawn(move || {
                        for number in 0..5000 {
                            sender.send([first + 2 * number], MOST_AHEAD / 8).unwrap();
                        }
                    });
                }
            });
            sender.end();
        });
        let mut found = Vec::new();
        while let Some(items) = take(&handoff) {
            assert!(items.len() <= 8, "{} at a time", items.len());
            found.extend(items);
        }
        senders.join().unwrap();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..10_000));
    }

    #[test]
    fn what_weighs_more_than_there_is_room_for_goes_alone() {
        let handoff = Handoff::new();
        handoff.send([1], 2 * MOST_AHEAD).unwrap();
        assert_eq!(take(&handoff), Some(vec![1]));
        // Once it is taken there is room again.
        handoff.send([2], MOST_AHEAD).unwrap();
        assert_eq!(take(&handoff), Some(vec![2]));
    }

    #[test]
    fn nothing_weighs_nothing() {
        let handoff = Handoff::<u32>::new();
        for _ in 0..3 {
            handoff.send([], MOST_AHEAD).unwrap();
        }
        handoff.send([1], MOST_AHEAD).unwrap();
        assert_eq!(take(&handoff), Some(vec![1]));
    }

    #[test]
    fn a_sender_that_waits_is_told_when_it_is_closed() {
        let handoff = Handoff::new();
        handoff.send([1], MOST_AHEAD).unwrap();
        let sender = Arc::clone(&handoff);
        let sending = thread::spawn(move || sender.send([2], 1));
        while handoff.lock().senders_waiting == 0 {
            thread::yield_now();
        }
        handoff.close();
        assert_eq!(sending.join().unwrap(), Err(Closed));
        assert_eq!(take(&handoff), None);
    }

    #[test]
    fn a_taker_waits_for_enough_and_then_for_anything() {
        let handoff = Handoff::new();
        let (sender, first) = (Arc::clone(&handoff), Instant::now());
        let sending = thread::spawn(move || {
            // Too little to be woken for, and nothing more comes.
            sender.send([1], 1).unwrap();
            thread::sleep(20 * PATIENCE);
            sender.send([2], 1).unwrap();
            thread::sleep(20 * PATIENCE);
            sender.send([3], ENOUGH).unwrap();
        });
        for number in 1..=3 {
            assert_eq!(take(&handoff), Some(vec![number]));
        }
        assert!(first.elapsed() >= 40 * PATIENCE);
        sending.join().unwrap();

        handoff.lock().taker = Waiting::Thread(ENOUGH);
        handoff.send([4], ENOUGH - 1).unwrap();
        assert!(matches!(handoff.lock().taker, Waiting::Thread(_)));
        handoff.send([5], 1).unwrap();
        assert!(matches!(handoff.lock().taker, Waiting::No));
    }

    #[test]
    fn waiting_ends_at_the_deadline() {
        let handoff = Handoff::<u32>::new();
        let deadline = Instant::now() + Duration::from_millis(20);
        let taken = handoff.take(&mut VecDeque::new(), Some(deadline));
        assert_eq!(taken, Taken::TimedOut);
        assert!(Instant::now() >= deadline);
    }

    #[test]
    fn a_task_is_woken_for_items_and_for_the_end() {
        struct Count(AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let cx = Context::from_waker(&waker);
        let (handoff, mut items) = (Handoff::new(), VecDeque::new());
        assert_eq!(handoff.poll_take(&mut items, &cx), Poll::Pending);
        handoff.send([1], 1).unwrap();
        handoff.send([2], 1).unwrap();
        // Not for the second, as it does not wait any more.
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        let taken = handoff.poll_take(&mut items, &cx);
        assert_eq!((taken, items.len()), (Poll::Ready(Taken::Items), 2));
        items.clear();
        assert_eq!(handoff.poll_take(&mut items, &cx), Poll::Pending);
        handoff.end();
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        let taken = handoff.poll_take(&mut items, &cx);
        assert_eq!(taken, Poll::Ready(Taken::Ended));
    }

    #[test]
    fn a_task_waits_for_senders_to_end_after_closing() {
        let cx = Context::from_waker(Waker::noop());
        let (handoff, mut items) = (Handoff::new(), VecDeque::new());
        handoff.send([1], 1).unwrap();
        handoff.close();
        assert_eq!(handoff.poll_take(&mut items, &cx), Poll::Pending);
        assert!(items.is_empty());
        handoff.end();
        let taken = handoff.poll_take(&mut items, &cx);
        assert_eq!(taken, Poll::Ready(Taken::Ended));
    }
}
