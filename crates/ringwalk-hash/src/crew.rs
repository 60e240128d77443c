//! Threads that work on files, as many as help.
//!
//! ```text
//!   producer ── push ──> waiting [ ........ ] ──┐
//!                                               ├── take ──> worker 0 ... worker n-1
//!   worker ─── push_first ─> first [ .. ] ──────┘             ^
//!                                                overseer: how many may work
//! ```
//!
//! Reading a file that is in memory takes a CPU, and more workers than CPUs are of no use. Reading
//! from a disk or a server waits, and each worker more is one more request in flight. So an
//! overseer compares the CPU time of the process with the time by the clock. While CPUs are idle
//! and tasks wait, it lets twice as many workers in, up to [`MOST`]. While no CPU is idle, it sends
//! them away one by one.

use ringwalk::Errno;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// The most workers: requests in flight that disks and servers still gain from.
pub const MOST: usize = 64;

/// How often the overseer looks.
const ROUND: Duration = Duration::from_millis(5);

/// Shares of the CPUs that are in use, in percent: below the first one more workers are let in,
/// above the second one they are sent away.
const IDLE: u32 = 85;
const BUSY: u32 = 97;

/// Tasks and the workers that do them.
#[derive(Debug)]
pub struct Crew<T> {
    state: Mutex<State<T>>,
    /// Workers that may take tasks wait here for one.
    task: Condvar,
    /// Workers that were sent away wait here.
    let_in: Condvar,
    /// The overseer waits here.
    over: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Tasks that come before the others, the newest first.
    first: Vec<T>,
    waiting: VecDeque<T>,
    /// Nothing more comes from the producer.
    is_closed: bool,
    /// Workers with a task. Each may still push tasks.
    working: usize,
    /// Workers with a number below this may take tasks.
    allowed: usize,
    started: usize,
    is_over: bool,
}

impl<T: Send> Default for Crew<T> {
    fn default() -> Self {
        let state = State {
            first: Vec::new(),
            waiting: VecDeque::new(),
            is_closed: false,
            working: 0,
            allowed: 0,
            started: 0,
            is_over: false,
        };
        Self {
            state: Mutex::new(state),
            task: Condvar::new(),
            let_in: Condvar::new(),
            over: Condvar::new(),
        }
    }
}

/// Ends the task of a worker, even by a panic.
struct Working<'c, T: Send>(&'c Crew<T>);

impl<T: Send> Drop for Working<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.working -= 1;
        self.0.look_for_the_end(&mut state);
    }
}

impl<T: Send> Crew<T> {
    /// Runs `produce` on the calling thread and `work` on the workers, for each task that is
    /// pushed, until all tasks are done. `workers` is their number; `None` lets it adapt. `scratch`
    /// makes what each worker keeps from task to task.
    ///
    /// # Errors
    ///
    /// If no thread can be started. Nothing has been done then.
    pub fn run<S>(
        &self,
        workers: Option<NonZeroUsize>,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(T, &mut S) + Sync,
        produce: impl FnOnce(),
    ) -> io::Result<()> {
        let cpus = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let (base, most) = match workers {
            Some(workers) => (workers.get(), workers.get()),
            None => (cpus, MOST.max(cpus)),
        };
        let body = |number: usize| {
            let mut scratch = scratch();
            while let Some(task) = self.take(number) {
                let working = Working(self);
                work(task, &mut scratch);
                drop(working);
            }
        };
        thread::scope(|scope| {
            self.let_in(scope, base, &body);
            if lock(&self.state).started == 0 {
                return Err(Errno::AGAIN.into());
            }
            if most > base {
                // Without this thread the number stays as it is.
                let oversee = || self.oversee(scope, cpus, base, most, &body);
                let _ = thread::Builder::new().spawn_scoped(scope, oversee);
            }
            let closing = Closing(self);
            produce();
            drop(closing);
            Ok(())
        })
    }

    /// Adds a task behind the others.
    pub fn push(&self, task: T) {
        lock(&self.state).waiting.push_back(task);
        self.task.notify_one();
    }

    /// Adds a task before the others.
    pub fn push_first(&self, task: T) {
        lock(&self.state).first.push(task);
        self.task.notify_one();
    }

    /// Returns the number of tasks that nobody has taken.
    pub fn waiting(&self) -> usize {
        let state = lock(&self.state);
        state.first.len() + state.waiting.len()
    }

