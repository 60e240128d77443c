//! Directories opened and read on a ring, where the kernel offers that: a thread that keeps many requests in flight, and sleeps in the
//! kernel for whichever is over first.
//!
//! ```text
//!   submit ── queue, and a wake-up if the thread sleeps ──┐
//!                                                         v
//!            ┌── take what is queued, start it <── woken (eventfd, watched on the ring itself)
//!            │                                            ^
//!            └──> wait for a completion ──────────────────┘
//!                      │
//!                      v
//!   answer: entries        not told, or refused: back to the pool, which asks by calls
//! ```
//!
//! Calls are cheaper while they are answered from memory: nothing is handed to a thread of the kernel. So requests come here only when the
//! pool finds that they wait, and of every [`PROBE_EVERY`] one still goes there, to see whether they still do. When the pool is calm again,
//! nothing comes here any more.
//!
//! *Whatever the kernel refuses goes back to the pool*, and only what system calls say of it is told. A request that fails has not moved
//! the position of its directory. When the kernel has refused three in a row that calls could do, it is asked no more. If the ring is
//! taken away, what was in flight is opened by the pool, or, where others have had entries of that directory already, failed: nobody
//! knows its position.
//!
//! *Who owns what.* The thread owns the ring and its slots; a slot owns what the kernel works on, from the request until its completion. Who
//! waits for the answer may be gone meanwhile: the completion is then dropped with all that belongs to it.
//!
//! *Sleeping.* With nothing in flight the thread sleeps on a condition variable, else in the kernel. `signal` says which, and is only changed under
//! the lock; the eventfd is written once for each time that the thread goes to sleep, and read when it has woken it.

mod flight;

use super::request::Request;
use crate::options::SourceChoice;
use crate::source::{KernelTransport, Transport, available, find};
use flight::Flights;
use ringwalk_sys::DirectoryReader;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Requests in flight: what fills the queues of most devices and servers.
const DEPTH: u32 = 64;

/// One of so many goes to the pool, to see whether calls still wait.
const PROBE_EVERY: u32 = 16;

/// The kernel is asked no more after it has refused so many in a row that calls could do.
const STRIKES: u32 = 3;

/// The thread ends when it has had nothing to do for so long.
const IDLE: Duration = Duration::from_secs(5);

/// How the thread is to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    /// It is awake, or has been woken.
    None,
    Condition,
    Eventfd,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Request>,
    /// Those queued, and those the thread is at work on.
    accepted: u32,
    signal: Signal,
    running: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    wake: Arc<OwnedFd>,
    /// Where requests go that this could not do.
    back: fn(Request),
    given_up: AtomicBool,
    strikes: AtomicU32,
    /// Requests that came.
    count: AtomicU32,
    /// What the kernel offers, once that has been looked for.
    reader: OnceLock<Option<DirectoryReader>>,
}

/// The ring of a process: a queue, and a thread while there is something to do.
#[derive(Debug)]
pub(super) struct Ring(Option<Arc<Shared>>);

