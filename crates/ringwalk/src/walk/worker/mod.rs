//! One worker: takes tasks, gives directories to its source, and entries to its visitor.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the loop |
//! | `resume.rs` | the leftovers that a walk goes on with |
//! | `leftover.rs` | tasks that become leftovers when the budget is spent |
//! | `roots.rs` | the roots, as entries of batches without a directory |
//! | `open.rs` | opening a directory, also when descriptors have run out |
//! | `list.rs` | listing a directory without opening it: past the VFS, or from a saved tree |
//! | `tree.rs` | directories that were read together with one above them |
//! | `pull.rs` | jobs of the source: what comes back of a directory |
//! | `rest.rs` | reading on in a large directory |
//! | `visit.rs` | the visitor, for the entries of a batch |
//! | `metadata.rs` | the metadata of the entries of a batch |
//! | `share.rs` | batches cut into parts, for other workers or for preorder |
//! | `descend.rs` | the subdirectories that the walk goes down into |
//! | `unopened.rs` | directories that are not open while their entries are visited |
//! | `measure.rs` | measuring calls, and starting workers for waiting work |
//! | `errors.rs` | failures, reported with a path |

mod descend;
mod errors;
mod leftover;
mod list;
mod measure;
mod metadata;
mod open;
mod pull;
mod rest;
mod resume;
mod roots;
mod share;
mod tree;
mod unopened;
mod visit;

pub(crate) use leftover::join_names;

use crate::sources::Source;
use crate::sources::raw_batch::RawBatch;
use crate::sources::saved::SharedReader;
use crate::sources::volume::Reader;
use crate::visit::batch::Descent;
use crate::visit::dir::Dir;
use crate::visit::left::Left;
use crate::visit::leftover::Leftover;
use crate::visit::visitor::Visitor;
use crate::walk::concurrency::meter::Meter;
use crate::walk::scheduler::Task;
use crate::walk::shared::SharedWalk;
use crossbeam_deque::Worker as Deque;
use crossbeam_utils::Backoff;
use metadata::FIRST_CHUNK;
use std::rc::Rc;
use std::sync::Arc;

/// The counters of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) entries: u64,
    pub(crate) directories: u64,
    pub(crate) errors: u64,
    pub(crate) vanished: u64,
}

/// The results of one worker.
pub(crate) struct FinishedWorker<V> {
    pub(crate) visitor: V,
    pub(crate) totals: Totals,
    pub(crate) buffer_size: usize,
    pub(crate) leftovers: Vec<Leftover>,
}

pub(crate) struct Worker<'w, V: Visitor> {
    index: usize,
    shared: &'w SharedWalk<V::State>,
    deque: Deque<Task<V::State>>,
    source: Box<dyn Source<V::State> + 'w>,
    in_source: usize,
    /// Directories in the source whose descriptors are counted: all but the first, which uses the
    /// worker's own.
    counted_jobs: usize,
    /// The source is `auto`, and a better one may still be found.
    choosing: bool,
    /// The readers of the mounted volumes that this worker has come to.
    readers: Vec<Option<Box<dyn Reader>>>,
    /// The reader of the saved tree, if that is walked.
    saved: Option<Rc<SharedReader>>,
    visitor: V,
    raw: RawBatch,
    descents: Vec<Descent<V::State>>,
    meter: Meter,
    /// How many entries the worker asks for before it measures.
    chunk: usize,
    totals: Totals,
    reported: Totals,
    /// Directories to open when descriptors are free again.
    postponed: Vec<Arc<Dir<V::State>>>,
    descriptor_tries: u32,
    leftovers: Vec<Leftover>,
    /// Starts the worker with the given index. Returns false if no thread can be started.
    start: &'w (dyn Fn(usize) -> bool + 'w),
}

