//! What a walk says of itself when it is done.

use crate::metadata::Fields;
use crate::options::{Options, SourceChoice, Stay};
use crate::regime::WorkerChange;
use crate::scan::Scan;
use crate::source::KernelSide;
use crate::volume::Bulk;
use crate::walk::Shared;
use crate::worker::Totals;
use std::time::Duration;

/// What has come of a walk: the visitors of all workers, and a summary.
#[derive(Debug)]
pub struct Outcome<V> {
    /// The visitors, in the order in which their workers ended.
    pub visitors: Vec<V>,
    /// What was done.
    pub summary: Summary,
}

/// What was read ahead before a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetched {
    /// Bytes of inode tables.
    pub inode_bytes: u64,
    /// Bytes of directories.
    pub directory_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// It was ended by its bounds on inodes and bytes, before everything had been read.
    pub bounded: bool,
}

impl Prefetched {
    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            inode_bytes: self.inode_bytes + other.inode_bytes,
            directory_bytes: self.directory_bytes + other.directory_bytes,
            elapsed: self.elapsed + other.elapsed,
            bounded: self.bounded || other.bounded,
        }
    }
}

/// What a walk has done, and how.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts, not a state"
)]
#[derive(Clone, Debug)]
pub struct Summary {
    /// Entries read, roots included.
    pub entries: u64,
    /// Directories opened.
    pub directories: u64,
    /// What could not be read. Zero: everything was.
    pub errors: u64,
    /// Entries that vanished between being listed and being looked at.
    pub vanished: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// The source that was read from.
    pub source: &'static str,
    /// Whether that source was asked for, rather than chosen.
    pub source_given: bool,
    /// Why it was chosen, or why another was not; words for people.
    pub source_reason: String,
    /// Directories that the source would not answer for, and that were read by system calls.
    pub handed_back: u64,
    /// Why the last of them was.
    pub handed_back_reason: Option<String>,
    /// What was read ahead, if anything was.
    pub prefetched: Option<Prefetched>,
    /// Workers that were started.
    pub workers: usize,
    /// Whether the number of workers was given, rather than adapted.
    pub workers_given: bool,
    /// How the number of workers was changed, and why.
    pub worker_changes: Vec<WorkerChange>,
    /// Whether calls were found to wait for a device or a network.
    pub waited: bool,
    /// Whether metadata was asked for in inode order, for a rotational disk.
    pub inode_order: bool,
    /// The largest read buffer, in bytes.
    pub buffer_size: usize,
    /// Fields that `statx` was asked for; empty if it was not called for every entry.
    pub fields: Fields,
    /// Descriptors that the walk could have open at a time. It falls while the rest of the process
    /// opens more.
    pub descriptor_limit: usize,
    /// No more descriptors than this were open for the walk at any time. What visitors opened
    /// themselves is not counted.
    pub descriptors_held: usize,
    /// Descriptors that were left to the rest of the process.
    pub descriptor_reserve: usize,
    /// How often a directory was opened again because its descriptor had been closed.
    pub reopened: usize,
    /// Whether a visitor stopped the walk.
    pub stopped: bool,
}

impl Summary {
    pub(crate) fn new<S>(
        shared: &Shared<S>,
        totals: Totals,
        buffer_size: usize,
        workers: usize,
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
            source: source_name(&shared.bulk, &shared.kernel),
            source_reason: source_reason(&shared.options, &shared.bulk, &shared.kernel),
            handed_back: shared.bulk.handed_back() + shared.kernel.handed_back(),
            handed_back_reason: shared
                .kernel
                .last_hand_back()
                .or_else(|| shared.bulk.last_hand_back()),
            prefetched: shared.prefetch.done(),
            source_given: shared.options.source != SourceChoice::Auto,
            workers,
            workers_given: shared.options.workers.is_some(),
            worker_changes: shared.regime.changes(),
            waited: shared.regime.has_waited(),
            inode_order: shared.regime.uses_inode_order(),
            buffer_size,
            fields,
            descriptor_limit: shared.descriptors.limit(),
            descriptors_held: shared.descriptors.budget().most(),
            descriptor_reserve: shared.descriptors.budget().reserve(),
            reopened: shared.descriptors.reopened(),
            stopped: shared.scheduler.is_stopped(),
        }
    }

    /// Of a scan, which has read no directories.
    pub(crate) fn of_scan(source: &'static str, scan: &Scan) -> Self {
        Self {
            entries: 0,
            directories: 0,
            errors: 0,
            vanished: 0,
            elapsed: Duration::ZERO,
            source,
            source_given: scan.is_source_given(),
            source_reason: "the whole file system, so its files are read without their names"
                .into(),
            handed_back: 0,
            handed_back_reason: None,
            prefetched: None,
            workers: 0,
            workers_given: scan.are_workers_given(),
            worker_changes: Vec::new(),
            waited: false,
            inode_order: false,
            buffer_size: 0,
            fields: scan.fields_wanted(),
            descriptor_limit: 0,
            descriptors_held: 0,
            descriptor_reserve: 0,
            reopened: 0,
            stopped: false,
        }
    }

    /// Whether everything below the roots was read.
    pub fn is_complete(&self) -> bool {
        self.errors == 0 && !self.stopped
    }
}

/// The source that was read from, past the VFS or not.
pub(crate) fn source_name(bulk: &Bulk, kernel: &KernelSide) -> &'static str {
    let volume = Some(bulk.source()).filter(|name| *name != "syscall" && bulk.is_listing());
    volume.or(kernel.source()).unwrap_or(bulk.source())
}

/// Why that one.
pub(crate) fn source_reason(options: &Options, bulk: &Bulk, kernel: &KernelSide) -> String {
    if options.source.is_kernel() || source_name(bulk, kernel) != bulk.source() {
        let reason = kernel.describe().or_else(|| kernel.refused());
        return reason.unwrap_or_default();
    }
    let volumes = bulk.reason(options);
    match kernel.refused() {
        Some(refused) if bulk.source() == "syscall" && !volumes.is_empty() => {
            format!("{volumes}; {refused}")
        }
        Some(refused) if bulk.source() == "syscall" => refused,
        _ => volumes,
    }
}
