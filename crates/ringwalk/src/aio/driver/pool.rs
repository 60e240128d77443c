//! A bounded pool of threads for calls that may wait for a device.
//!
//! ```text
//!                    submit: push; if nobody is about to look, wake one or start one
//!                      │
//!     queue  [ job job job ]
//!                      │ pop            (and if there is more, wake the next)
//!   idle ──woken──> awake ──────> at work ──┐
//!    │ ^ ^             │  ^─────────────────┘
//!    │ │ └── no job ───┤
//!    │ │               └── more awake than allowed, jobs queued ──> on watch ──> awake, as one more that is allowed
//!    │ └──────────────────────────────────────────── no job ──────────┘
//!    └── for `Bounds::idle` without work ──> ended
//! ```
//!
//! *Who is woken.* A submitter wakes a thread only if none has been woken already that has not looked yet; a thread that takes
//! a job and sees more wakes the next. So a burst of requests costs its submitter one system call, and whoever is awake takes one job
//! after the other without sleeping.
//!
//! *How many.* As long as jobs are answered from memory, no more threads are awake than `base`: more would only take CPUs away from the
//! caller. A thread that finds that its job has waited (it gave up its CPU of its own will) while others are queued raises what is
//! allowed by one, up to `most`; after [`CALM`] jobs in a row that did not wait it is lowered again. Where all that are allowed hang
//! (a server that does not answer) nobody finds anything: for that, while jobs are queued that nobody may take,
//! one thread stands watch, looks every [`WATCH`], and goes to work itself if no job has been finished since.
//!
//! *Wake-ups are counted.* Who wakes takes one from `idle` and adds one to `woken` and to `awake`; whoever comes round first, be it by
//! chance or by time, takes the one `woken`; one that is started is counted apart, as `starting`. So no wake-up is lost on a thread that was just about to end.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ringwalk_sys::ThreadUsage;

/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(5);

/// How soon it is looked whether jobs are stuck; later and later, up to [`LATEST_WATCH`], where nothing can be done about it.
const WATCH: Duration = Duration::from_millis(1);
const LATEST_WATCH: Duration = Duration::from_millis(100);

/// Jobs in a row that did not wait, after which one thread fewer is allowed.
const CALM: u32 = 64;

/// Work for a thread.
pub(super) trait Job: Send + 'static {
    /// Does it. A panic ends the job only.
    fn run(self);

    /// Tells who waits that there is no thread to do it.
    fn refuse(self, error: &io::Error);
}

/// How many threads, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Awake while nothing waits.
    pub(super) base: usize,
    /// Awake at most; one more may stand watch.
    pub(super) most: usize,
    pub(super) idle: Duration,
}

impl Bounds {
    pub(super) fn new(base: usize, most: usize) -> Self {
        Self {
            base,
            most,
            idle: IDLE,
        }
    }
}

#[derive(Debug)]
struct State<J> {
    queue: VecDeque<J>,
    /// At work, looking for work, or woken to do so.
    awake: usize,
    /// How many that may be.
    allowed: usize,
    /// Asleep, and not woken.
    idle: usize,
    /// Woken, and not yet looking.
    woken: usize,
    /// Started, and not yet looking.
    starting: usize,
    /// Somebody stands watch.
    watched: bool,
    /// Jobs in a row that did not wait.
    calm: u32,
    /// Jobs finished.
    finished: u64,
}

type Guard<'a, J> = MutexGuard<'a, State<J>>;

#[derive(Debug)]
struct Shared<J> {
    state: Mutex<State<J>>,
    work: Condvar,
    bounds: Bounds,
    /// More are allowed than at first: jobs wait.
    waits: AtomicBool,
}

/// The pool. Its threads end by themselves.
#[derive(Debug)]
pub(super) struct Pool<J>(Arc<Shared<J>>);

impl<J: Job> Pool<J> {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                awake: 0,
                allowed: bounds.base,
                idle: 0,
                woken: 0,
                starting: 0,
                watched: false,
                calm: 0,
                finished: 0,
            }),
            work: Condvar::new(),
            bounds,
            waits: AtomicBool::new(false),
        }))
    }

    /// Has the job done.
    pub(super) fn submit(&self, job: J) {
        let mut state = self.0.lock();
        state.queue.push_back(job);
        self.0.see_to(state);
    }

    /// Whether jobs have lately been found to wait.
    pub(super) fn waits(&self) -> bool {
        self.0.waits.load(Ordering::Relaxed)
    }

    /// Threads that there are, but for one on watch.
    #[cfg(test)]
    pub(super) fn threads(&self) -> usize {
        let state = self.0.lock();
        state.awake + state.idle
    }
}