    fn take(&self, number: usize) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if state.is_over {
                return None;
            }
            if number >= state.allowed {
                // It may have taken the wake-up that was for another.
                self.task.notify_one();
                state = self.let_in.wait(state).ignore_poison();
                continue;
            }
            let task = state.first.pop();
            if let Some(task) = task.or_else(|| state.waiting.pop_front()) {
                state.working += 1;
                return Some(task);
            }
            state = self.task.wait(state).ignore_poison();
        }
    }

    fn look_for_the_end(&self, state: &mut MutexGuard<'_, State<T>>) {
        if state.is_closed
            && state.working == 0
            && state.first.is_empty()
            && state.waiting.is_empty()
        {
            state.is_over = true;
            self.task.notify_all();
            self.let_in.notify_all();
            self.over.notify_all();
        }
    }

    /// Allows this many workers, and starts those that are missing. If the system refuses a thread,
    /// those that run go on.
    fn let_in<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: usize,
        body: &'scope (impl Fn(usize) + Sync),
    ) {
        let started = lock(&self.state).started;
        for next in started..number {
            let run = move || body(next);
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
            lock(&self.state).started = next + 1;
        }
        lock(&self.state).allowed = number;
        self.let_in.notify_all();
    }

    fn oversee<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        cpus: usize,
        base: usize,
        most: usize,
        body: &'scope (impl Fn(usize) + Sync),
    ) {
        let mut allowed = base;
        let mut before = (Instant::now(), cpu_time());
        loop {
            let state = lock(&self.state);
            if state.is_over {
                return;
            }
            let waited = self
                .over
                .wait_timeout_while(state, ROUND, |state| !state.is_over);
            let (state, _) = waited.ignore_poison();
            if state.is_over {
                return;
            }
            let tasks = state.first.len() + state.waiting.len();
            drop(state);
            let now = (Instant::now(), cpu_time());
            let used = now.1.saturating_sub(before.1);
            let given = (now.0 - before.0).saturating_mul(u32::try_from(cpus).unwrap_or(u32::MAX));
            before = now;
            let share = 100.0 * used.as_secs_f64() / given.as_secs_f64();
            let next = if share < f64::from(IDLE) && tasks > 0 {
                (2 * allowed).min(most)
            } else if share > f64::from(BUSY) {
                (allowed - 1).max(base)
            } else {
                allowed
            };
            if next != allowed {
                allowed = next;
                self.let_in(scope, allowed, body);
            }
        }
    }
}

/// Ends the production, even by a panic.
struct Closing<'c, T: Send>(&'c Crew<T>);

impl<T: Send> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.is_closed = true;
        self.0.look_for_the_end(&mut state);
    }
}

/// Returns the CPU time of this process, all threads together.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    #[test]
    fn every_task_is_done_once() {
        for workers in [None, NonZeroUsize::new(1), NonZeroUsize::new(7)] {
            let crew = Crew::default();
            let sum = AtomicU64::new(0);
            let work = |task: u64, done: &mut u64| {
                *done += 1;
                sum.fetch_add(task, Ordering::Relaxed);
                // Each task of the producer makes another one.
                if task < 10_000 {
                    crew.push_first(task + 10_000);
                }
            };
            crew.run(
                workers,
                || 0,
                work,
                || (0..10_000).for_each(|task| crew.push(task)),
            )
            .unwrap();
            assert_eq!(sum.into_inner(), (0..20_000).sum(), "{workers:?}");
            assert_eq!(crew.waiting(), 0);
        }
    }

    #[test]
    fn without_tasks_it_ends() {
        let crew = Crew::<()>::default();
        crew.run(None, || (), |(), ()| {}, || {}).unwrap();
    }

    #[test]
    fn tasks_that_wait_get_more_workers_and_no_more_than_allowed() {
        let most_at_once = |workers| {
            let crew = Crew::default();
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |(), (): &mut ()| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
            };
            crew.run(
                workers,
                || (),
                work,
                || (0..600).for_each(|_| crew.push(())),
            )
            .unwrap();
            most.into_inner()
        };
        assert_eq!(most_at_once(NonZeroUsize::new(3)), 3);
        let cpus = thread::available_parallelism().unwrap().get();
        let most = most_at_once(None);
        assert!(
            most > cpus && most <= MOST.max(cpus),
            "{most} with {cpus} CPUs"
        );
    }

    #[test]
    fn the_newest_first_task_comes_first() {
        let crew = Crew::default();
        let order = Mutex::new(Vec::new());
        let work = |task: u32, (): &mut ()| {
            if task == 0 {
                crew.push_first(10);
                crew.push_first(11);
            }
            lock(&order).push(task);
        };
        let produce = || (0..3).for_each(|task| crew.push(task));
        crew.run(NonZeroUsize::new(1), || (), work, produce)
            .unwrap();
        let order = order.into_inner().unwrap();
        assert_eq!(
            order.iter().filter(|task| **task >= 10).collect::<Vec<_>>(),
            [&11, &10]
        );
        assert_eq!(order[..3], [0, 11, 10]);
    }
}
