//! A walk on threads of its own, a bounded number of entries ahead of who takes what it finds.

use crate::handoff::{Closed, Handoff, Taken};
use crate::summary::Summary;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Ends a walk that runs [ahead](crate::Batches) of its taker, from any thread.
#[derive(Clone)]
pub struct Canceller(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}

impl Canceller {
    /// What has not been taken is dropped and nothing more comes, but for what its taker has fetched already (some 4000 entries at most, or one
    /// batch that has more). Whoever waits for it is woken. Workers end with what they are at.
    pub fn cancel(&self) {
        (self.0)();
    }
}

/// Nothing has come in the time that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing has come in that time")
    }
}

impl std::error::Error for TimedOut {}

/// Where a walk in the background sends what it finds.
pub struct Sender<T>(Arc<Handoff<T>>);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T> Sender<T> {
    /// Hands over items of `weight` entries together; waits while the taker is too far behind. Without items nothing is done, whatever the weight.
    ///
    /// The iterator runs under the lock that the taker needs: items that take time are made before, and it must not use this sender.
    ///
    /// # Errors
    ///
    /// If nobody takes anything any more.
    pub fn send(&self, items: impl IntoIterator<Item = T>, weight: usize) -> Result<(), Closed> {
        self.0.send(items, weight)
    }

    /// Whether nobody takes anything any more.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl<T> Drop for Sender<T> {
    /// Also when a walk panics: who waits finds that out by joining it.
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Work on threads of its own, a bounded number of entries ahead of who takes what it finds: the items `T` as they come, and `R` at
/// the end. [`Batches`](crate::Batches) is one; this is for visitors that make something else of a walk. Dropping it ends the work, as
/// soon as that sends or looks whether anybody listens, and waits for it.
///
/// After fork(2) its threads are in the parent only. In the child it is dropped without waiting, and taking from it panics once what has
/// been fetched is used up: what is missing is not to be taken for the end.
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
/// let mut names = Background::start("names", |sender| Walk::new("src").run(|_| Names(sender)).summary)?;
/// let mut found = 0;
/// while let Some(name) = names.take() {
///     found += 1;
/// }
/// assert_eq!(names.summary().map(|summary| summary.entries), Some(found));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Background<T, R = Summary> {
    handoff: Arc<Handoff<T>>,
    taken: VecDeque<T>,
    walk: Option<JoinHandle<R>>,
    summary: Option<R>,
    /// The process that has the threads.
    process: u32,
}

impl<T, R> fmt::Debug for Background<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background")
            .field("taken", &self.taken.len())
            .field("running", &self.walk.is_some())
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static, R: Send + 'static> Background<T, R> {
    /// Has `walk` run on a thread of this name.
    ///
    /// # Errors
    ///
    /// If no thread can be started (`EAGAIN`).
    pub fn start(
        name: &str,
        walk: impl FnOnce(&Sender<T>) -> R + Send + 'static,
    ) -> io::Result<Self> {
        let handoff = Handoff::new();
        let sender = Sender(Arc::clone(&handoff));
        let walk = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || walk(&sender))?;
        Ok(Self {
            handoff,
            taken: VecDeque::new(),
            walk: Some(walk),
            summary: None,
            process: std::process::id(),
        })
    }

    /// The next item; waits for it at most until `deadline`.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Result<Option<T>, TimedOut> {
        if let Some(item) = self.taken.pop_front() {
            return Ok(Some(item));
        }
        self.check_process();
        match self.handoff.take(&mut self.taken, deadline) {
            Taken::Items => Ok(self.taken.pop_front()),
            // Where it was cancelled, a worker may still be in a call that takes long.
            Taken::Ended if self.handoff.wait_for_end(deadline) => {
                self.join();
                Ok(None)
            }
            Taken::TimedOut | Taken::Ended => Err(TimedOut),
        }
    }

    /// The next item; waits for it.
    pub fn take(&mut self) -> Option<T> {
        // Without a time to wait there is none to run out.
        self.next(None).ok().flatten()
    }

    /// The next item, unless none comes in that time.
    ///
    /// # Errors
    ///
    /// If nothing has come until then; it may be called again.
    pub fn next_within(&mut self, time: Duration) -> Result<Option<T>, TimedOut> {
        self.next(Instant::now().checked_add(time))
    }

    /// The next item, for a task, which is woken when there is one.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        if self.taken.is_empty() {
            self.check_process();
        }
        if self.taken.is_empty()
            && ready!(self.handoff.poll_take(&mut self.taken, cx)) == Taken::Ended
        {
            // The walk is over, also where it was cancelled: what is left is a thread that ends.
            self.join();
        }
        Poll::Ready(self.taken.pop_front())
    }

    /// What ends it, from any thread.
    pub fn canceller(&self) -> Canceller {
        let (handoff, process) = (Arc::clone(&self.handoff), self.process);
        Canceller(Arc::new(move || {
            // In a fork it may be locked for ever.
            if process == std::process::id() {
                handoff.close();
            }
        }))
    }

    /// What it has come to; `None` before the last item has been taken.
    pub fn summary(&self) -> Option<&R> {
        self.summary.as_ref()
    }

    /// Ends the walk, and waits for its threads, but not longer than that time. A thread that is in
    /// a call that takes longer ends after it; what it uses is kept until then. Returns what it has
    /// come to, if all threads have ended.
    pub fn end_within(mut self, time: Duration) -> Option<R> {
        if self.is_left_behind() {
            return None;
        }
        self.handoff.close();
        if self.handoff.wait_for_end(Some(Instant::now() + time)) {
            self.join();
        }
        self.walk = None;
        self.summary.take()
    }

    /// Ends the walk, and does not wait for it.
    #[cfg(feature = "async")]
    pub(crate) fn detach(&mut self) {
        if !self.is_left_behind() {
            self.handoff.close();
            self.walk = None;
        }
    }
}

impl<T, R> Background<T, R> {
    /// As [`summary`](Self::summary), for good.
    pub fn into_summary(mut self) -> Option<R> {
        self.summary.take()
    }

    /// Whether the threads have been left behind in the process that this one was forked from.
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
    /// Ends the walk, and waits until its threads are gone.
    fn drop(&mut self) {
        if self.is_left_behind() {
            // Nothing that could be waited for, and nothing that could be freed: it may be locked, and half changed.
            std::mem::forget(self.walk.take());
            std::mem::forget(Arc::clone(&self.handoff));
            return;
        }
        self.handoff.close();
        self.join();
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
            // Until the test lets it go on.
            let _ = wait.recv();
            drop(ended);
        })
        .unwrap();
        // After a cancellation the receiver does not wait for the thread either.
        walk.canceller().cancel();
        assert_eq!(walk.next_within(Duration::from_millis(1)), Err(TimedOut));
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
    fn in_a_fork_it_neither_waits_nor_ends_early() {
        let (go, wait) = mpsc::channel::<()>();
        let mut walk = Background::start("ringwalk-test", move |sender| {
            sender.send([1, 2], 2).unwrap();
            let _ = wait.recv();
        })
        .unwrap();
        assert_eq!(walk.take(), Some(1));
        // As a child of this process sees it.
        walk.process = 0;
        // Apart, as what is wrong waits for ever.
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