impl<J: Job> Shared<J> {
    fn lock(&self) -> Guard<'_, J> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the lock go, and wakes or starts a thread if there is a job that nobody is about to take, or to watch.
    fn see_to(self: &Arc<Self>, mut state: Guard<'_, J>) {
        let over = state.awake >= state.allowed;
        let coming = state.woken + state.starting > 0;
        if state.queue.is_empty() || coming || (over && state.watched) {
            return;
        }
        state.awake += 1;
        if state.idle > 0 {
            state.idle -= 1;
            state.woken += 1;
            drop(state);
            return self.work.notify_one();
        }
        state.starting += 1;
        drop(state);
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("ringwalk-async".into());
        if let Err(error) = thread.spawn(move || shared.live()) {
            self.not_started(&error);
        }
    }

    /// What is queued waits for the threads there are; without any it is refused.
    #[cold]
    fn not_started(&self, error: &io::Error) {
        let mut state = self.lock();
        state.awake -= 1;
        state.starting -= 1;
        if state.awake > 0 || state.watched {
            return;
        }
        let refused = std::mem::take(&mut state.queue);
        drop(state);
        for job in refused {
            job.refuse(error);
        }
    }

    /// The life of a thread.
    fn live(self: Arc<Self>) {
        let mut state = self.lock();
        state.starting -= 1;
        loop {
            if state.awake <= state.allowed
                && let Some(job) = state.queue.pop_front()
            {
                self.see_to(state);
                state = self.work(job);
                continue;
            }
            state.awake -= 1;
            if !state.queue.is_empty() && !state.watched {
                state.watched = true;
                state = self.watch(state);
                state.watched = false;
                if !state.queue.is_empty() {
                    state.awake += 1;
                    continue;
                }
            }
            match self.rest(state) {
                Some(awake) => state = awake,
                None => return,
            }
        }
    }

    /// Does a job, and takes note of what it was like.
    fn work(&self, job: J) -> Guard<'_, J> {
        let before = ThreadUsage::now().voluntary_switches;
        // Who waits for it is told by what is dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
        let waited = ThreadUsage::now().voluntary_switches != before;
        let mut state = self.lock();
        state.finished += 1;
        if waited {
            state.calm = 0;
            if !state.queue.is_empty() {
                self.allow(&mut state);
            }
        } else {
            state.calm += 1;
            if state.calm >= CALM && state.allowed > self.bounds.base {
                state.calm = 0;
                state.allowed -= 1;
                let waits = state.allowed > self.bounds.base;
                self.waits.store(waits, Ordering::Relaxed);
            }
        }
        state
    }

    /// One thread more may be awake, if that is not too many.
    fn allow(&self, state: &mut State<J>) -> bool {
        if state.allowed >= self.bounds.most {
            return false;
        }
        state.allowed += 1;
        self.waits.store(true, Ordering::Relaxed);
        true
    }

    /// Waits until the queue is empty, or one more thread is needed, and allowed, to take from it.
    fn watch<'a>(&'a self, mut state: Guard<'a, J>) -> Guard<'a, J> {
        let mut time = WATCH;
        loop {
            let finished = state.finished;
            drop(state);
            thread::sleep(time);
            state = self.lock();
            if state.queue.is_empty() || state.awake < state.allowed {
                return state;
            }
            if state.finished != finished {
                time = WATCH;
            } else if self.allow(&mut state) {
                return state;
            } else {
                time = (time * 2).min(LATEST_WATCH);
            }
        }
    }

    /// Sleeps until woken; `None`: for so long that the thread is to end.
    fn rest<'a>(&'a self, mut state: Guard<'a, J>) -> Option<Guard<'a, J>> {
        state.idle += 1;
        loop {
            let slept = self.work.wait_timeout(state, self.bounds.idle);
            let (awake, time) = slept.unwrap_or_else(PoisonError::into_inner);
            state = awake;
            if state.woken > 0 {
                state.woken -= 1;
                return Some(state);
            }
            if time.timed_out() {
                state.idle -= 1;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