impl Ring {
    /// `back` takes what the ring could not do.
    pub(super) fn new(back: fn(Request)) -> Self {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        // Without a descriptor for it there is no ring.
        let Ok(wake) = eventfd(0, flags) else {
            return Self(None);
        };
        Self(Some(Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                accepted: 0,
                signal: Signal::None,
                running: false,
            }),
            work: Condvar::new(),
            wake: Arc::new(wake),
            back,
            given_up: AtomicBool::new(false),
            strikes: AtomicU32::new(0),
            count: AtomicU32::new(0),
            reader: OnceLock::new(),
        })))
    }

    /// Has a request done, or gives it back: it is for the pool.
    pub(super) fn submit(&self, request: Request) -> Option<Request> {
        let Some(shared) = &self.0 else {
            return Some(request);
        };
        if shared.given_up.load(Ordering::Relaxed) || !flight::can_fly(&request) {
            return Some(request);
        }
        let count = shared.count.fetch_add(1, Ordering::Relaxed);
        if count % PROBE_EVERY == PROBE_EVERY - 1 {
            return Some(request);
        }
        shared.accept(request, |shared| shared.live(Shared::kernel))
    }

    /// A request that was refused here has been done by calls, and could be.
    pub(super) fn refused_wrongly(&self) {
        if let Some(shared) = &self.0
            && shared.strikes.fetch_add(1, Ordering::Relaxed) + 1 >= STRIKES
        {
            shared.given_up.store(true, Ordering::Relaxed);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a request, and starts the thread, which then does `live`, or wakes it. With too many queued it is given back.
    fn accept(
        self: &Arc<Self>,
        request: Request,
        live: impl FnOnce(&Self) + Send + 'static,
    ) -> Option<Request> {
        let mut state = self.lock();
        if state.accepted >= DEPTH {
            return Some(request);
        }
        state.queue.push_back(request);
        state.accepted += 1;
        if !state.running {
            state.running = true;
            drop(state);
            let shared = Arc::clone(self);
            let thread = thread::Builder::new().name("ringwalk-ring".into());
            if thread.spawn(move || live(&shared)).is_err() {
                self.stop();
            }
            return None;
        }
        match std::mem::replace(&mut state.signal, Signal::None) {
            Signal::None => {}
            Signal::Condition => {
                drop(state);
                self.work.notify_one();
            }
            // Under the lock: who sees that it has been signalled finds it written, and can read it. Left unread it would end every
            // wait at once. It can fail only if it is full of wake-ups that have not been read.
            Signal::Eventfd => drop(write(&self.wake, &1_u64.to_ne_bytes())),
        }
        None
    }

    /// There is no thread (any more): what is queued goes to the pool.
    fn stop(&self) {
        let mut state = self.lock();
        state.running = false;
        state.signal = Signal::None;
        state.accepted = 0;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        for request in queue {
            (self.back)(request);
        }
    }

    /// What the kernel offers.
    fn kernel(&self) -> Option<(KernelTransport, u32)> {
        let reader = self.reader.get_or_init(|| {
            let found = find(SourceChoice::Module).or_else(|_| find(SourceChoice::Ring));
            found.ok()
        });
        let reader = reader.as_ref()?;
        Some((KernelTransport::new(reader.clone()), available(reader)))
    }

    /// The life of the thread, over the transport that `kernel` gives, with the mask of metadata that it has.
    fn live<T: Transport>(&self, kernel: impl FnOnce(&Self) -> Option<(T, u32)>) {
        // Also if it panics: nobody would look at the queue again.
        let _stop = Stop(self);
        let Some((mut transport, available)) = kernel(self) else {
            return self.given_up.store(true, Ordering::Relaxed);
        };
        if !transport.set_up(DEPTH) {
            return self.given_up.store(true, Ordering::Relaxed);
        }
        let mut flights = Flights::new(transport, available, DEPTH, self.back);
        loop {
            let Some(requests) = self.take(flights.in_flight()) else {
                return;
            };
            for request in requests {
                flights.start(request);
            }
            if flights.in_flight() == 0 {
                continue;
            }
            match flights.wait(&self.wake) {
                Ok(true) => self.strikes.store(0, Ordering::Relaxed),
                Ok(false) => {}
                Err(_) => {
                    self.given_up.store(true, Ordering::Relaxed);
                    return flights.lose();
                }
            }
        }
    }

    /// What is queued, when `in_flight` requests are under way; if those are none, it is waited for. `None`: the thread is to end.
    fn take(&self, in_flight: u32) -> Option<VecDeque<Request>> {
        let mut state = self.lock();
        if state.signal == Signal::None {
            // Somebody may have written it.
            let _ = read(&self.wake, &mut [0; 8]);
        }
        while in_flight == 0 && state.queue.is_empty() {
            state.accepted = 0;
            state.signal = Signal::Condition;
            let slept = self.work.wait_timeout(state, IDLE);
            let (awake, time) = slept.unwrap_or_else(PoisonError::into_inner);
            state = awake;
            if time.timed_out() && state.queue.is_empty() {
                // What comes until it is counted as ended goes to the pool.
                state.signal = Signal::None;
                return None;
            }
        }
        let queue = std::mem::take(&mut state.queue);
        state.accepted = in_flight + u32::try_from(queue.len()).unwrap_or(u32::MAX);
        state.signal = Signal::Eventfd;
        Some(queue)
    }
}

/// Ends the thread.
struct Stop<'a>(&'a Shared);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests;
