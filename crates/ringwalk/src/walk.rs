//! The walk: what is asked for, and running it.

use crate::batch::Candidate;
use crate::boundary::Boundaries;
use crate::descriptor::{Descriptors, Extra};
use crate::metadata::Fields;
use crate::monitor::Monitor;
use crate::options::{Filter, Follow, Options, Order, Prefetch, SourceChoice, SourceError, Stay};
use crate::prefetch::Watch;
use crate::regime::Regime;
use crate::root::Root;
use crate::scheduler::{Scheduler, StopOnPanic, Task};
use crate::source::{self, KernelSide};
use crate::stat::Wanted;
use crate::summary::{Outcome, Summary};
use crate::visitor::Visitor;
use crate::volume::{Bulk, Grounds, open_root, seconds_now};
use crate::worker::{Totals, Worker};
use ringwalk_sys::DirectoryReader;
use rustix::fs::{fstat, syncfs};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Scope;
use std::time::Instant;

/// A walk over one or more directory trees, to be set up and then [run](Self::run).
///
/// ```
/// use ringwalk::{Batch, Fields, Flow, Visitor, Walk};
///
/// #[derive(Default)]
/// struct Sizes(u64);
///
/// impl Visitor for Sizes {
///     type State = ();
///     fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
///         self.0 += batch.entries().filter_map(|e| e.metadata()).map(|m| m.size).sum::<u64>();
///         Flow::Continue
///     }
/// }
///
/// let outcome = Walk::new("src").fields(Fields::SIZE).run(|_worker| Sizes::default());
/// let bytes: u64 = outcome.visitors.iter().map(|v| v.0).sum();
/// assert!(bytes > 0 && outcome.summary.errors == 0);
/// ```
pub struct Walk {
    options: Options,
    /// What a source that was asked for by name has to offer, once that has been looked at.
    grounds: OnceLock<Grounds>,
    /// The same of the kernel, or why it has nothing.
    kernel: OnceLock<Result<DirectoryReader, String>>,
    monitor: Arc<Monitor>,
}

impl std::fmt::Debug for Walk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk")
            .field("roots", &self.options.roots)
            .field("fields", &self.options.fields)
            .finish_non_exhaustive()
    }
}

impl Walk {
    /// A walk over the tree at `root`: a path, or an open directory.
    pub fn new(root: impl Into<Root>) -> Self {
        Self::from_roots([root])
    }

    /// A walk over several trees. They are walked at the same time.
    pub fn from_roots(roots: impl IntoIterator<Item = impl Into<Root>>) -> Self {
        Self {
            options: Options::new(roots.into_iter().map(Into::into).collect()),
            grounds: OnceLock::new(),
            kernel: OnceLock::new(),
            monitor: Arc::default(),
        }
    }

