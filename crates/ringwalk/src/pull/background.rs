//! A walk on threads of its own, a bounded number of entries ahead of its consumer.

use crate::pull::canceller::Canceller;
use crate::pull::channel::{BoundedChannel, Closed};
use crate::pull::next::Next;
use crate::visit::summary::Summary;
use crate::walk::run::free_records_of_threads;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The sending end of a walk in the background.
pub struct Sender<T>(Arc<BoundedChannel<T>>);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T> Sender<T> {
    /// Sends items that are worth `weight` entries together, and waits while the consumer is too
    /// far behind. Without items nothing is done, whatever the weight.
    ///
    /// The iterator runs under the lock that the consumer needs. So make items that take time
    /// beforehand; and the iterator must not use this sender.
    ///
    /// # Errors
    ///
    /// If the receiver was dropped.
    pub fn send(&self, items: impl IntoIterator<Item = T>, weight: usize) -> Result<(), Closed> {
        self.0.send(items, weight)
    }

    /// Returns true if the receiver was dropped.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl<T> Drop for Sender<T> {
    /// Ends the channel, also when a walk panics: the consumer finds out by joining its thread.
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Work on threads of its own, a bounded number of entries ahead of its consumer, which gets items
/// `T` as they come, and `R` at the end.
///
/// [`Batches`](crate::Batches) is built on it. Use it for visitors that make something else of a
/// walk. Dropping it ends the work as soon as the work sends an item or asks whether the receiver
/// was dropped, and waits for that.
///
/// After fork(2) the threads exist only in the parent. In the child a drop does not wait. Taking an
/// item there panics once the items that were fetched before are used up: a panic cannot be
/// mistaken for the end.
///
/// ```
/// use ringwalk::{Background, Batch, Flow, Sender, Visitor, Walk};
///
/// struct Names<'s>(&'s Sender<Vec<u8>>);
///
/// impl Visitor for Names<'_> {
///     type State = ();
///     fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
///         let names: Vec<_> = batch.entries().map(|entry| entry.name().to_owned()).collect();
///         match self.0.send(names, batch.len()) {
///             Ok(()) => Flow::Continue,
///             Err(_) => Flow::Stop,
///         }
///     }
/// }
///
/// let mut names = Background::start("names", |sender| {
///     Walk::new("src").run(|_| Names(sender)).summary
/// })?;
/// let mut found = 0;
/// while let Some(name) = names.take() {
///     found += 1;
/// }
/// assert_eq!(names.summary().map(|summary| summary.entries), Some(found));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Background<T, R = Summary> {
    channel: Arc<BoundedChannel<T>>,
    received: VecDeque<T>,
    walk: Option<JoinHandle<R>>,
    summary: Option<R>,
    /// The process that has the threads.
    process: u32,
}

impl<T, R> fmt::Debug for Background<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background")
            .field("received", &self.received.len())
            .field("running", &self.walk.is_some())
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static, R: Send + 'static> Background<T, R> {
    /// Runs `walk` on a new thread with this name.
    ///
    /// # Errors
    ///
    /// If no thread can be started (`EAGAIN`).
    pub fn start(
        name: &str,
        walk: impl FnOnce(&Sender<T>) -> R + Send + 'static,
    ) -> io::Result<Self> {
        let channel = BoundedChannel::new();
        let sender = Sender(Arc::clone(&channel));
        let walk = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || walk(&sender))?;
        Ok(Self {
            channel,
            received: VecDeque::new(),
            walk: Some(walk),
            summary: None,
            process: std::process::id(),
        })
    }

    /// Returns the receiver of these items, with no work behind it.
    pub(crate) fn ended(items: VecDeque<T>) -> Self {
        let channel = BoundedChannel::new();
        channel.end();
        Self {
            channel,
            received: items,
            walk: None,
            summary: None,
            process: std::process::id(),
        }
    }

    /// Returns the next item, and waits for it at most until `deadline`.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Next<T> {
        if let Some(item) = self.received.pop_front() {
            return Next::Item(item);
        }
        self.check_process();
        match self.channel.take(&mut self.received, deadline) {
            Next::End if self.channel.wait_for_end(deadline) => {
                self.join();
                Next::End
            }
            // The walk was cancelled, and a worker is still in a call that takes long.
            Next::End => Next::Pending,
            next => next,
        }
    }

    /// Returns the next item, and waits for it; `None` at the end.
    pub fn take(&mut self) -> Option<T> {
        // Without a deadline the answer is never `Pending`.
        self.next(None).item()
    }

    /// Returns the next item, and waits for it no longer than `time`.
    pub fn next_within(&mut self, time: Duration) -> Next<T> {
        self.next(Instant::now().checked_add(time))
    }

    /// Returns the next item for a task, which is woken when there is one.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.received.pop_front() {
            return Poll::Ready(Some(item));
        }
        self.check_process();
        let next = ready!(self.channel.poll_take(&mut self.received, cx));
        if next.is_none() {
            // All senders are done, also in a walk that was cancelled: the thread is about to end.
            self.join();
        }
        Poll::Ready(next)
    }

    /// Returns a handle that ends the work, from any thread.
    pub fn canceller(&self) -> Canceller {
        let (channel, process) = (Arc::clone(&self.channel), self.process);
        Canceller::new(move || {
            // In a forked child the channel may be locked for ever.
            if process == std::process::id() {
                channel.close();
            }
        })
    }

    /// Returns the result of the work; `None` until the end has been taken.
    pub fn summary(&self) -> Option<&R> {
        self.summary.as_ref()
    }

    /// Ends the work, and waits for its threads, but no longer than `time`. A thread that is in a
    /// longer call ends after it; the data that it uses is kept until then. Returns the result of
    /// the work if all threads have ended.
    pub fn end_within(mut self, time: Duration) -> Option<R> {
        if self.is_left_behind() {
            return None;
        }
        self.channel.close();
        if self.channel.wait_for_end(Some(Instant::now() + time)) {
            self.join();
        }
        self.walk = None;
        self.summary.take()
    }

    /// Returns true if the work was ended before its end, so that items may have been dropped.
    pub(crate) fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// Ends the work without waiting for it.
    #[cfg(feature = "async")]
    pub(crate) fn detach(&mut self) {
        if !self.is_left_behind() {
            self.channel.close();
            self.walk = None;
        }
    }
}

