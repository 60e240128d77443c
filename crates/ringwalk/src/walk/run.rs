//! Running a walk: starts the workers, and collects their results.

use crate::sources::volume::open_root;
use crate::visit::leftover::Leftover;
use crate::visit::summary::Outcome;
use crate::visit::visitor::Visitor;
use crate::walk::Walk;
use crate::walk::options::{Follow, Options};
use crate::walk::scheduler::{StopOnPanic, Task};
use crate::walk::shared::SharedWalk;
use crate::walk::worker::{Totals, Worker};
use ringwalk_sys::sync::{IgnorePoison, lock};
use rustix::fs::{fstat, syncfs};
use std::sync::Mutex;
use std::thread::Scope;
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
        assert!(
            !self.is_partial()
                || self.options.saved.is_none() && self.options.follow != Follow::Always,
            "a walk that follows all links or reads a saved tree cannot stop and go on",
        );
        // Roots that the source refuses are read by system calls.
        let _ = self.check_source();
        if self.options.sync && self.options.saved.is_none() {
            sync_roots(&self.options);
        }
        let shared = SharedWalk::<V::State>::new(self.options, self.named, self.monitor);
        shared.begin_prefetch();
        let done = Mutex::new(Vec::new());
        // Leftovers of roots that the walk does not have are errors, so workers look at them.
        if !shared.options.roots.is_empty() || shared.options.resume.is_some() {
            let starter = WorkerStarter {
                shared: &shared,
                make: &make,
                done: &done,
            };
            let first = if shared.options.resume.is_some() {
                Task::Leftovers
            } else {
                Task::Roots(0)
            };
            std::thread::scope(|scope| starter.work(scope, 0, Some(first)));
        }
        let done = done.into_inner().ignore_poison();
        shared.into_outcome(done, begin)
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

/// The results of one worker.
pub(crate) struct FinishedWorker<V> {
    pub(crate) visitor: V,
    pub(crate) totals: Totals,
    pub(crate) buffer_size: usize,
    pub(crate) leftovers: Vec<Leftover>,
}

/// Starts workers: the first on the calling thread, the others when there is work for them.
struct WorkerStarter<'a, V: Visitor, F> {
    shared: &'a SharedWalk<V::State>,
    make: &'a F,
    done: &'a Mutex<Vec<FinishedWorker<V>>>,
}

impl<V: Visitor, F> Clone for WorkerStarter<'_, V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Visitor, F> Copy for WorkerStarter<'_, V, F> {}

impl<'a, V: Visitor, F: Fn(usize) -> V + Sync> WorkerStarter<'a, V, F> {
    fn work<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        first: Option<Task<V::State>>,
    ) where
        'a: 'scope,
    {
        let _guard = StopOnPanic(&self.shared.scheduler);
        if index == 0 {
            // Nobody has asked the scheduler for the first worker.
            self.shared.scheduler.next_worker(1);
        }
        let start = move |index| {
            std::thread::Builder::new()
                .name(format!("ringwalk-{index}"))
                .spawn_scoped(scope, move || self.work(scope, index, None))
                .is_ok()
        };
        let source = self.shared.sources.for_worker(&self.shared.options);
        let visitor = (self.make)(index);
        let worker = Worker::new(index, self.shared, source, visitor, &start);
        let finished = worker.run(first);
        lock(self.done).push(finished);
    }
}
