//! Calls that may hang, made by another thread while the walk's owner waits for them.
//!
//! A server of a FUSE or network file system may never answer. A thread that asks it cannot be
//! interrupted until it does, so an owner who must be able to give up does not ask: [`Deputy`]
//! does, and is left behind.

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
    /// `None` for ever.
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

    /// As long as this says so.
    pub(super) fn as_long_as(goes_on: &'w mut dyn FnMut() -> bool) -> Self {
        Self {
            goes_on: Some(goes_on),
            asked: Instant::now(),
        }
    }

    pub(super) fn is_endless(&self) -> bool {
        self.goes_on.is_none()
    }

    /// How long to wait before [`check`](Self::check) is called again; `None` for ever.
    pub(super) fn slice(&self) -> Option<Duration> {
        self.goes_on.is_some().then_some(SLICE)
    }

    /// Asks the owner, if that was not asked just before.
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

type Request = Box<dyn FnOnce(&mut Lister) + Send>;

/// A thread that makes calls for the owner of a walk. It ends when this is dropped, or after the
/// call that it is in.
#[derive(Debug)]
pub(super) struct Deputy {
    /// Until this is dropped.
    requests: Option<Sender<Request>>,
    /// The process that has the thread.
    process: u32,
}

impl Deputy {
    /// `None` if no thread can be started.
    pub(super) fn start(lister: Lister) -> Option<Self> {
        let (requests, received) = channel();
        let builder = Builder::new().name("ringwalk-call".into());
        let thread = with_signals_blocked(|| builder.spawn(move || work(&received, lister)));
        thread.ok().map(|_| Self {
            requests: Some(requests),
            process: std::process::id(),
        })
    }

    /// Whether the thread has been left behind in the process that this one was forked from.
    pub(super) fn is_left_behind(&self) -> bool {
        self.process != std::process::id()
    }

    /// What `work` returns.
    pub(super) fn call<R: Send + 'static>(
        &self,
        patience: &mut Patience<'_>,
        work: impl FnOnce(&mut Lister) -> R + Send + 'static,
    ) -> Result<R, GivenUp> {
        let (answer, answered) = channel();
        let request = Box::new(move |lister: &mut Lister| {
            // Nobody listens if the owner has given up.
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
            // The channel may be locked for ever.
            std::mem::forget(self.requests.take());
        }
    }
}

/// What the thread does.
fn work(requests: &Receiver<Request>, mut lister: Lister) {
    while let Ok(request) = requests.recv() {
        request(&mut lister);
    }
}
