//! The bounded channel from the workers of a walk to one consumer, which is a thread or a task.
//!
//! ```text
//!   workers ── send ──> items (at most `MOST_AHEAD` entries' worth) ── take all ──> consumer
//!      ^  wait while it is full                                              │
//!      └────────────────────── woken when it has been emptied ───────────────┘
//! ```
//!
//! One lock protects everything. A sender or consumer registers under that lock before it waits: a
//! sender is counted, and the consumer leaves how it is to be woken. So no wake-up is sent to a
//! thread that does not wait, and no thread that waits is forgotten.
//!
//! The consumer takes all items at once. A consumer that is slower than the workers never waits,
//! and nobody makes a system call. For a consumer that is faster, the items that come while it
//! wakes up are taken together.

use crate::pull::next::Next;
use ringwalk_sys::sync::{IgnorePoison, lock, wait_at_most};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Entries that wait in the channel at most, unless one batch has more. With metadata and paths
/// they take about 1 MiB. The consumer holds as many more.
const MOST_AHEAD: usize = 4096;

/// A waiting consumer is woken when this many entries' worth has come, or after [`PATIENCE`].
///
/// Waking the consumer takes longer than reading a small directory, so it is not woken for each
/// batch while batches come quickly. Measured with 84 000 entries in 5100 directories, two workers
/// and two processors: 125 context switches of the consumer instead of 3970, and a tenth less
/// processor time.
const ENOUGH: usize = 1024;

/// How long a waiting consumer lets items gather.
const PATIENCE: Duration = Duration::from_millis(1);

/// The receiver was dropped: nothing that is sent will be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the receiver was dropped")
    }
}

impl std::error::Error for Closed {}

/// How the consumer is to be woken.
enum Waiting {
    No,
    /// A thread, when this many entries' worth has come.
    Thread(usize),
    Task(Waker),
}

struct ChannelState<T> {
    items: VecDeque<T>,
    /// How many entries all items are worth.
    weight: usize,
    /// All senders are done.
    ended: bool,
    /// The consumer takes no more items.
    closed: bool,
    consumer: Waiting,
    senders_waiting: usize,
}

/// A bounded channel: many senders, one consumer.
pub(crate) struct BoundedChannel<T> {
    state: Mutex<ChannelState<T>>,
    filled: Condvar,
    emptied: Condvar,
}

impl<T> BoundedChannel<T> {
    /// Creates an empty channel.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(ChannelState {
                items: VecDeque::new(),
                weight: 0,
                ended: false,
                closed: false,
                consumer: Waiting::No,
                senders_waiting: 0,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, ChannelState<T>> {
        lock(&self.state)
    }

    /// Sends items that are worth `weight` entries together, and waits while there is no room.
    ///
    /// # Errors
    ///
    /// If the consumer takes no more items.
    pub(crate) fn send(
        &self,
        items: impl IntoIterator<Item = T>,
        weight: usize,
    ) -> Result<(), Closed> {
        let mut state = self.lock();
        while !state.closed && state.weight > 0 && state.weight + weight > MOST_AHEAD {
            state.senders_waiting += 1;
            state = self.emptied.wait(state).ignore_poison();
            state.senders_waiting -= 1;
        }
        if state.closed {
            return Err(Closed);
        }
        let before = state.items.len();
        state.items.extend(items);
        if state.items.len() == before {
            // Weight without items would never be taken out, and would fill the channel in the end.
            return Ok(());
        }
        state.weight += weight.max(1);
        self.wake(state);
        Ok(())
    }

