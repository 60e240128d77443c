//! The walk: its options, its workers, and running it.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Walk`]: setting up a walk |
//! | `options.rs`, `root.rs` | the options of a walk, and its roots |
//! | `settings.rs` | links that are followed, where a walk stays, the order, reading ahead |
//! | `run.rs` | running a walk: starts the workers and collects their results |
//! | `each.rs` | a walk that calls a closure for each entry |
//! | `outcome.rs` | adds up the results of all workers, and fills in the summary |
//! | `shared.rs` | the data that all workers of a walk share |
//! | `worker/` | the loop of one worker |
//! | `scheduler.rs` | the tasks of a walk, and how workers share them |
//! | `concurrency/` | the number of workers, decided by measuring |
//! | `descriptors/` | open directories as a cache with a limit |
//! | `budget.rs` | how much a walk may read |
//! | `positions/` | positions in directories: where another walk can go on |
//! | `reads.rs` | concurrent reads of one directory, and whether its end is final |
//! | `boundary.rs` | the devices and mounts that a walk stays on |
//! | `monitor.rs` | counters of a walk while it runs |

pub(crate) mod boundary;
pub(crate) mod budget;
pub(crate) mod concurrency;
pub(crate) mod descriptors;
mod each;
pub(crate) mod monitor;
pub(crate) mod options;
mod outcome;
pub(crate) mod positions;
pub(crate) mod reads;
pub(crate) mod root;
pub(crate) mod run;
pub(crate) mod scheduler;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod worker;

