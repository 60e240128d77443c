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
        })
    }

    /// The next item; waits for it at most until `deadline`.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Result<Option<T>, TimedOut> {
        if let Some(item) = self.taken.pop_front() {
            return Ok(Some(item));
        }
        match self.handoff.take(&mut self.taken, deadline) {
            Taken::Items => Ok(self.taken.pop_front()),
            Taken::TimedOut => Err(TimedOut),
            Taken::Ended => {
                self.join();
                Ok(None)
            }
        }
    }

    /// The next item; waits for it.
    pub fn take(&mut self) -> Option<T> {
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
        if self.taken.is_empty()
            && ready!(self.handoff.poll_take(&mut self.taken, cx)) == Taken::Ended
        {
            // All has been sent: what is left is threads that end.
            self.join();
        }
        Poll::Ready(self.taken.pop_front())
    }

    /// What ends it, from any thread.
    pub fn canceller(&self) -> Canceller {
        let handoff = Arc::clone(&self.handoff);
        Canceller(Arc::new(move || handoff.close()))
    }

    /// What it has come to; `None` before the last item has been taken.
    pub fn summary(&self) -> Option<&R> {
        self.summary.as_ref()
    }

    /// Ends the walk, and does not wait for it.
    #[cfg(feature = "async")]
    pub(crate) fn detach(&mut self) {
        self.handoff.close();
        self.walk = None;
    }
}

impl<T, R> Background<T, R> {
    /// As [`summary`](Self::summary), for good.
    pub fn into_summary(mut self) -> Option<R> {
        self.summary.take()
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
        self.handoff.close();
        self.join();
    }
}
