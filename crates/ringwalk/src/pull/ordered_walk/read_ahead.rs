//! The threads that read ahead, and the queue that they share with the walk.
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
//! One mutex protects the queue; nothing is read under it. A thread sleeps on `work` while there is
//! nothing to claim, or [`MOST_AHEAD`] entries are held. The walk sleeps on `done` when everything
//! that is left to do is being read by a thread.

use super::deputy::{GivenUp, Patience};
use super::lister::{Lister, OpenListing};
use super::listing::SpareListings;
use super::queue::{Id, Queue};
use crate::walk::descriptors::DescriptorAllowance;
use ringwalk_sys::sync::wait_at_most;
use ringwalk_sys::sync::{IgnorePoison, lock};
use ringwalk_sys::with_signals_blocked;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Entries that were read ahead and are held: 2 to 3 MiB of names. A larger number makes nothing
/// faster. With a smaller one the threads stop while the owner of the walk works.
const MOST_AHEAD: usize = 64 * 1024;

/// A thread is woken, or started, for this many directories that nobody has begun. The walk itself
/// reads fewer than that sooner.
const WORTH_A_THREAD: usize = 4;

#[derive(Debug, Default)]
pub(super) struct ReadAheadState {
    pub(super) queue: Queue,
    /// Memory for the threads' listings.
    pub(super) spares: SpareListings,
    /// Threads that sleep.
    idle: usize,
    /// Threads that read.
    reading: usize,
    /// The process has run out of descriptors: nothing more is read ahead.
    scarce: bool,
    /// The walk sleeps.
    waiting: bool,
    closing: bool,
}

#[derive(Debug, Default)]
pub(super) struct SharedQueue {
    state: Mutex<ReadAheadState>,
    work: Condvar,
    done: Condvar,
    /// Descriptors left to the rest of the process, if not the default.
    reserve: Option<usize>,
    /// The descriptors of the walk, counted. The allowance is made when the first directory is to
    /// be held.
    allowance: OnceLock<Arc<DescriptorAllowance>>,
}

impl SharedQueue {
    /// Returns the allowance of the walk: the descriptors that are held, and one for the walk and
    /// for each of its threads.
    pub(super) fn allowance(&self) -> &Arc<DescriptorAllowance> {
        self.allowance.get_or_init(|| {
            let allowance = DescriptorAllowance::new(self.reserve, false);
            allowance.take_anyway(1);
            Arc::new(allowance)
        })
    }

    /// Returns the largest number of descriptors that were counted at a time.
    pub(super) fn descriptors_held(&self) -> usize {
        self.allowance.get().map_or(1, |allowance| allowance.most())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ReadAheadState> {
        lock(&self.state)
    }

    /// Waits until a thread has read a directory, or until `time` has passed.
    pub(super) fn wait<'s>(
        &self,
        mut state: MutexGuard<'s, ReadAheadState>,
        time: Option<Duration>,
    ) -> MutexGuard<'s, ReadAheadState> {
        state.waiting = true;
        wait_at_most(&self.done, state, time)
    }

    /// Stops reading ahead, because the process has run out of descriptors, and waits until no
    /// thread uses one.
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
    pub(super) fn wake(&self, state: &ReadAheadState) {
        if state.idle > 0 && state.queue.pending() >= WORTH_A_THREAD && state.has_room() {
            self.work.notify_one();
        }
    }
}

impl ReadAheadState {
    /// Returns true if more may be read ahead.
    pub(super) fn has_room(&self) -> bool {
        !self.scarce && self.queue.held() < MOST_AHEAD
    }

    /// Returns true if there is work for one thread more than there are.
    pub(super) fn wants_thread(&self, threads: usize) -> bool {
        self.idle == 0 && self.queue.pending() >= WORTH_A_THREAD * (threads + 1) && self.has_room()
    }
}

/// The threads of one walk. They end when this is dropped.
#[derive(Debug)]
pub(super) struct ReadAheadThreads {
    pub(super) shared: Arc<SharedQueue>,
    threads: Vec<JoinHandle<()>>,
    /// The process that has the threads.
    process: u32,
}

impl ReadAheadThreads {
    /// Creates the queue without threads, for a walk that leaves `reserve` descriptors to the rest
    /// of the process.
    pub(super) fn new(reserve: Option<usize>) -> Self {
        let shared = SharedQueue {
            reserve,
            ..SharedQueue::default()
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

    /// Starts a thread, unless the allowance has no descriptor for it, or the system no thread.
    pub(super) fn start(&mut self) {
        if !self.shared.allowance().take(1) {
            return;
        }
        self.process = std::process::id();
        let shared = Arc::clone(&self.shared);
        let builder = Builder::new().name("ringwalk-ahead".into());
        // Signals are for the threads of the program. Its handlers may count on that.
        let thread = with_signals_blocked(|| builder.spawn(move || read_ahead(&shared)));
        match thread {
            Ok(thread) => self.threads.push(thread),
            Err(_) => self.shared.allowance().give_back(1),
        }
    }

    /// Returns true if the threads were left behind in the process that this one was forked from.
    /// Then the queue may be locked for ever, and must not be used.
    pub(super) fn is_left_behind(&self) -> bool {
        !self.threads.is_empty() && self.process != std::process::id()
    }

    /// Ends the threads, and waits for them, at most until `deadline`. A thread that is in a longer
    /// call ends after it; the data that it uses is kept until then.
    pub(super) fn end(&mut self, deadline: Option<Instant>) {
        if self.is_left_behind() {
            // There is no thread to wait for, and nothing can be freed: it may be half changed.
            std::mem::forget(std::mem::take(&mut self.threads));
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        if self.threads.is_empty() {
            // No thread was started, or an earlier call has left the threads behind.
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
            // A panic of the thread was reported on standard error, and the directory it was
            // reading was given back.
            let _ = thread.join();
        }
    }

    /// For a test: makes this look as it does in a forked child.
    #[cfg(test)]
    pub(super) fn leave_behind(&mut self) {
        self.process = 0;
    }
}

impl Drop for ReadAheadThreads {
    fn drop(&mut self) {
        self.end(None);
    }
}

/// A thread: reads one directory after the other ahead.
fn read_ahead(shared: &SharedQueue) {
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
            state = shared.work.wait(state).ignore_poison();
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
        // After a panic the directory counts as not read ahead.
        state = publish(shared, id, read.unwrap_or_default());
        state.reading -= 1;
    }
}

/// Gives a claimed directory back to the queue, read or not.
pub(super) fn publish(
    shared: &SharedQueue,
    id: Id,
    read: Option<OpenListing>,
) -> MutexGuard<'_, ReadAheadState> {
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
        let mut read_ahead = ReadAheadThreads::new(None);
        let (go, wait) = mpsc::channel::<()>();
        read_ahead.process = std::process::id();
        read_ahead.shared.lock().reading = 1;
        // Hangs until the test ends.
        let hang = move || assert!(wait.recv().is_err());
        read_ahead.threads.push(std::thread::spawn(hang));
        read_ahead.end(Some(Instant::now()));
        // Dropping the threads must not wait for this one either.
        let (dropped, done) = mpsc::channel();
        std::thread::spawn(move || {
            drop(read_ahead);
            dropped.send(())
        });
        assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
        drop(go);
    }
}
