//! The threads that read ahead, and what they share with the walk.
//!
//! ```text
//!   the walk                              threads
//!   ────────                              ───────
//!   take(its turn) ──────> Queue <────── claim(first that nobody has begun)
//!        │ not read: reads it itself       │ read
//!        │ being read: reads another       v
//!        │ one ahead, or waits ── done ── publish
//!        └── add_first(its subdirectories) ── work ──> claim
//! ```
//!
//! One mutex protects the queue; nothing is read under it. A thread sleeps on `work` while nothing is to be claimed or
//! [`MOST_AHEAD`] entries are held; the walk sleeps on `done` when it has nothing left to do but what a thread is doing.

use super::apart::{GivenUp, Patience};
use super::lister::{Lister, Read};
use super::listing::Spares;
use super::queue::{Id, Queue};
use crate::descriptor::Budget;
use crate::timed_wait::wait_at_most;
use ringwalk_sys::with_signals_blocked;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Entries held that have been read ahead: 2 to 3 MiB of names. More bring nothing; fewer, and the threads stop while
/// the walk's owner thinks.
const MOST_AHEAD: usize = 64 * 1024;

/// A thread is woken, or started, for this many directories that nobody has begun: the walk itself is at hand sooner.
const WORTH_A_THREAD: usize = 4;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) queue: Queue,
    /// Memory for the threads' listings.
    pub(super) spares: Spares,
    /// Threads that sleep.
    idle: usize,
    /// Threads that read.
    reading: usize,
    /// The process has run out of descriptors: nothing is read ahead any more.
    scarce: bool,
    /// The walk sleeps.
    waiting: bool,
    closing: bool,
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
    /// Descriptors left to the rest of the process, if not the default.
    reserve: Option<usize>,
    /// What the walk holds open; there is one when the first directory is to be held.
    budget: OnceLock<Arc<Budget>>,
}

impl Shared {
    /// The descriptors of the walk, counted: those held, and one each that the walk and its threads
    /// have for a moment.
    pub(super) fn budget(&self) -> &Arc<Budget> {
        self.budget.get_or_init(|| {
            let budget = Budget::new(self.reserve, false);
            budget.take_anyway(1);
            Arc::new(budget)
        })
    }

    /// The most descriptors that were counted at a time.
    pub(super) fn descriptors_held(&self) -> usize {
        self.budget.get().map_or(1, |budget| budget.most())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something has been read, or at most so long.
    pub(super) fn wait<'s>(
        &self,
        mut state: MutexGuard<'s, State>,
        time: Option<Duration>,
    ) -> MutexGuard<'s, State> {
        state.waiting = true;
        wait_at_most(&self.done, state, time)
    }

    /// The process has run out of descriptors: waits until none is in use here.
    pub(super) fn retreat(&self, patience: &mut Patience<'_>) -> Result<(), GivenUp> {
        let mut state = self.lock();
        state.scarce = true;
        while state.reading > 0 {
            state = self.wait(state, patience.slice());
            if state.reading > 0 {
                drop(state);
                patience.check()?;
                state = self.lock();
            }
        }
        state.queue.close_held();
        Ok(())
    }

    /// Has a sleeping thread look for work if there is enough.
    pub(super) fn wake(&self, state: &State) {
        if state.idle > 0 && state.queue.pending() >= WORTH_A_THREAD && state.has_room() {
            self.work.notify_one();
        }
    }
}

impl State {
    /// Whether more may be read ahead.
    pub(super) fn has_room(&self) -> bool {
        !self.scarce && self.queue.held() < MOST_AHEAD
    }

    /// Whether there is work for one thread more than there are.
    pub(super) fn wants_thread(&self, threads: usize) -> bool {
        self.idle == 0 && self.queue.pending() >= WORTH_A_THREAD * (threads + 1) && self.has_room()
    }
}

/// The threads of one walk. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Crew {
    pub(super) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// The process that has the threads.
    process: u32,
}