    /// The metadata wanted with every entry. None by default: then there is no `statx` for an entry, unless its
    /// directory does not tell whether it is a directory.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.options.fields = fields;
        self
    }

    /// Which symbolic links are followed; none by default.
    pub fn follow(mut self, follow: Follow) -> Self {
        self.options.follow = follow;
        self
    }

    /// Where the walk does not go on; by default it goes everywhere.
    pub fn stay(mut self, stay: Stay) -> Self {
        self.options.stay = stay;
        self
    }

    /// Visitors get no entries above this depth; roots have depth 0.
    pub fn min_depth(mut self, depth: usize) -> Self {
        self.options.min_depth = depth;
        self
    }

    /// The walk does not descend below this depth; with 0 it looks only at the roots.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.options.max_depth = depth;
        self
    }

    /// The number of workers. `None`, the default: as many as CPUs this process may use, at most 16, and more while
    /// they wait for a device.
    pub fn workers(mut self, workers: Option<NonZeroUsize>) -> Self {
        self.options.workers = workers;
        self
    }

    /// Bytes read from a directory at a time, from 1024 to 64 MiB. `None`, the default: as the file system rewards it.
    pub fn buffer_size(mut self, bytes: Option<usize>) -> Self {
        self.options.buffer_size = bytes;
        self
    }

    /// The order of entries within a directory.
    pub fn order(mut self, order: Order) -> Self {
        self.options.order = order;
        self
    }

    /// Where directory data is read from.
    pub fn source(mut self, source: SourceChoice) -> Self {
        self.options.source = source;
        self
    }

    /// Whether blocks are read ahead in the order of the disk.
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.options.prefetch = prefetch;
        self
    }

    /// Has each root's file system write back what is dirty (syncfs(2)) before it is read. Sources that read past the VFS
    /// then know sizes and blocks of files changed before; without, they ask for those of lately changed ones by system calls.
    pub fn sync(mut self, sync: bool) -> Self {
        self.options.sync = sync;
        self
    }

    /// Lets the walk raise the process's soft limit on open files (`RLIMIT_NOFILE`) to the hard one when it comes to need
    /// more. For programs; a library should not do that to its caller, so it is off by default.
    pub fn raise_limits(mut self, raise: bool) -> Self {
        self.options.raise_limits = raise;
        self
    }

    /// Descriptors that the walk leaves free for the rest of the process, so that its own opens do
    /// not fail with `EMFILE` meanwhile. `None`, the default: 64, or a quarter of the free ones if
    /// that is less.
    ///
    /// A walk finds out how many files the process has open when it begins, and now and then on the
    /// way. It holds as many directories open as are useful, up to the soft limit on open files
    /// less those files and the reserve. All walks of a process count together. Visitors take from
    /// the reserve what they open themselves.
    ///
    /// A walk always uses the few descriptors that one worker needs (3 for system calls), also
    /// where the reserve does not leave them.
    pub fn descriptor_reserve(mut self, descriptors: Option<usize>) -> Self {
        self.options.descriptor_reserve = descriptors;
        self
    }

    /// Keeps every directory open, as far as the budget of descriptors goes, until all below it has been left; then
    /// [`Left::parent_fd`](crate::Left::parent_fd) has it, for visitors that do something with a directory after what is in it. Off by default.
    pub fn parents_open(mut self, open: bool) -> Self {
        self.options.parents_open = open;
        self
    }

    /// Goes below each directory right after its entry has been visited, before the entries behind it: for this, batches
    /// end at directories. With one worker entries come in the order in which a recursive walk has them. Off by
    /// default, as it takes more time.
    pub fn preorder(mut self, preorder: bool) -> Self {
        self.options.preorder = preorder;
        self
    }

    /// Asked for each directory before the walk descends into it: false leaves it alone, and its entry is visited all
    /// the same. Called by all workers.
    pub fn filter(
        mut self,
        filter: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let filter: Filter = Box::new(filter);
        self.options.filter = Some(filter);
        self
    }

    /// Has the walk give all depths to its visitors, for one that knows better which to leave out.
    pub(crate) fn take_min_depth(&mut self) -> usize {
        std::mem::take(&mut self.options.min_depth)
    }

    pub(crate) fn workers_unless_given(mut self, workers: NonZeroUsize) -> Self {
        self.options.workers.get_or_insert(workers);
        self
    }

    pub(crate) fn order_wanted(&self) -> Order {
        self.options.order
    }

    /// Looks whether a source that was asked for by name can be used for every root that is a directory. A walk that
    /// is run without having been asked reads the others by system calls.
    ///
    /// # Errors
    ///
    /// For the first root of which it cannot.
    pub fn check_source(&self) -> Result<(), SourceError> {
        let choice = self.options.source;
        if let Some(found) = self.kernel() {
            return found.as_ref().map(|_| ()).map_err(|reason| SourceError {
                source: choice,
                path: self
                    .options
                    .roots
                    .first()
                    .map(|root| root.name.clone())
                    .unwrap_or_default(),
                reason: reason.clone(),
            });
        }
        if !choice.is_volume() {
            return Ok(());
        }
        let found = self
            .grounds
            .get_or_init(|| Grounds::find(&self.options, seconds_now()));
        let Some((root, why)) = found.refused.first() else {
            return Ok(());
        };
        let name = self.options.roots.get(*root).map(|root| root.name.clone());
        Err(SourceError {
            source: choice,
            path: name.unwrap_or_default(),
            reason: why.to_string(),
        })
    }

    /// What the kernel has been found to have for the source that was asked for; `None` if it is another one.
    fn kernel(&self) -> Option<&Result<DirectoryReader, String>> {
        let choice = self.options.source;
        choice
            .is_kernel()
            .then(|| self.kernel.get_or_init(|| source::find(choice)))
    }

    /// Versions and features of a source that was asked for by name and can be used, if there is anything to be said of them.
    pub fn source_details(&self) -> Option<String> {
        let found = self.kernel()?.as_ref().ok()?;
        Some(source::describe(found))
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Counters to look at while the walk runs.
    pub fn monitor(&self) -> Arc<Monitor> {
        Arc::clone(&self.monitor)
    }

    /// Walks, and returns when all is done or a visitor said stop. `make` makes the visitor of each worker, on the
    /// worker's thread; the first worker is the calling thread.
    ///
    /// Failures are not errors of this call: each goes to [`Visitor::error`], and the summary counts them.
    ///
    /// # Panics
    ///
    /// If a visitor panics.
    pub fn run<V: Visitor>(self, make: impl Fn(usize) -> V + Sync) -> Outcome<V> {
        let begin = Instant::now();
        if self.options.source.is_volume() || self.options.source.is_kernel() {
            // What it refuses is read by system calls.
            let _ = self.check_source();
        }
        if self.options.sync {
            sync_roots(&self.options);
        }
        let grounds = self.grounds.into_inner();
        let kernel = self.kernel.into_inner();
        let shared = Shared::<V::State>::new(self.options, grounds, kernel, self.monitor);
        shared.begin_prefetch();
        let done = Mutex::new(Vec::new());
        if !shared.options.roots.is_empty() {
            let crew = Crew {
                shared: &shared,
                make: &make,
                done: &done,
            };
            std::thread::scope(|scope| crew.work(scope, 0, Some(Task::Roots(0))));
        }
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        shared.into_outcome(done, begin)
    }
}

