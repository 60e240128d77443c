//! One worker: takes tasks, gives directories to its source, and what comes back to its visitor.
//!
//! The loop is here; `open.rs` has what happens before a directory is read, `list.rs` how it is
//! read without being opened, `rest.rs` how it is read on, `visit.rs` what happens to its entries,
//! `roots.rs` the beginning, `errors.rs` what goes wrong.

mod errors;
mod list;
mod open;
mod rest;
mod roots;
mod visit;

use crate::batch::Descent;
use crate::descriptor::{Extra, identity};
use crate::dir::Dir;
use crate::error::{Failure, Operation};
use crate::filesystem;
use crate::left::Left;
use crate::meter::Meter;
use crate::options::{Order, SourceChoice};
use crate::raw_batch::RawBatch;
use crate::scheduler::{Rest, Task};
use crate::source::{self, Job, Pulled, Source, Step};
use crate::visitor::Visitor;
use crate::volume::{Bulk, Reader};
use crate::walk::Shared;
use crossbeam_deque::Worker as Deque;
use crossbeam_utils::Backoff;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

/// Directories waiting in the own deque before another worker is started: a thread costs about as much as reading
/// four small directories.
const WORTH_A_WORKER: usize = 4;

/// What a worker has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) entries: u64,
    pub(crate) directories: u64,
    pub(crate) errors: u64,
    pub(crate) vanished: u64,
}

pub(crate) struct Worker<'w, V: Visitor> {
    index: usize,
    shared: &'w Shared<V::State>,
    deque: Deque<Task<V::State>>,
    source: Box<dyn Source<V::State> + 'w>,
    in_source: usize,
    /// Directories in the source whose descriptors are counted: all but the first, for which the
    /// worker has some.
    counted_jobs: usize,
    /// `auto`, as long as a better source may be found.
    choosing: bool,
    /// Of each ground that this worker has come to.
    readers: Vec<Option<Box<dyn Reader>>>,
    visitor: V,
    raw: RawBatch,
    descents: Vec<Descent<V::State>>,
    meter: Meter,
    totals: Totals,
    reported: Totals,
    /// Directories to be opened when there are descriptors again.
    postponed: Vec<Arc<Dir<V::State>>>,
    descriptor_tries: u32,
    /// Starts the worker with the given index; false if that cannot be done.
    start: &'w (dyn Fn(usize) -> bool + 'w),
}

