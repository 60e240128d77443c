//! Measuring calls, and starting workers for work that waits.

use super::Worker;
use crate::Dir;
use crate::system::filesystem;
use crate::visit::visitor::Visitor;
use crate::walk::concurrency::meter::WindowEnd;
use crate::walk::descriptors::Extra;
use crate::walk::scheduler::Task;
use crate::walk::shared::SharedWalk;
use ringwalk_sys::DirectoryFd;
use std::os::fd::AsFd;
use std::time::Instant;

/// Directories that wait in the worker's own deque before another worker is started for them. A
/// thread costs about as much as reading four small directories.
const WORTH_A_WORKER: usize = 4;

impl<V: Visitor> Worker<'_, V> {
    /// Pushes a task and wakes an idle worker. The rest of a directory is worth one more worker.
    pub(super) fn push(&mut self, task: Task<V::State>) {
        let wide = matches!(task, Task::Rest(_));
        self.deque.push(task);
        if wide {
            self.want_workers(1);
        }
        self.shared.scheduler.pushed(1);
    }

    /// Wakes or starts workers for tasks that are in the own deque now.
    pub(super) fn pushed(&mut self, tasks: usize) {
        self.shared.scheduler.pushed(tasks);
        self.share_deque();
    }

    /// Starts workers for the tasks that wait in the own deque.
    fn share_deque(&mut self) {
        let worth = if self.shared.concurrency.has_waited() {
            1
        } else {
            WORTH_A_WORKER
        };
        self.want_workers(self.deque.len() / worth);
    }

    /// Starts `more` workers, as far as the concurrency controller wants them. All are started at
    /// once: directories without subdirectories push nothing, so there may be no later occasion.
    fn want_workers(&mut self, more: usize) {
        if more == 0 || self.shared.scheduler.idle() > 0 {
            return;
        }
        self.shared.concurrency.there_is_more_work();
        let target = self.shared.concurrency.target();
        for _ in 0..more {
            let Some(index) = self.shared.scheduler.next_worker(target) else {
                return;
            };
            let admitted = self.shared.descriptors.admit_worker();
            if !admitted || !(self.start)(index) {
                if admitted {
                    self.shared.descriptors.dismiss_worker();
                }
                return self.shared.scheduler.give_up_starting();
            }
        }
    }

    /// Notes `calls` for `dir`, which began at `begin`. Where they waited for a device, reads
    /// ahead, has the source keep more directories in flight, or wants more workers. Returns what
    /// was measured.
    pub(super) fn meter(
        &mut self,
        calls: u64,
        begin: Option<Instant>,
        dir: &Dir<V::State>,
        fd: Option<&DirectoryFd>,
    ) -> WindowEnd {
        let concurrency = &self.shared.concurrency;
        let window = self.meter.note(concurrency, calls, begin);
        if window.decision.first_wait && fd.is_some_and(filesystem::is_rotational) {
            concurrency.use_inode_order();
        }
        if window.waiting
            && !(self.shared.prefetch.is_watching() && self.read_ahead(dir, fd))
            // Directories in flight are read in no order, which makes a disk seek.
            && !concurrency.uses_inode_order()
        {
            self.source.calls_wait();
        }
        if window.ended {
            self.report();
            if window.decision.raised {
                self.shared.scheduler.wake_surplus();
            }
            // The controller may want more than it did when the last directories were found.
            self.share_deque();
        }
        window
    }

    /// Reads ahead the blocks that the walk will need, in the order of the disk, because calls for
    /// `dir` wait for a device. Returns true if this call has read them. It returns false if
    /// nothing can be read ahead, or that was done before.
    #[cold]
    fn read_ahead(&mut self, dir: &Dir<V::State>, fd: Option<&DirectoryFd>) -> bool {
        let SharedWalk {
            options,
            sources,
            scheduler,
            prefetch,
            descriptors,
            ..
        } = self.shared;
        let volume = || {
            let (volume, _) = sources.routing.volume_of(dir)?;
            Some(sources.routing.volumes()[volume].mounted.directory())
        };
        let on_it = fd.map(AsFd::as_fd).or_else(volume);
        let read = on_it.is_some_and(|fd| {
            let waited = || prefetch.waited(options, fd, scheduler.stop_flag());
            descriptors.with(Extra::Prefetch, waited) == Some(true)
        });
        if read {
            self.meter.resume();
        }
        read
    }
}
