//! Running a walk: starts the workers, and collects their results.

use crate::sources::volume::open_root;
use crate::visit::summary::Outcome;
use crate::visit::visitor::Visitor;
use crate::walk::Walk;
use crate::walk::options::Options;
use crate::walk::outcome::outcome;
use crate::walk::scheduler::{StopOnPanic, Task};
use crate::walk::settings::Follow;
use crate::walk::shared::SharedWalk;
use crate::walk::worker::{FinishedWorker, Worker};
use ringwalk_sys::sync::{IgnorePoison, lock};
use rustix::fs::{fstat, syncfs};
use std::sync::{Arc, Mutex};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

impl Walk {
    /// Runs the walk, and returns when it is complete or a visitor has stopped it.
    ///
    /// `make` makes the visitor of each worker, on the worker's thread. The first worker is the
    /// calling thread.
    ///
    /// Failures are not errors of this call. Each failure goes to [`Visitor::error`], and the
    /// summary counts them.
    ///
    /// # Panics
    ///
    /// If a visitor panics. If a walk has a budget or goes on with leftovers, and follows all links
    /// or reads a saved tree.
    pub fn run<V: Visitor>(self, make: impl Fn(usize) -> V + Sync) -> Outcome<V> {
        let begin = Instant::now();
        let is_live = self.options.saved.is_none();
        assert!(
            !self.is_partial() || is_live && self.options.follow != Follow::Always,
            "a walk that follows all links or reads a saved tree cannot stop and go on",
        );
        // Roots that the source refuses are read by system calls.
        let _ = self.check_source();
        if is_live && self.options.sync {
            sync_roots(&self.options);
        }
        let shared = SharedWalk::<V::State>::new(self.options, self.named, self.monitor);
        if is_live {
            shared.begin_prefetch();
        }
        let done = Mutex::new(Vec::new());
        // Leftovers of roots that the walk does not have are errors, so workers look at them.
        if !shared.options.roots.is_empty() || shared.options.resume.is_some() {
            let first = if shared.options.resume.is_some() {
                Task::Leftovers
            } else {
                Task::Roots(0)
            };
            std::thread::scope(|scope| {
                let starter = WorkerStarter {
                    shared: &shared,
                    make: &make,
                    done: &done,
                    threads: Arc::default(),
                };
                let threads = Arc::clone(&starter.threads);
                starter.work(scope, 0, Some(first));
                join_all(&threads);
            });
            free_records_of_threads();
        }
        let done = done.into_inner().ignore_poison();
        outcome(&shared, done, begin)
    }
}

/// Has the file systems of the roots write back dirty data.
///
/// Failures are ignored here: the walk reports a root that cannot be opened, and sources that read
/// past the VFS decline a file system that cannot be synced.
fn sync_roots(options: &Options) {
    let mut synced = Vec::new();
    for root in &options.roots {
        let Ok(directory) = open_root(root, options.follow != Follow::Never) else {
            continue;
        };
        // Without a device number nobody knows whether the file system was synced before.
        let device = fstat(&directory).ok().map(|stat| stat.st_dev);
        if device.is_none_or(|device| !synced.contains(&device)) {
            synced.extend(device);
            let _ = syncfs(&directory);
        }
    }
}

/// Threads of workers, until they are joined.
type Threads<'scope> = Mutex<Vec<ScopedJoinHandle<'scope, ()>>>;

/// Waits until all threads are gone. A scope alone would wait only until they have no more work.
/// Then they may still be freeing their memory while the process ends.
fn join_all(threads: &Threads<'_>) {
    // A thread adds the threads that it starts, so they are in the list when it has ended.
    while let Some(thread) = { lock(threads).pop() } {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Frees what the scheduler's queues keep for threads that have ended. Otherwise the next walk
/// would free it, and tools that look for memory leaks would report it when the process ends.
pub(crate) fn free_records_of_threads() {
    // Each step moves the records of 8 blocks of 64 threads one of three steps further.
    for _ in 0..32 {
        crossbeam_epoch::pin().flush();
    }
}

/// Starts workers: the first on the calling thread, the others when there is work for them.
struct WorkerStarter<'scope, V: Visitor, F> {
    shared: &'scope SharedWalk<V::State>,
    make: &'scope F,
    done: &'scope Mutex<Vec<FinishedWorker<V>>>,
    threads: Arc<Threads<'scope>>,
}

impl<V: Visitor, F> Clone for WorkerStarter<'_, V, F> {
    fn clone(&self) -> Self {
        Self {
            threads: Arc::clone(&self.threads),
            ..*self
        }
    }
}

impl<'scope, V: Visitor, F: Fn(usize) -> V + Sync> WorkerStarter<'scope, V, F> {
    fn work(self, scope: &'scope Scope<'scope, '_>, index: usize, first: Option<Task<V::State>>) {
        let _guard = StopOnPanic(&self.shared.scheduler);
        if index == 0 {
            // Nobody has asked the scheduler for the first worker.
            self.shared.scheduler.next_worker(1);
        }
        let start = |index| {
            let starter = self.clone();
            let thread = std::thread::Builder::new()
                .name(format!("ringwalk-{index}"))
                .spawn_scoped(scope, move || starter.work(scope, index, None));
            thread
                .map(|thread| lock(&self.threads).push(thread))
                .is_ok()
        };
        let source = self.shared.sources.for_worker(&self.shared.options);
        let visitor = (self.make)(index);
        let worker = Worker::new(index, self.shared, source, visitor, &start);
        let finished = worker.run(first);
        lock(self.done).push(finished);
    }
}
