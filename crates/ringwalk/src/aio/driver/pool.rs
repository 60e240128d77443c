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
//!    │ │               └── more awake than allowed, jobs queued ──> watch ──> awake: allowed + 1
//!    │ └──────────────────────────────────────────── no job ──────────┘
//!    └── for `PoolBounds::idle` without work ──> ended
//! ```
//!
//! # Wake-ups
//!
//! A submitter wakes a thread only if no woken thread is still on its way to the queue. A thread
//! that takes a job and sees more wakes the next one. So a burst of requests costs its submitter
//! one system call, and a thread that is awake takes one job after the other without sleeping.
//!
//! # Number of threads
//!
//! While jobs are answered from memory, at most `base` threads are awake: more would only take CPUs
//! away from the caller. A thread finds that its job has waited if the thread gave up its CPU
//! voluntarily. If other jobs are queued then, the thread raises the allowed number by one, up to
//! `most`. After [`CALM`] jobs in a row that did not wait, the number is lowered again.
//!
//! If all allowed threads hang, in calls to a server that does not answer, none of them can find
//! that. So while jobs are queued that no thread may take, one more thread stands watch. It looks
//! every [`WATCH`], and goes to work itself if no job has been finished since.
//!
//! # Counts
//!
//! The thread that wakes another takes one from `idle`, and adds one to `woken` and to `awake`. The
//! next thread that wakes up, for whatever reason, takes one from `woken`. A thread that is being
//! started is counted in `starting`. So no wake-up is lost on a thread that was about to end.

use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use ringwalk_sys::ThreadUsage;

/// A thread without work ends after this time.
const IDLE: Duration = Duration::from_secs(5);

/// How soon the watch checks whether jobs are stuck. The time doubles up to [`LATEST_WATCH`] where
/// no more threads are allowed.
const WATCH: Duration = Duration::from_millis(1);
const LATEST_WATCH: Duration = Duration::from_millis(100);

/// Jobs in a row that did not wait, after which one thread fewer is allowed.
const CALM: u32 = 64;

/// Work for a thread.
pub(super) trait PoolJob: Send + 'static {
    /// Does the work. A panic ends only this job.
    fn run(self);

    /// Reports to the task that waits that there is no thread to do the work.
    fn refuse(self, error: &io::Error);
}

/// How many threads there may be, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolBounds {
    /// Threads that may be awake while no job waits.
    pub(super) base: usize,
    /// Threads that may be awake at most. One more may stand watch.
    pub(super) most: usize,
    pub(super) idle: Duration,
}

impl PoolBounds {
    pub(super) fn new(base: usize, most: usize) -> Self {
        Self {
            base,
            most,
            idle: IDLE,
        }
    }
}

#[derive(Debug)]
struct PoolState<J> {
    queue: VecDeque<J>,
    /// Threads at work, looking for work, or woken to do so.
    awake: usize,
    /// How many threads may be awake.
    allowed: usize,
    /// Threads asleep, and not woken.
    idle: usize,
    /// Threads woken, and not yet looking for work.
    woken: usize,
    /// Threads started, and not yet looking for work.
    starting: usize,
    /// A thread stands watch.
    watched: bool,
    /// Jobs in a row that did not wait.
    calm: u32,
    /// Jobs finished.
    finished: u64,
}

type Guard<'a, J> = MutexGuard<'a, PoolState<J>>;

#[derive(Debug)]
struct SharedPool<J> {
    state: Mutex<PoolState<J>>,
    work: Condvar,
    bounds: PoolBounds,
    /// More threads are allowed than `base`, because jobs wait.
    waits: AtomicBool,
}

/// The pool. Its threads end by themselves.
#[derive(Debug)]
pub(super) struct Pool<J>(Arc<SharedPool<J>>);