impl<'w, V: Visitor> Worker<'w, V> {
    pub(crate) fn new(
        index: usize,
        shared: &'w Shared<V::State>,
        source: Box<dyn Source<V::State> + 'w>,
        visitor: V,
        start: &'w (dyn Fn(usize) -> bool + 'w),
    ) -> Self {
        let deque = Deque::new_lifo();
        shared.scheduler.register(index, &deque);
        shared.monitor.add_worker();
        Self {
            index,
            shared,
            deque,
            source,
            in_source: 0,
            counted_jobs: 0,
            choosing: shared.options.source == SourceChoice::Auto,
            readers: Vec::new(),
            visitor,
            raw: RawBatch::default(),
            descents: Vec::new(),
            meter: Meter::new(),
            totals: Totals::default(),
            reported: Totals::default(),
            postponed: Vec::new(),
            descriptor_tries: 0,
            start,
        }
    }

    /// Works until the walk is over. `first`: the task to begin with.
    pub(crate) fn run(mut self, first: Option<Task<V::State>>) -> (V, Totals, usize) {
        if let Some(task) = first {
            self.begin(task);
        }
        while !self.shared.scheduler.is_over() {
            if self.shared.prefetch.pause() {
                self.meter.resume();
            }
            while self.in_source < self.source.capacity() && self.may_take_more() {
                let Some(task) = self.next_task() else { break };
                self.begin(task);
            }
            if self.in_source > 0 {
                self.pull();
            } else if self.is_surplus() {
                self.give_back_postponed();
                let shared = self.shared;
                let surplus = || self.index >= shared.regime.target();
                shared.scheduler.wait_while_surplus(surplus);
                self.meter.resume();
            } else if self.deque.is_empty() {
                self.wait();
            }
        }
        self.report();
        let buffer_size = self.source.buffer_size();
        (self.visitor, self.totals, buffer_size)
    }

    /// Whether the budget has room for one more directory in the source. The first is the worker's
    /// own.
    fn may_take_more(&mut self) -> bool {
        if self.in_source > self.counted_jobs {
            if !self.shared.descriptors.admit_job() {
                return false;
            }
            self.counted_jobs += 1;
        }
        true
    }

    fn is_surplus(&self) -> bool {
        self.index >= self.shared.regime.target()
    }

    fn next_task(&mut self) -> Option<Task<V::State>> {
        if self.is_surplus() || self.shared.scheduler.is_stopped() {
            return None;
        }
        let own = self.deque.pop();
        if own.is_none() && self.in_source > 0 && !self.postponed.is_empty() {
            // Directories in the source have descriptors, which come back when those are pulled.
            return None;
        }
        own.or_else(|| self.retry_postponed())
            .or_else(|| self.shared.scheduler.steal(self.index))
    }

    /// Looks for work for a few microseconds, then sleeps.
    fn wait(&mut self) {
        let backoff = Backoff::new();
        while !backoff.is_completed() {
            backoff.snooze();
            if self.shared.scheduler.is_over() {
                return;
            }
            if let Some(task) = self.shared.scheduler.steal(self.index) {
                self.meter.resume();
                self.begin(task);
                return;
            }
        }
        self.report();
        self.shared.scheduler.wait_for_work();
        self.meter.resume();
    }

    fn begin(&mut self, task: Task<V::State>) {
        match task {
            Task::Roots(first) => self.visit_roots(first),
            Task::Open(dir) => self.open(dir),
            Task::Read(rest) => self.read_rest(*rest),
            Task::List(rest) => self.list_rest(*rest),
            Task::Part(part) => {
                let part = *part;
                if !part.dir.is_pruned() {
                    self.visit_part(&part.dir, part.raw, part.index, part.metadata);
                }
                self.shared.descriptors.child_opened(&part.dir);
                self.finish(part.dir);
            }
        }
    }

    fn give(&mut self, job: Job<V::State>) {
        self.in_source += 1;
        self.source.push(job);
    }

    fn pull(&mut self) {
        let begin = self.meter.begin();
        let Some(pulled) = self.source.pull(&mut self.raw) else {
            return;
        };
        self.in_source -= 1;
        if self.counted_jobs > self.in_source {
            self.counted_jobs -= 1;
            self.shared.descriptors.dismiss_job();
        }
        let Pulled {
            job,
            fd,
            end,
            metadata,
            failure,
        } = pulled;
        let Job {
            dir,
            step,
            next_batch,
            apart,
            to_end,
        } = job;
        let preorder = self.shared.options.preorder;
        let goes_on = !end && failure.is_none() && fd.is_some();
        let has_place = preorder && !to_end;
        self.take_place_back(has_place && !goes_on);
        let Some(fd) = fd else {
            let failure = failure.unwrap_or(Failure {
                operation: Operation::Open,
                errno: Errno::IO,
            });
            return self.open_failed(dir, failure);
        };
        let opened = matches!(step, Step::Open(_));
        // The parent may have been closed meanwhile, and be open only for this.
        drop(step);
        if opened && !self.enter(&dir, || identity(&fd)) {
            self.take_place_back(has_place && goes_on);
            return self.finish(dir);
        }
        match self.shared.options.order {
            Order::Name => self.raw.sort_by_name(),
            // Before it is cut into parts, so that each has its own stretch of the disk; and its directories will be read in
            // this order, too.
            Order::Any if self.shared.regime.uses_inode_order() && !preorder => {
                self.raw.sort_by_ino();
            }
            Order::Any | Order::Listed => {}
        }
        // One of several who read it apart tells what is wrong. That another has come to the end makes no difference: what this
        // one had been given may be lost.
        let failure = failure.filter(|_| dir.fail_to_end());
        if end && !opened {
            dir.end();
        }
        let cuts = if preorder { self.cut() } else { Vec::new() };
        let parts = match u32::try_from(cuts.len()) {
            // Numbers behind this one are taken.
            _ if apart => 0,
            Ok(0) if !preorder => self.share(&dir, &fd, next_batch, goes_on, metadata),
            Ok(parts) => parts,
            Err(_) => u32::MAX,
        };
        let rest = (goes_on && !apart).then(|| {
            dir.add_pending(1);
            Box::new(Rest {
                dir: Arc::clone(&dir),
                fd: Arc::clone(&fd),
                next_batch: next_batch + 1 + parts,
                // Where descriptors are scarce, a directory is read to its end before any below it are opened: an
                // unfinished one cannot be closed.
                pinned: has_place || self.shared.descriptors.pin_rest(preorder),
            })
        });
        let mut rest = rest.map(|rest| (rest.pinned, Task::Read(rest)));
        if let Some((_, task)) = rest.take_if(|(pinned, _)| *pinned) {
            self.push(task);
        }
        self.push_cuts(&dir, &fd, next_batch, metadata, cuts);
        let calls = if metadata { self.raw.records.len() } else { 0 };
        self.visit(
            &dir,
            Some(&fd),
            next_batch,
            metadata,
            3 + calls as u64,
            begin,
        );
        if self.choosing {
            self.choose_source();
        }
        if let Some((_, task)) = rest {
            self.push(task);
        }
        if let Some(failure) = failure {
            self.fail(&dir, failure);
        }
        self.source.release(fd);
        self.finish(dir);
    }

    /// Looks for better sources, once this worker has seen enough for that to be worth it.
    fn choose_source(&mut self) {
        let Shared {
            options,
            bulk,
            kernel,
            descriptors,
            ..
        } = self.shared;
        let times = Bulk::worth(self.totals.entries, self.totals.directories);
        if times == 0 {
            return;
        }
        if bulk.may_open() {
            // Where no descriptors are left for it, system calls read on.
            descriptors.with(Extra::Volume, || bulk.open(options));
            descriptors.count_volumes(bulk.grounds().len());
        }
        // What reads past the VFS is cheaper still, where it does not leave most of the work to others. Names alone system calls
        // give as cheaply.
        if !bulk.is_listing() && self.shared.entry_fields.asks_all() {
            kernel.look(times);
        }
        if kernel.reader().is_some() && self.in_source == 0 && descriptors.admit_kernel() {
            self.choosing = false;
            self.source = source::for_worker(options, kernel);
        }
    }

    fn push(&mut self, task: Task<V::State>) {
        let wide = matches!(task, Task::Read(_) | Task::List(_));
        self.deque.push(task);
        if wide {
            self.want_workers(1);
        }
        self.shared.scheduler.pushed(1);
    }

    fn pushed(&mut self, tasks: usize) {
        self.shared.scheduler.pushed(tasks);
        self.share_deque();
    }

    /// Starts workers for what waits in the own deque.
    fn share_deque(&mut self) {
        let worth = if self.shared.regime.has_waited() {
            1
        } else {
            WORTH_A_WORKER
        };
        self.want_workers(self.deque.len() / worth);
    }

    /// There is work for so many more workers: starts them if the regime wants them. All at once, as there may be no
    /// other occasion: directories that have none below them push nothing.
    fn want_workers(&mut self, more: usize) {
        if more == 0 || self.shared.scheduler.idle() > 0 {
            return;
        }
        self.shared.regime.there_is_more_work();
        let target = self.shared.regime.target();
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

    fn meter(
        &mut self,
        calls: u64,
        begin: Option<Instant>,
        dir: &Dir<V::State>,
        fd: Option<&DirectoryFd>,
    ) {
        let regime = &self.shared.regime;
        let window = self.meter.note(regime, calls, begin);
        if window.first_wait && fd.is_some_and(filesystem::is_rotational) {
            regime.use_inode_order();
        }
        if window.waiting
            && !(self.shared.prefetch.is_watching() && self.read_ahead(dir, fd))
            // Several at a time are read in no order, which a disk that has to seek takes longer for.
            && !regime.uses_inode_order()
        {
            self.source.calls_wait();
        }
        if window.ended {
            self.report();
            if regime.has_waited() {
                // More may be wanted than a moment ago, by this worker's report or by another's.
                self.shared.scheduler.wake_surplus();
            }
            // More may be wanted by now than when the last directories were found.
            self.share_deque();
        }
    }

    /// Calls for `dir` wait for a device: what the walk will need of it is read in order, if that can be done and has not been. True
    /// if it has been now.
    #[cold]
    fn read_ahead(&mut self, dir: &Dir<V::State>, fd: Option<&DirectoryFd>) -> bool {
        let Shared {
            options,
            bulk,
            scheduler,
            prefetch,
            descriptors,
            ..
        } = self.shared;
        let ground = || {
            let (ground, _) = bulk.ground_of(dir)?;
            Some(bulk.grounds()[ground].mounted.directory())
        };
        let on_it = fd.map(AsFd::as_fd).or_else(ground);
        let read = on_it.is_some_and(|fd| {
            let waited = || prefetch.waited(options, fd, scheduler.stop_flag());
            descriptors.with(Extra::Prefetch, waited) == Some(true)
        });
        if read {
            self.meter.resume();
        }
        read
    }

    /// Adds what has been counted to the live counters.
    fn report(&mut self) {
        let (now, before) = (self.totals, self.reported);
        self.shared.monitor.add(
            now.entries - before.entries,
            now.directories - before.directories,
            now.errors - before.errors,
        );
        self.reported = now;
    }

    /// One piece of work of `dir` is done; leaves it if it was the last, and so on upwards.
    fn finish(&mut self, mut dir: Arc<Dir<V::State>>) {
        while dir.finish_one() {
            if !self.shared.scheduler.is_stopped() {
                let descriptors = &self.shared.descriptors;
                let left = Left::new(&dir, descriptors, self.shared.options.parents_open);
                self.visitor.leave(&left);
            }
            let Some(parent) = dir.parent_arc().cloned() else {
                return self.shared.scheduler.finish_root();
            };
            if self.shared.options.parents_open {
                self.shared.descriptors.child_opened(&parent);
            }
            dir = parent;
        }
    }
}