use crate::sources::choose::{NamedSource, SourceError};
use crate::sources::older::OlderTree;
use crate::sources::registry::SourceChoice;
use crate::sources::saved::SavedTree;
use crate::visit::candidate::Candidate;
use crate::visit::leftover::Leftover;
use crate::visit::metadata::Fields;
use crate::visit::sibling::Compare;
use crate::walk::budget::Budget;
use crate::walk::monitor::Monitor;
use crate::walk::options::{Filter, Options};
use crate::walk::root::Root;
use crate::walk::settings::{Follow, Order, Prefetch, Stay};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

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
///         self.0 += batch.entries().filter_map(|e| e.metadata()?.size()).sum::<u64>();
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
    /// What the system offers to a source that was asked for by name, once that is known.
    named: NamedSource,
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
    /// Creates a walk over the tree at `root`: a path, or an open directory.
    pub fn new(root: impl Into<Root>) -> Self {
        Self::from_roots([root])
    }

    /// Creates a walk over several trees, which are walked at the same time.
    pub fn from_roots(roots: impl IntoIterator<Item = impl Into<Root>>) -> Self {
        Self {
            options: Options::new(roots.into_iter().map(Into::into).collect()),
            named: NamedSource::default(),
            monitor: Arc::default(),
        }
    }

    /// Sets the metadata wanted with every entry. None by default: the walk then calls no `statx`
    /// for an entry, unless the directory does not list the type of the entry.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.options.fields = fields;
        self
    }

    /// Sets which symbolic links are followed; none by default.
    pub fn follow(mut self, follow: Follow) -> Self {
        self.options.follow = follow;
        self
    }

    /// Sets whether all symbolic links are followed, as [`Follow::Always`] says, or none.
    pub fn follow_links(self, yes: bool) -> Self {
        self.follow(if yes { Follow::Always } else { Follow::Never })
    }

    /// Sets where the walk does not go on; by default it goes everywhere.
    pub fn stay(mut self, stay: Stay) -> Self {
        self.options.stay = stay;
        self
    }

    /// Sets the least depth of entries that visitors are given. Roots have depth 0.
    pub fn min_depth(mut self, depth: usize) -> Self {
        self.options.min_depth = depth;
        self
    }

    /// Sets the depth below which the walk does not descend. With 0 it only looks at the roots.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.options.max_depth = depth;
        self
    }

    /// Sets the number of workers. `None`, the default, means as many as CPUs this process may use,
    /// at most 16, and more while they wait for a device.
    pub fn workers(mut self, workers: Option<NonZeroUsize>) -> Self {
        self.options.workers = workers;
        self
    }

    /// Sets how many bytes are read from a directory at a time, from 1024 to 64 MiB. `None`, the
    /// default, means a size that suits the file system.
    pub fn buffer_size(mut self, bytes: Option<usize>) -> Self {
        self.options.buffer_size = bytes;
        self
    }

    /// Sets the order of entries within a directory.
    pub fn order(mut self, order: Order) -> Self {
        self.options.order = order;
        self
    }

    /// Sets the source that directory data is read from.
    pub fn source(mut self, source: SourceChoice) -> Self {
        self.options.source = source;
        self
    }

    /// Sets whether blocks are read ahead in the order of the disk.
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.options.prefetch = prefetch;
        self
    }

    /// Has each root's file system write back dirty data (syncfs(2)) before the walk reads it.
    /// Sources that read past the VFS then know size and blocks of files that changed before.
    /// Without this option they read the metadata of recently changed files by system calls.
    pub fn sync(mut self, sync: bool) -> Self {
        self.options.sync = sync;
        self
    }

    /// Lets the walk raise the process's soft limit on open files (`RLIMIT_NOFILE`) to the hard
    /// limit when the walk needs more. The option is for programs: a library should not change the
    /// limits of its caller. Off by default.
    pub fn raise_limits(mut self, raise: bool) -> Self {
        self.options.raise_limits = raise;
        self
    }

    /// Sets how many descriptors the walk leaves free for the rest of the process, whose own opens
    /// must not fail with `EMFILE` meanwhile. `None`, the default, means 64, or a quarter of the
    /// free descriptors if that is less.
    ///
    /// The walk counts the open files of the process when it begins, and again from time to time.
    /// It holds as many directories open as are useful, up to the soft limit on open files less
    /// those files and the reserve. All walks of a process count together. Files that visitors open
    /// come out of the reserve.
    ///
    /// A walk always uses the few descriptors that one worker needs (3 for system calls), also
    /// where the reserve does not leave them.
    pub fn descriptor_reserve(mut self, descriptors: Option<usize>) -> Self {
        self.options.descriptor_reserve = descriptors;
        self
    }

    /// Keeps every directory open until everything below it has been left, as far as the
    /// descriptors reach. A visitor then gets the descriptor from
    /// [`Left::parent_fd`](crate::Left::parent_fd), to do something with a directory after its
    /// contents. Off by default.
    pub fn parents_open(mut self, open: bool) -> Self {
        self.options.parents_open = open;
        self
    }

    /// Goes down into each directory right after its entry has been visited, before the entries
    /// behind it: batches end at directories. With one worker entries come in the order of a
    /// recursive walk. Off by default, as it takes more time.
    pub fn preorder(mut self, preorder: bool) -> Self {
        self.options.preorder = preorder;
        self
    }

    /// Sets a function that decides about each directory before the walk descends into it. If it
    /// returns false, the walk does not descend; the entry of the directory is still visited. All
    /// workers call it.
    pub fn filter(
        mut self,
        filter: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let filter: Filter = Box::new(filter);
        self.options.filter = Some(filter);
        self
    }

    /// Has the walk read a saved tree, which holds all roots, in place of the live file system. The
    /// walk opens no file then: [`Batch::fd`](crate::Batch::fd) and
    /// [`Left::parent_fd`](crate::Left::parent_fd) fail with `EOPNOTSUPP`, and source, prefetch and
    /// sync do not matter. If a field in [`fields`](Self::fields) is not known for an entry, its
    /// metadata fails with `ENODATA`; the walk still enters a directory. Below the roots no link
    /// can be followed: with [`Follow::Always`] each link fails with `EOPNOTSUPP`.
    pub fn saved_tree(mut self, tree: Arc<dyn SavedTree>) -> Self {
        self.options.saved = Some(tree);
        self
    }

    /// Has the walk take from an older tree what has certainly not changed since, instead of
    /// reading it: names and metadata on btrfs. On other file systems nothing is certain or nothing
    /// is gained. There, or without the privilege, the walk reads everything. The answer is the
    /// same in each case.
    ///
    /// `auto` then looks for the source of each root before it begins, also of small ones. Walks
    /// that follow all links take nothing.
    pub fn older_tree(mut self, tree: Arc<dyn OlderTree>) -> Self {
        self.options.older = Some(tree);
        self
    }

    /// Sets how much the walk may read. What it has not read is then in
    /// [`Outcome::leftovers`](crate::Outcome::leftovers). Without a budget, the default, the walk
    /// reads everything.
    ///
    /// A walk with a budget reads directories by system calls, the module or the ring, even if the
    /// source could read them past the VFS: only from a position of the VFS can another walk
    /// continue.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.budget = budget;
        self
    }

    /// Sets whether the walk stops within a buffer, too, when its [budget](Self::budget) is spent.
    /// The entries that were read, and whose metadata was not asked for, are then left over by
    /// their names ([`Remaining::Names`](crate::Remaining::Names)).
    ///
    /// This is done only where calls for metadata wait. At 2 ms a request, the entries of one
    /// buffer take a worker 2 seconds. From cache they take some milliseconds, and the names would
    /// take more time than that to write and to read. Off by default.
    pub fn leave_names(mut self, leave: bool) -> Self {
        self.options.leave_names = leave;
        self
    }

    /// Has the walk go on where another one stopped: it reads what these leftovers name, and
    /// nothing else. The roots must be the same, in the same order; their entries are not visited
    /// again. `max_depth`, the boundary and the filter hold as if it were one walk.
    ///
    /// Each directory is opened beneath its root, through no symbolic link. If its inode number is
    /// another one now, or it is on another file system, the directory was replaced. It has
    /// vanished then ([`Error::is_vanished`](crate::Error::is_vanished)). Where inode numbers do
    /// not last, as on FUSE, it is an error (`ESTALE`). If a root itself was replaced, for example
    /// as its file system is no longer mounted, that is an error (`ESTALE`) for each of its
    /// leftovers.
    pub fn resume(mut self, leftovers: Vec<Leftover>) -> Self {
        self.options.resume = Some(leftovers);
        self
    }

    /// Returns true if the walk may leave something out: it has a budget, or goes on with
    /// leftovers.
    pub fn is_partial(&self) -> bool {
        self.options.is_partial()
    }

    /// Checks that the walk reads everything below its roots, for a consumer that would treat its
    /// input as the whole tree. `consumer` names it in the message of the panic.
    ///
    /// # Panics
    ///
    /// If the walk has a budget, or goes on with leftovers.
    pub fn expect_whole(&self, consumer: &str) {
        assert!(
            !self.is_partial(),
            "{consumer} needs the whole tree: the walk must have no budget and no leftovers",
        );
    }

    /// Says that the visitors prune nothing or little, and do not stop the walk soon. A source may
    /// then read the directories below one in the same request, before their entries are visited.
    /// No answer depends on it: an entry that is pruned is not visited. Off by default.
    pub fn descends_everywhere(mut self, everywhere: bool) -> Self {
        self.options.descends_everywhere = everywhere;
        self
    }

    /// Sets fields that entries of a saved tree may lack without failing.
    pub fn optional_fields(mut self, fields: Fields) -> Self {
        self.options.optional_fields = fields;
        self
    }

    /// Sets how many requests for metadata the walk makes at a time at most: kindness to a server
    /// that others use too. `None`, the default, means no bound. The walk then has no more workers
    /// than that, also if [`workers`](Self::workers) gives a larger number, and each asks for one
    /// directory or one file at a time. Calls that visitors make in [`Visitor`](crate::Visitor)'s
    /// methods count, as workers make them.
    pub fn in_flight(mut self, requests: Option<NonZeroUsize>) -> Self {
        self.options.in_flight = requests;
        self
    }

    /// Sets how many entries the walk reads in a second at most, on average. `None`, the default,
    /// means as many as it can. Workers wait before they ask for the metadata of more entries; a
    /// walk that is stopped does not wait. Without metadata a whole buffer of names counts at once.
    pub fn entries_per_second(mut self, entries: Option<NonZeroU64>) -> Self {
        self.options.entries_per_second = entries;
        self
    }

    /// Returns the least depth, and has the walk give all depths to its visitors: for a visitor
    /// that applies the least depth itself.
    pub(crate) fn take_min_depth(&mut self) -> usize {
        std::mem::take(&mut self.options.min_depth)
    }

    pub(crate) fn workers_unless_given(mut self, workers: NonZeroUsize) -> Self {
        self.options.workers.get_or_insert(workers);
        self
    }

    /// Returns the roots as they were given.
    pub(crate) fn root_names(&self) -> impl Iterator<Item = &[u8]> {
        self.options.roots.iter().map(|root| root.name.as_slice())
    }

    /// Has the entries of each directory come in the order of names, or as `compare` orders them.
    pub(crate) fn sorted(mut self, compare: Option<Compare>) -> Self {
        self.options.order = Order::Name;
        self.options.compare = compare;
        self
    }

    /// Looks whether a source that was asked for by name can be used for every root that is a
    /// directory. A walk that runs without this check reads all other roots by system calls.
    ///
    /// # Errors
    ///
    /// For the first root that the source cannot read.
    pub fn check_source(&self) -> Result<(), SourceError> {
        if self.options.saved.is_some() {
            return Ok(());
        }
        self.named.check(&self.options)
    }

    /// Versions and features of a source that was asked for by name and can be used, if there is
    /// anything to be said of them.
    pub fn source_details(&self) -> Option<String> {
        self.named.details(&self.options)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns counters to look at while the walk runs.
    pub fn monitor(&self) -> Arc<Monitor> {
        Arc::clone(&self.monitor)
    }
}