impl<'w, V: Visitor> Worker<'w, V> {
    pub(crate) fn new(
        index: usize,
        shared: &'w SharedWalk<V::State>,
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
            choosing: shared.sources.is_open(),
            readers: Vec::new(),
            saved: shared.options.saved_reader().map(Rc::new),
            visitor,
            raw: RawBatch::default(),
            descents: Vec::new(),
            meter: Meter::new(),
            chunk: FIRST_CHUNK,
            totals: Totals::default(),
            reported: Totals::default(),
            postponed: Vec::new(),
            descriptor_tries: 0,
            leftovers: Vec::new(),
            start,
        }
    }

    /// Works until the walk is over, beginning with `first`. Returns its results.
    pub(crate) fn run(mut self, first: Option<Task<V::State>>) -> FinishedWorker<V> {
        if let Some(task) = first {
            self.begin(task);
        }
        while !self.shared.scheduler.is_over() {
            if self.shared.prefetch.pause() {
                self.meter.resume();
            }
            while self.in_source < self.capacity() && self.may_take_more() {
                let Some(task) = self.next_task() else { break };
                self.begin(task);
            }
            if self.in_source > 0 {
                self.pull();
            } else if self.is_surplus() {
                self.give_back_postponed();
                let shared = self.shared;
                let surplus = || self.index >= shared.concurrency.target();
                shared.scheduler.wait_while_surplus(surplus);
                self.meter.resume();
            } else if self.deque.is_empty() {
                self.wait();
            }
        }
        self.report();
        FinishedWorker {
            totals: self.totals,
            buffer_size: self.source.buffer_size(),
            leftovers: self.leftovers,
            visitor: self.visitor,
        }
    }

    /// Returns how many directories may be in the source. Where requests in flight are bounded, it
    /// is one for each worker, and the number of workers is bounded.
    fn capacity(&self) -> usize {
        let bounded = self.shared.options.in_flight.is_some();
        self.source
            .capacity()
            .min(if bounded { 1 } else { usize::MAX })
    }

    /// Counts the descriptors of one more directory in the source. Returns false if the allowance
    /// has no room for them. The first directory uses the worker's own.
    fn may_take_more(&mut self) -> bool {
        if self.in_source > self.counted_jobs {
            if !self.shared.descriptors.admit_job() {
                return false;
            }
            self.counted_jobs += 1;
        }
        true
    }

    pub(super) fn is_surplus(&self) -> bool {
        self.index >= self.shared.concurrency.target()
    }

    fn next_task(&mut self) -> Option<Task<V::State>> {
        if self.is_surplus() || self.shared.scheduler.is_stopped() {
            return None;
        }
        let own = self.deque.pop();
        if own.is_none() && self.in_source > 0 && !self.postponed.is_empty() {
            // The directories in the source hold descriptors. They are free when the source is
            // done.
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
        let task = if self.shared.spending.is_spent() {
            let Some(task) = self.make_leftover(task) else {
                return;
            };
            task
        } else {
            task
        };
        match task {
            Task::Leftovers => self.resume(),
            Task::Roots(first) => self.visit_roots(first),
            Task::Open(dir) => self.open(dir),
            Task::Listed(listed) => self.list_from_tree(listed.0, listed.1),
            Task::Rest(rest) => self.read_rest(*rest),
            Task::Part(part) => {
                let part = *part;
                if !part.dir.is_pruned() {
                    self.visit_part(&part.dir, part.raw, part.numbers, part.metadata);
                }
                self.shared.descriptors.child_opened(&part.dir);
                self.finish(part.dir);
            }
        }
    }

    /// Looks for better sources, once this worker has seen enough for that to be worth it.
    fn choose_source(&mut self) {
        let SharedWalk {
            options,
            sources,
            descriptors,
            entry_fields,
            ..
        } = self.shared;
        let seen = (self.totals.entries, self.totals.directories);
        let by_kernel = sources.look(options, seen, *entry_fields, descriptors);
        if by_kernel && self.in_source == 0 && descriptors.admit_kernel() {
            self.choosing = false;
            self.source = sources.for_worker(options);
        }
    }

    /// Adds this worker's counters to the live counters of the walk.
    fn report(&mut self) {
        let (now, before) = (self.totals, self.reported);
        self.shared.monitor.add(
            now.entries - before.entries,
            now.directories - before.directories,
            now.errors - before.errors,
        );
        self.reported = now;
    }

    /// Counts one piece of work of `dir` as done. If it was the last, leaves the directory, and
    /// then those above it that have nothing left to do.
    fn finish(&mut self, mut dir: Arc<Dir<V::State>>) {
        while dir.finish_one() {
            if !self.shared.scheduler.is_stopped() && !dir.is_partial() {
                self.visitor.leave(&Left {
                    dir: &dir,
                    descriptors: &self.shared.descriptors,
                    parents_open: self.shared.options.parents_open,
                    saved: self.saved.is_some(),
                });
            }
            let Some(parent) = dir.parent_arc().cloned() else {
                return self.shared.scheduler.finish_root();
            };
            if dir.is_partial() {
                parent.set_partial();
            }
            if self.shared.options.parents_open {
                self.shared.descriptors.child_opened(&parent);
            }
            dir = parent;
        }
    }
}
