//! Calls that may hang, made by another thread while the owner of the walk waits for them.
//!
//! A server of a FUSE or network file system may never answer. A thread that calls it cannot be
//! interrupted until it does. So an owner that must be able to give up has a [`Deputy`] make the
//! call, and leaves it behind.

use super::lister::Lister;
use ringwalk_sys::with_signals_blocked;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often the owner of a walk is asked whether it still wants to wait.
const SLICE: Duration = Duration::from_millis(50);

/// The owner does not want to wait any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp;

/// How long the owner of a walk waits for a call.
pub(super) struct Patience<'w> {
    /// Returns true while the owner wants to wait; `None` if it waits for ever.
    goes_on: Option<&'w mut dyn FnMut() -> bool>,
    asked: Instant,
}

impl<'w> Patience<'w> {
    pub(super) fn endless() -> Self {
        Self {
            goes_on: None,
            asked: Instant::now(),
        }
    }

    /// Waits as long as `goes_on` returns true.
    pub(super) fn as_long_as(goes_on: &'w mut dyn FnMut() -> bool) -> Self {
        Self {
            goes_on: Some(goes_on),
            asked: Instant::now(),
        }
    }

    pub(super) fn is_endless(&self) -> bool {
        self.goes_on.is_none()
    }

    /// Returns how long to wait before the next [`check`](Self::check); `None` for ever.
    pub(super) fn slice(&self) -> Option<Duration> {
        self.goes_on.is_some().then_some(SLICE)
    }

    /// Asks the owner, unless it was asked less than [`SLICE`] ago.
    pub(super) fn check(&mut self) -> Result<(), GivenUp> {
        let Some(goes_on) = &mut self.goes_on else {
            return Ok(());
        };
        if self.asked.elapsed() < SLICE {
            return Ok(());
        }
        self.asked = Instant::now();
        if goes_on() { Ok(()) } else { Err(GivenUp) }
    }
}

type Call = Box<dyn FnOnce(&mut Lister) + Send>;

/// A thread that makes calls for the owner of a walk. It ends when this is dropped, or after its
/// current call.
#[derive(Debug)]
pub(super) struct Deputy {
    /// `None` while this is dropped.
    requests: Option<Sender<Call>>,
    /// The process that has the thread.
    process: u32,
}

impl Deputy {
    /// Starts the thread. Returns `None` if that fails.
    pub(super) fn start(lister: Lister) -> Option<Self> {
        let (requests, received) = channel();
        let builder = Builder::new().name("ringwalk-call".into());
        let thread = with_signals_blocked(|| builder.spawn(move || work(&received, lister)));
        thread.ok().map(|_| Self {
            requests: Some(requests),
            process: std::process::id(),
        })
    }

    /// Returns true if the thread was left behind in the process that this one was forked from.
    pub(super) fn is_left_behind(&self) -> bool {
        self.process != std::process::id()
    }

    /// Has the thread call `work`, and returns the result.
    pub(super) fn call<R: Send + 'static>(
        &self,
        patience: &mut Patience<'_>,
        work: impl FnOnce(&mut Lister) -> R + Send + 'static,
    ) -> Result<R, GivenUp> {
        let (answer, answered) = channel();
        let request = Box::new(move |lister: &mut Lister| {
            // If the owner has given up, the receiver was dropped.
            let _ = answer.send(work(lister));
        });
        let sent = self
            .requests
            .as_ref()
            .map(|requests| requests.send(request));
        assert!(
            matches!(sent, Some(Ok(()))),
            "a call of the deputy panicked"
        );
        loop {
            match answered.recv_timeout(SLICE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => patience.check()?,
                Err(RecvTimeoutError::Disconnected) => panic!("a call of the deputy panicked"),
            }
        }
    }
}

impl Drop for Deputy {
    fn drop(&mut self) {
        if self.is_left_behind() {
            // In a forked child the channel may be locked for ever.
            std::mem::forget(self.requests.take());
        }
    }
}

/// The thread: makes one call after the other.
fn work(requests: &Receiver<Call>, mut lister: Lister) {
    while let Ok(request) = requests.recv() {
        request(&mut lister);
    }
}