    /// Notes that all senders are done.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        self.wake(state);
    }

    /// Notes that the consumer takes no more items: drops what is in the channel, and wakes all who
    /// wait.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.weight = 0;
        // Dropped after the lock has been released.
        let _items = std::mem::take(&mut state.items);
        self.emptied.notify_all();
        self.wake(state);
    }

    /// Returns true if the consumer takes no more items.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn wake(&self, mut state: MutexGuard<'_, ChannelState<T>>) {
        let over = state.ended || state.closed;
        if let Waiting::Thread(enough) = state.consumer
            && state.weight < enough
            && !over
        {
            return;
        }
        let consumer = std::mem::replace(&mut state.consumer, Waiting::No);
        drop(state);
        match consumer {
            Waiting::No => {}
            Waiting::Thread(_) => self.filled.notify_one(),
            Waiting::Task(waker) => waker.wake(),
        }
    }

    /// Waits until all senders are done, at most until `deadline`. Returns true if they are.
    pub(crate) fn wait_for_end(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while !state.ended {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            state.consumer = Waiting::Thread(usize::MAX);
            state = wait_at_most(&self.filled, state, left);
            state.consumer = Waiting::No;
        }
        true
    }

    /// Returns the first item, and moves all others into `rest`, which is empty. Waits for items at
    /// most until `deadline`.
    pub(crate) fn take(&self, rest: &mut VecDeque<T>, deadline: Option<Instant>) -> Next<T> {
        let mut state = self.lock();
        let mut enough = ENOUGH;
        loop {
            match self.take_now(&mut state, rest) {
                Next::Pending => {}
                next => return next,
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Next::Pending;
            }
            let patience = (enough > 1).then_some(PATIENCE);
            let time = patience.into_iter().chain(left).min();
            state.consumer = Waiting::Thread(enough);
            state = wait_at_most(&self.filled, state, time);
            state.consumer = Waiting::No;
            // Items do not come quickly: from now on the first one ends the wait.
            enough = 1;
        }
    }

    /// As [`take`](Self::take), for a task, which is woken when there are items.
    ///
    /// In a closed channel the end comes only when all senders are done. Otherwise the task would
    /// wait for them later, and block its thread.
    pub(crate) fn poll_take(&self, rest: &mut VecDeque<T>, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.lock();
        match self.take_now(&mut state, rest) {
            Next::Item(item) => return Poll::Ready(Some(item)),
            Next::End if state.ended => return Poll::Ready(None),
            Next::End | Next::Pending => {}
        }
        state.consumer = Waiting::Task(cx.waker().clone());
        Poll::Pending
    }

    fn take_now(&self, state: &mut ChannelState<T>, rest: &mut VecDeque<T>) -> Next<T> {
        if let Some(first) = state.items.pop_front() {
            std::mem::swap(&mut state.items, rest);
            state.weight = 0;
            if state.senders_waiting > 0 {
                self.emptied.notify_all();
            }
            return Next::Item(first);
        }
        if state.ended || state.closed {
            Next::End
        } else {
            Next::Pending
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::thread;

    fn take(channel: &BoundedChannel<u32>) -> Option<Vec<u32>> {
        let mut items = VecDeque::new();
        match channel.take(&mut items, None) {
            Next::Item(first) => {
                items.push_front(first);
                Some(items.into())
            }
            Next::End => None,
            Next::Pending => unreachable!("no deadline was given"),
        }
    }

    #[test]
    fn all_that_is_sent_is_taken_and_then_it_ends() {
        let channel = BoundedChannel::new();
        let sender = Arc::clone(&channel);
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
        while let Some(items) = take(&channel) {
            assert!(items.len() <= 8, "{} at a time", items.len());
            found.extend(items);
        }
        senders.join().unwrap();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..10_000));
    }

    #[test]
    fn what_weighs_more_than_there_is_room_for_goes_alone() {
        let channel = BoundedChannel::new();
        channel.send([1], 2 * MOST_AHEAD).unwrap();
        assert_eq!(take(&channel), Some(vec![1]));
        // Once the first item is taken there is room again.
        channel.send([2], MOST_AHEAD).unwrap();
        assert_eq!(take(&channel), Some(vec![2]));
    }

    #[test]
    fn nothing_weighs_nothing() {
        let channel = BoundedChannel::<u32>::new();
        for _ in 0..3 {
            channel.send([], MOST_AHEAD).unwrap();
        }
        channel.send([1], MOST_AHEAD).unwrap();
        assert_eq!(take(&channel), Some(vec![1]));
    }

    #[test]
    fn a_sender_that_waits_learns_that_the_channel_is_closed() {
        let channel = BoundedChannel::new();
        channel.send([1], MOST_AHEAD).unwrap();
        let sender = Arc::clone(&channel);
        let sending = thread::spawn(move || sender.send([2], 1));
        while channel.lock().senders_waiting == 0 {
            thread::yield_now();
        }
        channel.close();
        assert_eq!(sending.join().unwrap(), Err(Closed));
        assert_eq!(take(&channel), None);
    }

    #[test]
    fn a_consumer_waits_for_enough_and_then_for_anything() {
        let channel = BoundedChannel::new();
        let (sender, first) = (Arc::clone(&channel), Instant::now());
        let sending = thread::spawn(move || {
            // Too little to be woken for, and no more comes.
            sender.send([1], 1).unwrap();
            thread::sleep(20 * PATIENCE);
            sender.send([2], 1).unwrap();
            thread::sleep(20 * PATIENCE);
            sender.send([3], ENOUGH).unwrap();
        });
        for number in 1..=3 {
            assert_eq!(take(&channel), Some(vec![number]));
        }
        assert!(first.elapsed() >= 40 * PATIENCE);
        sending.join().unwrap();

        channel.lock().consumer = Waiting::Thread(ENOUGH);
        channel.send([4], ENOUGH - 1).unwrap();
        assert!(matches!(channel.lock().consumer, Waiting::Thread(_)));
        channel.send([5], 1).unwrap();
        assert!(matches!(channel.lock().consumer, Waiting::No));
    }

    #[test]
    fn waiting_ends_at_the_deadline() {
        let channel = BoundedChannel::<u32>::new();
        let deadline = Instant::now() + Duration::from_millis(20);
        let taken = channel.take(&mut VecDeque::new(), Some(deadline));
        assert_eq!(taken, Next::Pending);
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
        let (channel, mut items) = (BoundedChannel::new(), VecDeque::new());
        assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
        channel.send([1], 1).unwrap();
        channel.send([2], 1).unwrap();
        // The task is not woken for the second item, as it does not wait any more.
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        let taken = channel.poll_take(&mut items, &cx);
        assert_eq!(
            (taken, &items),
            (Poll::Ready(Some(1)), &VecDeque::from([2]))
        );
        items.clear();
        assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
        channel.end();
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        let taken = channel.poll_take(&mut items, &cx);
        assert_eq!(taken, Poll::Ready(None));
    }

    #[test]
    fn a_task_waits_for_senders_to_end_after_closing() {
        let cx = Context::from_waker(Waker::noop());
        let (channel, mut items) = (BoundedChannel::new(), VecDeque::new());
        channel.send([1], 1).unwrap();
        channel.close();
        assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
        assert!(items.is_empty());
        channel.end();
        let taken = channel.poll_take(&mut items, &cx);
        assert_eq!(taken, Poll::Ready(None));
    }
}