impl Crew {
    /// Without threads, for a walk that leaves so many descriptors to the rest of the process.
    pub(super) fn new(reserve: Option<usize>) -> Self {
        let shared = Shared {
            reserve,
            ..Shared::default()
        };
        Self {
            shared: Arc::new(shared),
            threads: Vec::new(),
            process: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Starts a thread. Where that is not possible, or there is no descriptor for it, there is
    /// none.
    pub(super) fn start(&mut self) {
        if !self.shared.budget().take(1) {
            return;
        }
        self.process = std::process::id();
        let shared = Arc::clone(&self.shared);
        let builder = Builder::new().name("ringwalk-ahead".into());
        // Signals are for the threads of the program, whose handlers may count on that.
        let thread = with_signals_blocked(|| builder.spawn(move || read_ahead(&shared)));
        match thread {
            Ok(thread) => self.threads.push(thread),
            Err(_) => self.shared.budget().give_back(1),
        }
    }

    /// Whether the threads have been left behind in the process that this one was forked from. Their queue is not to be touched then:
    /// it may be locked for ever.
    pub(super) fn is_left_behind(&self) -> bool {
        !self.threads.is_empty() && self.process != std::process::id()
    }

    /// Ends the threads, and waits for them, at most until `deadline`. One that is in a call that
    /// takes longer ends after it; what it uses is kept until then.
    pub(super) fn end(&mut self, deadline: Option<Instant>) {
        if self.is_left_behind() {
            // Nothing that could be waited for, and nothing that could be freed: half of it may be.
            std::mem::forget(std::mem::take(&mut self.threads));
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        if self.threads.is_empty() {
            // None was started, or an earlier call has left them behind.
            return;
        }
        let mut state = self.shared.lock();
        state.closing = true;
        self.shared.work.notify_all();
        while state.reading > 0 {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                self.threads.clear();
                return;
            }
            state = self.shared.wait(state, left);
        }
        drop(state);
        for thread in self.threads.drain(..) {
            // It panicked: told on standard error, and what it was reading was given back.
            let _ = thread.join();
        }
    }

    /// For a test: as a child of this process sees it.
    #[cfg(test)]
    pub(super) fn leave_behind(&mut self) {
        self.process = 0;
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.end(None);
    }
}

/// What a thread does.
fn read_ahead(shared: &Shared) {
    let mut lister = Lister::new();
    let mut state = shared.lock();
    loop {
        if state.closing {
            return;
        }
        let claimed = if state.has_room() {
            state.queue.claim()
        } else {
            None
        };
        let Some((id, place)) = claimed else {
            state.idle += 1;
            state = shared
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            continue;
        };
        if let Some(spare) = state.spares.get() {
            lister.spares.put(spare);
        }
        state.reading += 1;
        drop(state);
        let read = catch_unwind(AssertUnwindSafe(|| lister.read_ahead(&place, shared)));
        drop(place);
        // What a panic has cut short has not been read ahead.
        state = publish(shared, id, read.unwrap_or_default());
        state.reading -= 1;
    }
}

/// Gives back what was claimed.
pub(super) fn publish(shared: &Shared, id: Id, read: Option<Read>) -> MutexGuard<'_, State> {
    let mut state = shared.lock();
    state.queue.publish(id, read);
    if state.waiting {
        state.waiting = false;
        shared.done.notify_one();
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_that_hangs_is_left_behind_for_good() {
        let mut crew = Crew::new(None);
        let (go, wait) = mpsc::channel::<()>();
        crew.process = std::process::id();
        crew.shared.lock().reading = 1;
        // In a call until the test ends.
        let hang = move || assert!(wait.recv().is_err());
        crew.threads.push(std::thread::spawn(hang));
        crew.end(Some(Instant::now()));
        // Dropping the crew must not wait for the thread either.
        let (dropped, done) = mpsc::channel();
        std::thread::spawn(move || {
            drop(crew);
            dropped.send(())
        });
        assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
        drop(go);
    }
}