impl<T, R> Background<T, R> {
    /// Returns the result of the work, as [`summary`](Self::summary) does, without a copy.
    pub fn into_summary(mut self) -> Option<R> {
        self.summary.take()
    }

    /// Returns true if the threads were left behind in the process that this one was forked from.
    fn is_left_behind(&self) -> bool {
        self.walk.is_some() && self.process != std::process::id()
    }

    fn check_process(&self) {
        assert!(
            !self.is_left_behind(),
            "this walk was begun before this process was forked: its threads are not in it"
        );
    }

    fn join(&mut self) {
        match self.walk.take().map(JoinHandle::join) {
            Some(Ok(summary)) => self.summary = Some(summary),
            Some(Err(panic)) if !std::thread::panicking() => std::panic::resume_unwind(panic),
            None | Some(Err(_)) => {}
        }
    }
}

impl<T, R> Drop for Background<T, R> {
    /// Ends the work, and waits until its threads are gone.
    fn drop(&mut self) {
        if self.is_left_behind() {
            // There is no thread to wait for, and nothing can be freed: it may be locked and half
            // changed.
            std::mem::forget(self.walk.take());
            std::mem::forget(Arc::clone(&self.channel));
            return;
        }
        self.channel.close();
        self.join();
        // Also frees the records of consumer threads that have ended since the walk.
        free_records_of_threads();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;

    #[test]
    fn a_thread_that_hangs_is_not_waited_for() {
        let (go, wait) = mpsc::channel::<()>();
        let (ended, end) = mpsc::channel::<()>();
        let mut walk = Background::<(), ()>::start("ringwalk-test", move |_| {
            // Waits until the test lets it go on.
            let _ = wait.recv();
            drop(ended);
        })
        .unwrap();
        // After a cancellation the receiver does not wait for the thread either.
        walk.canceller().cancel();
        assert_eq!(walk.next_within(Duration::from_millis(1)), Next::Pending);
        assert_eq!(walk.end_within(Duration::from_millis(1)), None);
        assert_eq!(end.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(go);
        assert_eq!(end.recv(), Err(mpsc::RecvError));
    }

    #[test]
    fn a_thread_that_ends_in_time_is_waited_for() {
        let walk = Background::<(), u8>::start("ringwalk-test", |sender| {
            while !sender.is_closed() {
                std::thread::yield_now();
            }
            7
        })
        .unwrap();
        assert_eq!(walk.end_within(Duration::from_secs(20)), Some(7));
    }

    #[test]
    fn without_work_it_gives_its_items_and_ends() {
        let mut walk = Background::<u8, ()>::ended([1, 2].into());
        assert_eq!(
            (walk.take(), walk.take(), walk.take()),
            (Some(1), Some(2), None)
        );
        assert_eq!((walk.take(), walk.summary()), (None, None));
        drop(walk);
        let walk = Background::<u8, ()>::ended([1].into());
        assert_eq!(walk.end_within(Duration::from_secs(20)), None);
    }

    #[test]
    fn in_a_fork_it_neither_waits_nor_ends_early() {
        let (go, wait) = mpsc::channel::<()>();
        let mut walk = Background::start("ringwalk-test", move |sender| {
            sender.send([1, 2], 2).unwrap();
            let _ = wait.recv();
        })
        .unwrap();
        assert_eq!(walk.take(), Some(1));
        // A child of this process would see it like this.
        walk.process = 0;
        // On a thread of its own, because a broken implementation waits for ever.
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let fetched = walk.take();
            let taken = catch_unwind(AssertUnwindSafe(|| walk.take()));
            let cx = Context::from_waker(std::task::Waker::noop());
            let polled = catch_unwind(AssertUnwindSafe(|| walk.poll_next(&cx)));
            drop(walk);
            sender.send((fetched, taken.is_err(), polled.is_err()))
        });
        let found = ended.recv_timeout(Duration::from_secs(20));
        assert_eq!(found, Ok((Some(2), true, true)));
        drop(go);
    }
}