impl<J: PoolJob> Pool<J> {
    pub(super) fn new(bounds: PoolBounds) -> Self {
        Self(Arc::new(SharedPool {
            state: Mutex::new(PoolState {
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

    /// Queues a job, and has a thread do it.
    pub(super) fn submit(&self, job: J) {
        let mut state = self.0.lock();
        state.queue.push_back(job);
        self.0.see_to(state);
    }

    /// Returns true if jobs have waited recently.
    pub(super) fn waits(&self) -> bool {
        self.0.waits.load(Ordering::Relaxed)
    }

    /// Returns the number of threads, without one on watch.
    #[cfg(test)]
    pub(super) fn threads(&self) -> usize {
        let state = self.0.lock();
        state.awake + state.idle
    }
}

impl<J: PoolJob> SharedPool<J> {
    fn lock(&self) -> Guard<'_, J> {
        lock(&self.state)
    }

    /// Releases the lock. Wakes or starts a thread if there is a job that no thread is about to
    /// take or to watch.
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

    /// Takes back the count of a thread that could not be started. Queued jobs wait for the other
    /// threads; if there are none, the jobs are refused.
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

    /// A thread of the pool.
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

    /// Does a job, and notes whether it waited.
    fn work(&self, job: J) -> Guard<'_, J> {
        let before = ThreadUsage::now().voluntary_switches;
        // After a panic, dropping the job's completer wakes the task that waits.
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

    /// Allows one more thread to be awake. Returns false if that would be too many.
    fn allow(&self, state: &mut PoolState<J>) -> bool {
        if state.allowed >= self.bounds.most {
            return false;
        }
        state.allowed += 1;
        self.waits.store(true, Ordering::Relaxed);
        true
    }

    /// Waits until the queue is empty, or one more thread may take from it and is needed.
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

    /// Sleeps until woken. Returns `None` if the thread is to end, after a long time without work.
    fn rest<'a>(&'a self, mut state: Guard<'a, J>) -> Option<Guard<'a, J>> {
        state.idle += 1;
        loop {
            let slept = self.work.wait_timeout(state, self.bounds.idle);
            let (awake, time) = slept.ignore_poison();
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
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    /// The time after which a wait fails its test. It is long, because the machine may be busy.
    const LIMIT: Duration = Duration::from_secs(300);

    /// The work of a job, and the channel that reports it.
    struct Task {
        act: Box<dyn FnOnce() + Send>,
        done: Sender<&'static str>,
    }

    impl PoolJob for Task {
        fn run(self) {
            (self.act)();
            let _ = self.done.send("done");
        }

        fn refuse(self, _: &io::Error) {
            let _ = self.done.send("refused");
        }
    }

    fn pool(
        base: usize,
        most: usize,
    ) -> (Pool<Task>, Sender<&'static str>, Receiver<&'static str>) {
        let idle = Duration::from_millis(50);
        let (sender, receiver) = channel();
        (Pool::new(PoolBounds { base, most, idle }), sender, receiver)
    }

    fn task(done: &Sender<&'static str>, act: impl FnOnce() + Send + 'static) -> Task {
        let (act, done) = (Box::new(act), done.clone());
        Task { act, done }
    }

    fn wait_until(what: &str, condition: impl Fn() -> bool) {
        let begin = Instant::now();
        while !condition() {
            assert!(begin.elapsed() < LIMIT, "{what}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn expect(done: &Receiver<&'static str>, count: usize) {
        for _ in 0..count {
            let word = done.recv_timeout(LIMIT);
            assert_eq!(word, Ok("done"));
        }
    }

    #[test]
    fn jobs_are_done_by_few_threads_which_end() {
        let (pool, sender, done) = pool(2, 8);
        assert_eq!(pool.threads(), 0);
        for round in 0..3 {
            for _ in 0..500 {
                pool.submit(task(&sender, || {}));
            }
            expect(&done, 500);
            assert!(pool.threads() <= 8, "{round}");
            wait_until("threads end", || pool.threads() == 0);
        }
    }

    /// First as many jobs wait for each other as there may be threads; then one more job.
    #[test]
    fn stuck_jobs_get_more_threads_up_to_the_bound() {
        let (pool, sender, done) = pool(1, 5);
        let (release, held) = channel::<()>();
        let held = Arc::new(Mutex::new(held));
        for _ in 0..4 {
            let held = Arc::clone(&held);
            pool.submit(task(&sender, move || {
                let _ = held.lock().unwrap().recv();
            }));
        }
        pool.submit(task(&sender, || {}));
        expect(&done, 1);
        assert!(pool.waits());
        // The bound is reached: no more jobs are done until one of those has ended.
        let held_too = Arc::clone(&held);
        pool.submit(task(&sender, move || {
            let _ = held_too.lock().unwrap().recv();
        }));
        wait_until("five are at work", || pool.0.lock().queue.is_empty());
        pool.submit(task(&sender, || {}));
        assert!(done.recv_timeout(Duration::from_millis(100)).is_err());
        assert_eq!(pool.0.lock().awake, 5);
        for _ in 0..5 {
            release.send(()).unwrap();
        }
        expect(&done, 6);
        for _ in 0..20 * CALM {
            pool.submit(task(&sender, || {}));
        }
        expect(&done, 20 * CALM as usize);
        wait_until("threads end", || pool.threads() == 0);
    }

    #[test]
    fn a_panic_ends_the_job_and_not_the_thread() {
        let (pool, sender, done) = pool(1, 1);
        let threads = Arc::new(Mutex::new(HashSet::new()));
        let note = |act: Box<dyn FnOnce() + Send>| {
            let threads = Arc::clone(&threads);
            task(&sender, move || {
                threads.lock().unwrap().insert(thread::current().id());
                act();
            })
        };
        // The first job lasts until all others are queued, so that no thread ends for want of work.
        let (release, held) = channel::<()>();
        pool.submit(note(Box::new(move || held.recv().unwrap())));
        for _ in 0..10 {
            pool.submit(note(Box::new(|| std::panic::resume_unwind(Box::new(())))));
        }
        pool.submit(note(Box::new(|| {})));
        release.send(()).unwrap();
        expect(&done, 2);
        // One thread does the jobs, and one stands watch and may take its place.
        assert!(threads.lock().unwrap().len() <= 2);
    }

    #[test]
    fn submitters_on_many_threads_and_threads_that_end_lose_nothing() {
        let (mut pool, sender, done) = pool(2, 4);
        Arc::get_mut(&mut pool.0).unwrap().bounds.idle = Duration::from_micros(50);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..500 {
                        pool.submit(task(&sender, || {}));
                        if round % 5 == 0 {
                            thread::sleep(Duration::from_micros(round % 100));
                        }
                    }
                });
            }
        });
        expect(&done, 2000);
        wait_until("threads end", || pool.threads() == 0);
        let state = pool.0.lock();
        assert_eq!((state.awake, state.idle, state.woken), (0, 0, 0));
    }
}
