//! The summary of a walk.

use crate::sources::registry::SourceChoice;
use crate::sources::sweep::InodeSweep;
use crate::visit::leftover::Leftover;
use crate::visit::metadata::Fields;
use crate::walk::concurrency::WorkerChange;
use crate::walk::options::Stay;
use crate::walk::shared::SharedWalk;
use crate::walk::worker::Totals;
use std::time::Duration;

/// The name of the source of walks of saved trees.
const SAVED: &str = "snapshot";

/// The result of a walk: the visitors of all workers, and a summary.
#[derive(Debug)]
pub struct Outcome<V> {
    /// The visitors, in the order in which their workers ended.
    pub visitors: Vec<V>,
    /// What was left unread when the budget was spent, in no order. Empty without a budget. If the
    /// walk was [stopped](Summary::stopped), some may be missing.
    pub leftovers: Vec<Leftover>,
    /// Totals of the walk, and how it was done.
    pub summary: Summary,
}

/// The blocks that were read ahead for a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefetched {
    /// Bytes of inode tables that were read.
    pub inode_bytes: u64,
    /// Bytes of directories that were read.
    pub directory_bytes: u64,
    /// Wall time spent.
    pub elapsed: Duration,
    /// True if the bounds on inodes and bytes ended the read before everything was read.
    pub bounded: bool,
}

impl Prefetched {
    /// Returns the sum of both: bytes and times added, `bounded` if either is.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            inode_bytes: self.inode_bytes + other.inode_bytes,
            directory_bytes: self.directory_bytes + other.directory_bytes,
            elapsed: self.elapsed + other.elapsed,
            bounded: self.bounded || other.bounded,
        }
    }
}

/// The totals of a walk, and how it was done.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts, not a state"
)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Entries read, roots included.
    pub entries: u64,
    /// Directories opened.
    pub directories: u64,
    /// Number of read errors. If it is zero, everything except the leftovers was read.
    pub errors: u64,
    /// Number of entries that vanished after they were listed, before their metadata was read.
    pub vanished: u64,
    /// Wall time spent.
    pub elapsed: Duration,
    /// The name of the source that the walk read from.
    pub source: &'static str,
    /// True if the caller gave the source; false if the walk chose it.
    pub source_given: bool,
    /// The reason why the source was chosen, or why another was not, as text for people.
    pub source_reason: String,
    /// Number of directories for which the source had no answer, and which system calls read.
    pub fell_back: u64,
    /// The reason for the last of these directories.
    pub fell_back_reason: Option<String>,
    /// The blocks that were read ahead, if any were.
    pub prefetched: Option<Prefetched>,
    /// Number of workers that were started.
    pub workers: usize,
    /// True if the caller gave the number of workers; false if the walk adapted it.
    pub workers_given: bool,
    /// The changes of the number of workers, with their reasons.
    pub worker_changes: Vec<WorkerChange>,
    /// True if calls were found to wait for a device or a network.
    pub waited: bool,
    /// True if metadata was read in inode order, for a rotational disk.
    pub inode_order: bool,
    /// The largest read buffer, in bytes.
    pub buffer_size: usize,
    /// Fields that `statx` was asked for; empty if it was not called for every entry.
    pub fields: Fields,
    /// The most descriptors that the walk may have open at a time. The limit falls when the rest of
    /// the process opens more files.
    pub descriptor_limit: usize,
    /// The most descriptors that were open for the walk at any time. Descriptors that visitors
    /// opened themselves are not counted.
    pub descriptors_held: usize,
    /// Descriptors that were reserved for the rest of the process.
    pub descriptor_reserve: usize,
    /// How often a directory was opened again, because its descriptor had been closed.
    pub reopened: usize,
    /// True if a visitor stopped the walk.
    pub stopped: bool,
    /// Number of [leftovers](Outcome::leftovers). If several parts of a directory were left over,
    /// it counts several times.
    pub leftovers: usize,
}

impl Summary {
    pub(crate) fn new<S>(
        shared: &SharedWalk<S>,
        totals: Totals,
        buffer_size: usize,
        workers: usize,
        leftovers: usize,
        elapsed: Duration,
    ) -> Self {
        let fields = if shared.entry_fields.asks_all() || shared.options.stay != Stay::Anywhere {
            shared.entry_fields.fields()
        } else {
            Fields::empty()
        };
        Self {
            entries: totals.entries,
            directories: totals.directories,
            errors: totals.errors,
            vanished: totals.vanished,
            elapsed,
            source: match shared.options.saved {
                Some(_) => SAVED,
                None => shared.sources.name(),
            },
            source_reason: match &shared.options.saved {
                Some(tree) => tree.describe(),
                None => shared.sources.reason(),
            },
            fell_back: shared.sources.fell_back(),
            fell_back_reason: shared.sources.fallback_reason(),
            prefetched: shared.prefetch.done(),
            source_given: shared.options.saved.is_some()
                || shared.options.source != SourceChoice::Auto,
            workers,
            workers_given: shared.options.workers.is_some(),
            worker_changes: shared.concurrency.changes(),
            waited: shared.concurrency.has_waited(),
            inode_order: shared.concurrency.uses_inode_order(),
            buffer_size,
            fields,
            descriptor_limit: shared.descriptors.limit(),
            descriptors_held: shared.descriptors.budget().most(),
            descriptor_reserve: shared.descriptors.budget().reserve(),
            reopened: shared.descriptors.reopened(),
            stopped: shared.scheduler.is_stopped(),
            leftovers,
        }
    }

    /// Returns the summary of an inode sweep, which reads no directories.
    pub(crate) fn of_sweep(source: &'static str, sweep: &InodeSweep) -> Self {
        Self {
            entries: 0,
            directories: 0,
            errors: 0,
            vanished: 0,
            elapsed: Duration::ZERO,
            source,
            source_given: sweep.is_source_given(),
            source_reason: "the whole file system, so its files are read without their names"
                .into(),
            fell_back: 0,
            fell_back_reason: None,
            prefetched: None,
            workers: 0,
            workers_given: sweep.are_workers_given(),
            worker_changes: Vec::new(),
            waited: false,
            inode_order: false,
            buffer_size: 0,
            fields: sweep.fields_wanted(),
            descriptor_limit: 0,
            descriptors_held: 0,
            descriptor_reserve: 0,
            reopened: 0,
            stopped: false,
            leftovers: 0,
        }
    }

    /// Returns true if everything below the roots was read; in a walk that went on with leftovers,
    /// everything below those.
    pub fn is_complete(&self) -> bool {
        self.errors == 0 && !self.stopped && self.leftovers == 0
    }
}
