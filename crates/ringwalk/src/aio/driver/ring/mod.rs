//! Directories opened and read on a ring, where the kernel offers that. One thread keeps many
//! requests in flight, and sleeps in the kernel until one of them is finished.
//!
//! ```text
//!   submit ── queue, and a wake-up if the thread sleeps ──┐
//!                                                         v
//!            ┌── take what is queued, start it <── woken (eventfd, watched on the ring itself)
//!            │                                            ^
//!            └──> wait for a completion ──────────────────┘
//!                      │
//!                      v
//!   answer: entries        lost, or refused: back to the pool, which asks by calls
//! ```
//!
//! Calls are cheaper while they are answered from memory: no thread of the kernel takes part. So
//! requests come here only while the pool finds that they wait. One of every [`PROBE_EVERY`]
//! requests still goes to the pool, to see whether they still wait. When the pool is calm again, no
//! more requests come here.
//!
//! # Refusals
//!
//! A request that the kernel refuses goes back to the pool, and only the errors of system calls are
//! reported. A request that fails has not moved the position of its directory. If the kernel has
//! refused three requests in a row that calls could do, it is asked no more. If the ring is taken
//! away, the pool opens the directories that were to be opened. A directory that was being read
//! fails: nobody knows its position.
//!
//! # Ownership
//!
//! The thread owns the ring and its slots. A slot owns the data that the kernel works on, from the
//! request to its completion. If the task has gone away meanwhile, the completion is dropped with
//! its data.
//!
//! # Sleep
//!
//! With no request in flight the thread sleeps on a condition variable, else in the kernel.
//! `signal` says which, and changes only under the lock. The eventfd is written once for each time
//! that the thread goes to sleep, and is read when it has woken the thread.

mod flight;

use super::request::DriverRequest;
use crate::sources::KernelSide;
use crate::sources::{DirectoryTransport, KernelTransport, available};
use flight::Flights;
use ringwalk_sys::DirectoryReader;
use ringwalk_sys::sync::{IgnorePoison, lock};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::Duration;

/// Requests in flight: as many as fill the queues of most devices and servers.
const DEPTH: u32 = 64;

/// One request of this many goes to the pool, to see whether calls still wait.
const PROBE_EVERY: u32 = 16;

/// After this many refusals in a row of requests that calls could do, the kernel is asked no more.
const STRIKES: u32 = 3;

/// A thread without work ends after this time.
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
struct RingState {
    queue: VecDeque<DriverRequest>,
    /// Requests that are queued, and those that the thread works on.
    accepted: u32,
    signal: Signal,
    running: bool,
}

#[derive(Debug)]
struct SharedRing {
    state: Mutex<RingState>,
    work: Condvar,
    wake: Arc<OwnedFd>,
    /// Takes the requests that the ring could not do.
    back: fn(DriverRequest),
    given_up: AtomicBool,
    strikes: AtomicU32,
    /// Requests that have come.
    count: AtomicU32,
    /// The reader that the kernel offers, once that is known.
    reader: OnceLock<Option<DirectoryReader>>,
}

/// The ring of a process: a queue, and a thread while there is something to do.
#[derive(Debug)]
pub(super) struct Ring(Option<Arc<SharedRing>>);

impl Ring {
    /// Creates the ring. `back` takes the requests that the ring could not do.
    pub(super) fn new(back: fn(DriverRequest)) -> Self {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        // Without a descriptor for the eventfd there is no ring.
        let Ok(wake) = eventfd(0, flags) else {
            return Self(None);
        };
        Self(Some(Arc::new(SharedRing {
            state: Mutex::new(RingState {
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

    /// Has a request done, or returns it: then it is for the pool.
    pub(super) fn submit(&self, request: DriverRequest) -> Option<DriverRequest> {
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
        shared.accept(request, |shared| shared.live(SharedRing::kernel))
    }

    /// Notes that calls could do a request that was refused here.
    pub(super) fn refused_wrongly(&self) {
        if let Some(shared) = &self.0
            && shared.strikes.fetch_add(1, Ordering::Relaxed) + 1 >= STRIKES
        {
            shared.given_up.store(true, Ordering::Relaxed);
        }
    }
}

impl SharedRing {
    fn lock(&self) -> MutexGuard<'_, RingState> {
        lock(&self.state)
    }

    /// Queues a request, and wakes the thread, or starts it to run `live`. With too many requests
    /// queued, returns this one.
    fn accept(
        self: &Arc<Self>,
        request: DriverRequest,
        live: impl FnOnce(&Self) + Send + 'static,
    ) -> Option<DriverRequest> {
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
            // Under the lock: a thread that sees the signal finds the eventfd written, and can read
            // it. If it stayed unread, it would end every wait at once. Writing fails only if the
            // eventfd is full of wake-ups that have not been read.
            Signal::Eventfd => drop(write(&self.wake, &1_u64.to_ne_bytes())),
        }
        None
    }

    /// Gives queued requests to the pool: the ring never had a thread, or its thread has ended.
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

    /// Returns the transport that the kernel offers, and the mask of its metadata.
    fn kernel(&self) -> Option<(KernelTransport, u32)> {
        let reader = self.reader.get_or_init(|| {
            let side = KernelSide::default();
            side.look();
            side.reader().cloned()
        });
        let reader = reader.as_ref()?;
        Some((KernelTransport::new(reader.clone()), available(reader)))
    }

    /// Runs the thread, over the transport that `kernel` returns, with the mask of its metadata.
    fn live<T: DirectoryTransport>(&self, kernel: impl FnOnce(&Self) -> Option<(T, u32)>) {
        // Also if the thread panics: otherwise nobody would look at the queue again.
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

    /// Returns the queued requests. `in_flight` requests are under way; if there are none, waits
    /// for the queue. Returns `None` if the thread is to end.
    fn take(&self, in_flight: u32) -> Option<VecDeque<DriverRequest>> {
        let mut state = self.lock();
        if state.signal == Signal::None {
            // The eventfd may have been written.
            let _ = read(&self.wake, &mut [0; 8]);
        }
        while in_flight == 0 && state.queue.is_empty() {
            state.accepted = 0;
            state.signal = Signal::Condition;
            let slept = self.work.wait_timeout(state, IDLE);
            let (awake, time) = slept.ignore_poison();
            state = awake;
            if time.timed_out() && state.queue.is_empty() {
                // Until the end of the thread is noted, requests go to the pool.
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

/// Ends the thread when it is dropped.
struct Stop<'a>(&'a SharedRing);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests;
