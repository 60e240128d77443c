//! The summary of a walk.

use crate::visit::leftover::Leftover;
use crate::visit::metadata::Fields;
use crate::walk::concurrency::WorkerChange;
use std::time::Duration;

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
#[derive(Clone, Debug, Default)]
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
    /// Returns true if everything below the roots was read; in a walk that went on with leftovers,
    /// everything below those.
    pub fn is_complete(&self) -> bool {
        self.errors == 0 && !self.stopped && self.leftovers == 0
    }
}