/// Has the file systems of the roots write back what is dirty. What cannot be opened or synced is
/// met again: by the walk, and by sources that read past the VFS, which decline then.
fn sync_roots(options: &Options) {
    let mut synced = Vec::new();
    for root in &options.roots {
        let Ok(directory) = open_root(root, options.follow != Follow::Never) else {
            continue;
        };
        // One that does not tell which it is, is synced whatever has been.
        let device = fstat(&directory).ok().map(|stat| stat.st_dev);
        if device.is_none_or(|device| !synced.contains(&device)) {
            synced.extend(device);
            let _ = syncfs(&directory);
        }
    }
}

/// What all workers of a walk share.
pub(crate) struct Shared<S> {
    pub(crate) options: Options,
    pub(crate) entry_fields: Wanted,
    pub(crate) root_fields: Wanted,
    pub(crate) descriptors: Descriptors<S>,
    pub(crate) regime: Regime,
    pub(crate) scheduler: Scheduler<S>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) boundaries: Boundaries,
    pub(crate) bulk: Bulk,
    pub(crate) kernel: KernelSide,
    pub(crate) prefetch: Watch,
}

impl<S> Shared<S> {
    fn new(
        options: Options,
        grounds: Option<Grounds>,
        kernel: Option<Result<DirectoryReader, String>>,
        monitor: Arc<Monitor>,
    ) -> Self {
        let descriptors = Descriptors::new(&options, kernel.as_ref().is_some_and(Result::is_ok));
        let regime = Regime::new(options.workers, descriptors.max_workers());
        let bulk = Bulk::new(&options, grounds);
        descriptors.admit_first_worker();
        descriptors.count_volumes(bulk.grounds().len());
        let mut root_fields = Wanted::roots(&options);
        if bulk.is_allowed() {
            root_fields = root_fields.with(Fields::INO | Fields::MNT_ID);
        }
        Self {
            entry_fields: Wanted::entries(&options),
            root_fields,
            bulk,
            kernel: KernelSide::new(kernel),
            descriptors,
            scheduler: Scheduler::new(regime.most()),
            regime,
            monitor,
            prefetch: Watch::new(options.prefetch),
            boundaries: Boundaries::new(options.stay, options.roots.len()),
            options,
        }
    }

    /// Reads ahead for every root, if that is to be done in any case.
    fn begin_prefetch(&self) {
        let (options, stop) = (&self.options, self.scheduler.stop_flag());
        if options.prefetch == Prefetch::Always {
            let begin = || self.prefetch.begin(options, stop);
            self.descriptors.with(Extra::Prefetch, begin);
        }
    }

    fn into_outcome<V>(self, done: Vec<Done<V>>, begin: Instant) -> Outcome<V> {
        let mut totals = Totals::default();
        let mut buffer_size = 0;
        let mut visitors = Vec::with_capacity(done.len());
        for done in done {
            totals.entries += done.totals.entries;
            totals.directories += done.totals.directories;
            totals.errors += done.totals.errors;
            totals.vanished += done.totals.vanished;
            buffer_size = buffer_size.max(done.buffer_size);
            visitors.push(done.visitor);
        }
        let summary = Summary::new(&self, totals, buffer_size, visitors.len(), begin.elapsed());
        Outcome { visitors, summary }
    }
}

/// What a worker leaves behind.
struct Done<V> {
    visitor: V,
    totals: Totals,
    buffer_size: usize,
}

/// Starts workers: the first on the calling thread, the others when there is work for them.
struct Crew<'a, V: Visitor, F> {
    shared: &'a Shared<V::State>,
    make: &'a F,
    done: &'a Mutex<Vec<Done<V>>>,
}

impl<V: Visitor, F> Clone for Crew<'_, V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Visitor, F> Copy for Crew<'_, V, F> {}

impl<'a, V: Visitor, F: Fn(usize) -> V + Sync> Crew<'a, V, F> {
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
            // The first worker is the one that was not asked for.
            self.shared.scheduler.next_worker(1);
        }
        let start = move |index| {
            std::thread::Builder::new()
                .name(format!("ringwalk-{index}"))
                .spawn_scoped(scope, move || self.work(scope, index, None))
                .is_ok()
        };
        let source = source::for_worker(&self.shared.options, &self.shared.kernel);
        let visitor = (self.make)(index);
        let worker = Worker::new(index, self.shared, source, visitor, &start);
        let (visitor, totals, buffer_size) = worker.run(first);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(Done {
            visitor,
            totals,
            buffer_size,
        });
    }
}
