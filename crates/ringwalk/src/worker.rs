//! One worker: takes tasks, gives directories to its source, and what comes back to its visitor.

use crate::batch::{Batch, Candidate, Descent};
use crate::descriptor::{At, identity};
use crate::dir::{Dir, Origin};
use crate::error::{Error, Failure, Operation};
use crate::filesystem;
use crate::metadata::Metadata;
use crate::options::{Follow, Order, Stay};
use crate::raw_batch::{Known, RawBatch};
use crate::regime::Meter;
use crate::root::Root;
use crate::scheduler::{Part, Rest, Task};
use crate::source::{Job, Pulled, Source, Step};
use crate::stat::{Place, stat_entries};
use crate::visitor::{Flow, Visitor};
use crate::walk::Shared;
use crossbeam_deque::Worker as Deque;
use crossbeam_utils::Backoff;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Roots that are looked at together.
const ROOTS_AT_A_TIME: usize = 64;

/// A batch is not cut into parts smaller than this: cutting costs about what a `statx` from cache does.
const LEAST_PART: usize = 32;

/// Directories waiting in the own deque before another worker is started: a thread costs about as much as reading
/// four small directories.
const WORTH_A_WORKER: usize = 4;

/// How often opening is tried again when descriptors have run out, a millisecond apart.
const DESCRIPTOR_TRIES: u32 = 200;

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
    visitor: V,
    raw: RawBatch,
    descents: Vec<Descent<V::State>>,
    meter: Meter,
    totals: Totals,
    reported: Totals,
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
            visitor,
            raw: RawBatch::default(),
            descents: Vec::new(),
            meter: Meter::new(),
            totals: Totals::default(),
            reported: Totals::default(),
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
            while self.in_source < self.source.capacity() {
                let Some(task) = self.next_task() else { break };
                self.begin(task);
            }
            if self.in_source > 0 {
                self.pull();
            } else if self.is_surplus() {
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

    fn is_surplus(&self) -> bool {
        self.index >= self.shared.regime.target()
    }

    fn next_task(&mut self) -> Option<Task<V::State>> {
        if self.is_surplus() || self.shared.scheduler.is_stopped() {
            return None;
        }
        self.deque
            .pop()
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
            Task::Read(rest) => {
                let Rest {
                    dir,
                    fd,
                    next_batch,
                    pinned,
                } = *rest;
                if pinned {
                    self.shared.descriptors.unpin();
                }
                if dir.is_pruned() {
                    return self.finish(dir);
                }
                self.give(Job {
                    dir,
                    step: Step::Read(fd),
                    next_batch,
                });
            }
            Task::Part(part) => {
                let Part {
                    dir,
                    fd,
                    raw,
                    index,
                } = *part;
                if !dir.is_pruned() {
                    // The worker's own buffer is larger and is kept.
                    let own = std::mem::replace(&mut self.raw, raw);
                    let begin = Instant::now();
                    self.visit(&dir, &fd, index, false, 0, begin);
                    self.raw = own;
                }
                self.finish(dir);
            }
        }
    }

    fn give(&mut self, job: Job<V::State>) {
        self.in_source += 1;
        self.source.push(job);
    }

    /// Gives a directory to the source, with the descriptor it is opened relative to.
    fn open(&mut self, dir: Arc<Dir<V::State>>) {
        let at = match (&dir.origin, dir.parent_arc()) {
            (Origin::RootFd(fd), _) => Ok(At::Dir(Arc::clone(fd))),
            (_, Some(parent)) if parent.is_pruned() => return self.abandon(dir),
            (_, Some(parent)) => self.shared.descriptors.get(parent),
            (_, None) => Ok(At::Cwd),
        };
        match at {
            Ok(at) => self.give(Job {
                dir,
                step: Step::Open(at),
                next_batch: 0,
            }),
            Err(failure) => self.open_failed(dir, failure),
        }
    }

    /// Leaves a directory that was never opened.
    fn abandon(&mut self, dir: Arc<Dir<V::State>>) {
        if let Some(parent) = dir.parent_arc() {
            self.shared.descriptors.child_opened(parent);
        }
        self.finish(dir);
    }

    fn open_failed(&mut self, dir: Arc<Dir<V::State>>, failure: Failure) {
        if failure.is_out_of_descriptors() && self.make_room() {
            self.deque.push(Task::Open(dir));
            return;
        }
        self.fail(&dir, failure);
        self.abandon(dir);
    }

    /// Descriptors have run out, here or in the whole system: fewer are held from now on. False if nothing helps.
    fn make_room(&mut self) -> bool {
        if self.shared.descriptors.shrink() {
            return true;
        }
        // Other workers, or other processes, may be done with theirs in a moment.
        self.descriptor_tries += 1;
        std::thread::sleep(Duration::from_millis(1));
        self.descriptor_tries < DESCRIPTOR_TRIES
    }

    fn pull(&mut self) {
        let begin = Instant::now();
        let Some(pulled) = self.source.pull(&mut self.raw) else {
            return;
        };
        self.in_source -= 1;
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
        } = job;
        let Some(fd) = fd else {
            let failure = failure.unwrap_or(Failure {
                operation: Operation::Open,
                errno: Errno::IO,
            });
            return self.open_failed(dir, failure);
        };
        if matches!(step, Step::Open(_)) && !self.enter(&dir, &fd) {
            return self.finish(dir);
        }
        if self.shared.options.order == Order::Name {
            self.raw.sort_by_name();
        }
        let goes_on = !end && failure.is_none();
        let parts = self.share(&dir, &fd, next_batch, goes_on, metadata);
        let rest = goes_on.then(|| {
            dir.add_pending(1);
            Box::new(Rest {
                dir: Arc::clone(&dir),
                fd: Arc::clone(&fd),
                next_batch: next_batch + 1 + parts,
                // Where descriptors are scarce, a directory is read to its end before any below it are opened: an
                // unfinished one cannot be closed.
                pinned: self.shared.descriptors.pin(),
            })
        });
        let mut rest = rest.map(|rest| (rest.pinned, Task::Read(rest)));
        if let Some((_, task)) = rest.take_if(|(pinned, _)| *pinned) {
            self.push(task);
        }
        self.visit(&dir, &fd, next_batch, metadata, 3, begin);
        if let Some((_, task)) = rest {
            self.push(task);
        }
        if let Some(failure) = failure {
            self.fail(&dir, failure);
        }
        drop(fd);
        self.finish(dir);
    }

    /// A directory has been opened. False if it is not to be read.
    fn enter(&mut self, dir: &Arc<Dir<V::State>>, fd: &OwnedFd) -> bool {
        self.descriptor_tries = 0;
        self.totals.directories += 1;
        if let Some(parent) = dir.parent_arc() {
            self.shared.descriptors.child_opened(parent);
        }
        if self.shared.monitor.wants_path() {
            self.shared.monitor.set_path(dir.path());
        }
        if self.shared.options.follow == Follow::Always && Self::closes_loop(dir, fd) {
            self.fail(
                dir,
                Failure {
                    operation: Operation::Loop,
                    errno: Errno::LOOP,
                },
            );
            return false;
        }
        match self.visitor.enter(dir) {
            Flow::Continue => true,
            Flow::Prune => false,
            Flow::Stop => {
                self.shared.scheduler.stop();
                false
            }
        }
    }

    /// Whether this directory was reached through a link and is one that the walk is inside of.
    fn closes_loop(dir: &Dir<V::State>, fd: &OwnedFd) -> bool {
        let Ok(identity) = identity(fd) else {
            return false;
        };
        dir.slot.set_identity(identity);
        if !matches!(dir.origin, Origin::Entry { follow: true }) {
            return false;
        }
        let mut above = dir.parent();
        while let Some(dir) = above {
            if dir.slot.identity() == Some(identity) {
                return true;
            }
            above = dir.parent();
        }
        false
    }

    /// Cuts the batch into parts for workers that have nothing to do, if its entries need metadata. Returns how many
    /// were given away.
    fn share(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<OwnedFd>,
        index: u32,
        goes_on: bool,
        metadata: bool,
    ) -> u32 {
        let entries = self.raw.slots.len();
        if metadata || entries < 2 * LEAST_PART || self.shared.options.order == Order::Name {
            return 0;
        }
        if !self.shared.entry_fields.asks_all() {
            return 0;
        }
        let takers = self.takers().saturating_sub(usize::from(goes_on));
        let parts = (takers + 1).min(entries / LEAST_PART);
        let size = entries.div_ceil(parts.max(1));
        let mut given = 0_usize;
        // From the last to the first, so that the own deque gives them back in order.
        for part in (1..parts).rev() {
            if part * size >= self.raw.slots.len() {
                continue;
            }
            let raw = self.raw.split_off(part * size);
            dir.add_pending(1);
            let part = Part {
                dir: Arc::clone(dir),
                fd: Arc::clone(fd),
                raw,
                index: index + u32::try_from(part).unwrap_or(u32::MAX),
            };
            self.deque.push(Task::Part(Box::new(part)));
            given += 1;
        }
        if given > 0 {
            self.pushed(given);
        }
        u32::try_from(parts.max(1) - 1).unwrap_or(0)
    }

    /// How many other workers would begin at once if there were work.
    fn takers(&self) -> usize {
        let idle = self.shared.scheduler.idle();
        if idle == 0 && self.shared.regime.has_waited() {
            let target = self.shared.regime.target();
            return target.saturating_sub(self.shared.monitor.workers());
        }
        idle
    }

    /// Metadata, visitor, and the subdirectories that follow from them.
    fn visit(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<OwnedFd>,
        index: u32,
        metadata: bool,
        calls: u64,
        begin: Instant,
    ) {
        let options = &self.shared.options;
        let depth = dir.depth() + 1;
        let descending = depth < options.max_depth;
        let place = Place::Directory(fd);
        let mut calls = calls;
        if !metadata {
            let wanted = self.shared.entry_fields;
            let inode_order = self.shared.regime.uses_inode_order();
            calls += stat_entries(&mut self.raw, place, wanted, descending, inode_order);
        }
        self.meter(calls, begin, fd);
        let raw = std::mem::take(&mut self.raw);
        let descents = self.descents_of(&raw, Some(dir), depth);
        let batch = Batch {
            raw: &raw,
            place,
            dir: Some(dir),
            index,
            descents: &descents,
            first_root: 0,
        };
        self.report_failures(&batch);
        let flow = self.call_visitor(&batch);
        if flow == Flow::Continue {
            self.descend(dir, fd, &raw, &descents);
        } else {
            dir.prune();
        }
        self.raw = raw;
        self.keep_descents(descents);
    }

    fn call_visitor(&mut self, batch: &Batch<'_, V::State>) -> Flow {
        self.totals.entries += batch.len() as u64;
        if batch.is_empty() || batch.depth() < self.shared.options.min_depth {
            return Flow::Continue;
        }
        let flow = self.visitor.batch(batch);
        if flow == Flow::Stop {
            self.shared.scheduler.stop();
        }
        flow
    }

    /// The entries that the walk would descend into.
    fn descents_of(
        &mut self,
        raw: &RawBatch,
        dir: Option<&Dir<V::State>>,
        depth: usize,
    ) -> Vec<Descent<V::State>> {
        let mut descents = std::mem::take(&mut self.descents);
        let options = &self.shared.options;
        if depth >= options.max_depth {
            return descents;
        }
        for (index, slot) in raw.slots.iter().enumerate() {
            if slot.file_type != FileType::Directory {
                continue;
            }
            let metadata = match raw.known.get(index) {
                // What cannot be looked at cannot be opened either, and has been reported.
                Some(Known::Failed(_)) => continue,
                Some(Known::Metadata(metadata)) => Some(metadata),
                Some(Known::Nothing) | None => None,
            };
            if let (Some(dir), Some(metadata)) = (dir, metadata)
                && self.shared.leaves_root(dir.root_index(), metadata)
            {
                continue;
            }
            let candidate = Candidate {
                name: raw.name(slot).to_bytes(),
                depth,
                metadata,
            };
            if options.filter.as_ref().is_some_and(|f| !f(&candidate)) {
                continue;
            }
            descents.push(Descent {
                slot: u32::try_from(index).unwrap_or(u32::MAX),
                pruned: Cell::new(false),
                state: Cell::new(None),
            });
        }
        descents
    }

    fn keep_descents(&mut self, mut descents: Vec<Descent<V::State>>) {
        descents.clear();
        self.descents = descents;
    }

    /// Pushes the subdirectories, the first one last, so that it comes first.
    fn descend(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<OwnedFd>,
        raw: &RawBatch,
        descents: &[Descent<V::State>],
    ) {
        let children = descents.iter().filter(|d| !d.pruned.get()).count();
        if children == 0 {
            return;
        }
        dir.add_pending(children);
        self.shared.descriptors.expect_children(dir, children, fd);
        for descent in descents.iter().rev().filter(|d| !d.pruned.get()) {
            let slot = &raw.slots[descent.slot as usize];
            let state = descent.state.take().unwrap_or_default();
            let child = Dir::child(dir, raw.name(slot), slot.followed, state);
            self.deque.push(Task::Open(Arc::new(child)));
        }
        self.pushed(children);
    }

    fn push(&mut self, task: Task<V::State>) {
        let wide = matches!(task, Task::Read(_));
        self.deque.push(task);
        if wide {
            self.want_workers();
        }
        self.shared.scheduler.pushed(1);
    }

    fn pushed(&mut self, tasks: usize) {
        self.shared.scheduler.pushed(tasks);
        let worth = if self.shared.regime.has_waited() {
            1
        } else {
            WORTH_A_WORKER
        };
        if self.deque.len() >= worth {
            self.want_workers();
        }
    }

    /// There is more work than this worker has hands for: starts another if the regime wants one.
    fn want_workers(&mut self) {
        if self.shared.scheduler.idle() > 0 {
            return;
        }
        self.shared.regime.there_is_more_work();
        let target = self.shared.regime.target();
        if let Some(index) = self.shared.scheduler.next_worker(target)
            && !(self.start)(index)
        {
            self.shared.scheduler.give_up_starting();
        }
    }

    fn meter(&mut self, calls: u64, begin: Instant, fd: &OwnedFd) {
        let regime = &self.shared.regime;
        let target = regime.target();
        let window = self.meter.note(regime, calls, begin, Instant::now());
        if window.first_wait && filesystem::is_rotational(fd) {
            regime.use_inode_order();
        }
        if window.ended {
            self.report();
            if regime.target() > target {
                self.shared.scheduler.wake_surplus();
            }
        }
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
                self.visitor.leave(&dir);
            }
            let Some(parent) = dir.parent_arc().cloned() else {
                return self.shared.scheduler.finish_root();
            };
            dir = parent;
        }
    }

    fn fail(&mut self, dir: &Dir<V::State>, failure: Failure) {
        let mut path = Vec::new();
        dir.path_into(&mut path);
        self.report_error(failure, path, dir.parent().is_some());
    }

    fn report_failures(&mut self, batch: &Batch<'_, V::State>) {
        if batch.raw.failed == 0 {
            return;
        }
        for entry in batch.entries() {
            if let Some(errno) = entry.stat_error() {
                let failure = Failure {
                    operation: Operation::Stat,
                    errno,
                };
                self.report_error(failure, entry.path(), batch.dir.is_some());
            }
        }
    }

    /// `listed`: a directory had listed the entry, so that it can have vanished.
    fn report_error(&mut self, failure: Failure, path: Vec<u8>, listed: bool) {
        let error = Error {
            operation: failure.operation,
            path,
            errno: failure.errno,
            vanished: listed && failure.is_race(),
        };
        if error.vanished {
            self.totals.vanished += 1;
        } else {
            self.totals.errors += 1;
        }
        self.visitor.error(&error);
    }

    /// Looks at some roots, and leaves the rest to whoever is next.
    fn visit_roots(&mut self, first: usize) {
        let shared = self.shared;
        let roots = &shared.options.roots[first..];
        let roots = &roots[..roots.len().min(ROOTS_AT_A_TIME)];
        let next = first + roots.len();
        if next < shared.options.roots.len() {
            shared.scheduler.add_roots(1);
            self.push(Task::Roots(next));
        }
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        for root in roots {
            // A name that no file can have is asked for as an empty one, which does not exist either.
            let name = root.c_name().unwrap_or_default();
            raw.push_name(&name, FileType::Unknown);
        }
        let place = Place::Roots(roots);
        stat_entries(&mut raw, place, shared.root_fields, true, false);
        for (index, known) in raw.known.iter().enumerate() {
            if let Known::Metadata(metadata) = known {
                shared.set_root(first + index, metadata);
            }
        }
        let descents = self.descents_of(&raw, None, 0);
        let batch = Batch {
            raw: &raw,
            place,
            dir: None,
            index: u32::try_from(first / ROOTS_AT_A_TIME).unwrap_or(u32::MAX),
            descents: &descents,
            first_root: first,
        };
        self.report_failures(&batch);
        if self.call_visitor(&batch) == Flow::Continue {
            self.descend_roots(first, roots, &raw, &descents);
        }
        self.raw = raw;
        self.keep_descents(descents);
        shared.scheduler.finish_root();
    }

    fn descend_roots(
        &mut self,
        first: usize,
        roots: &[Root],
        raw: &RawBatch,
        descents: &[Descent<V::State>],
    ) {
        let mut pushed = 0;
        for descent in descents.iter().rev().filter(|d| !d.pruned.get()) {
            let index = descent.slot as usize;
            let follow = self.shared.options.follow != Follow::Never;
            let origin = match &roots[index].fd {
                Some(fd) => Origin::RootFd(Arc::clone(fd)),
                None => Origin::RootPath { follow },
            };
            let root_index = u32::try_from(first + index).unwrap_or(u32::MAX);
            let state = descent.state.take().unwrap_or_default();
            let name = raw.name(&raw.slots[index]).into();
            let dir = Dir::root(name, root_index, origin, state);
            self.shared.scheduler.add_roots(1);
            self.deque.push(Task::Open(Arc::new(dir)));
            pushed += 1;
        }
        if pushed > 0 {
            self.pushed(pushed);
        }
    }
}

impl<S> Shared<S> {
    /// Whether a directory lies beyond the device or mount that the walk is to stay on.
    fn leaves_root(&self, root_index: usize, metadata: &Metadata) -> bool {
        let boundary = self.boundaries.get(root_index).and_then(|b| b.get());
        let Some(&(dev, mnt_id)) = boundary else {
            return false;
        };
        match self.options.stay {
            Stay::Anywhere => false,
            Stay::Device => metadata.dev != dev,
            Stay::Mount => metadata.dev != dev || metadata.mnt_id != mnt_id,
        }
    }

    fn set_root(&self, root_index: usize, metadata: &Metadata) {
        if let Some(boundary) = self.boundaries.get(root_index) {
            let _ = boundary.set((metadata.dev, metadata.mnt_id));
        }
    }
}
