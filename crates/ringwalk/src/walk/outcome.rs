//! Adds up the results of all workers, and fills in the summary.

use crate::sources::registry::SourceChoice;
use crate::visit::metadata::Fields;
use crate::visit::summary::{Outcome, Summary};
use crate::walk::settings::Stay;
use crate::walk::shared::SharedWalk;
use crate::walk::worker::{FinishedWorker, Totals, join_names};
use std::time::Instant;

/// The name of the source of walks of saved trees.
const SAVED: &str = "snapshot";

/// Returns the outcome of a walk that began at `begin`.
pub(super) fn outcome<S, V>(
    shared: &SharedWalk<S>,
    done: Vec<FinishedWorker<V>>,
    begin: Instant,
) -> Outcome<V> {
    let mut totals = Totals::default();
    let mut buffer_size = 0;
    let mut visitors = Vec::with_capacity(done.len());
    let mut leftovers = Vec::new();
    for done in done {
        totals.entries += done.totals.entries;
        totals.directories += done.totals.directories;
        totals.errors += done.totals.errors;
        totals.vanished += done.totals.vanished;
        buffer_size = buffer_size.max(done.buffer_size);
        leftovers.extend(done.leftovers);
        visitors.push(done.visitor);
    }
    let leftovers = join_names(leftovers);
    let fields = if shared.entry_fields.asks_all() || shared.options.stay != Stay::Anywhere {
        shared.entry_fields.fields()
    } else {
        Fields::empty()
    };
    let (source, source_given, source_reason) = match &shared.options.saved {
        Some(tree) => (SAVED, true, tree.describe()),
        None => (
            shared.sources.name(),
            shared.options.source != SourceChoice::Auto,
            shared.sources.reason(),
        ),
    };
    let summary = Summary {
        entries: totals.entries,
        directories: totals.directories,
        errors: totals.errors,
        vanished: totals.vanished,
        elapsed: begin.elapsed(),
        source,
        source_given,
        source_reason,
        fell_back: shared.sources.fell_back(),
        fell_back_reason: shared.sources.fallback_reason(),
        prefetched: shared.prefetch.done(),
        workers: visitors.len(),
        workers_given: shared.options.workers.is_some(),
        worker_changes: shared.concurrency.changes(),
        waited: shared.concurrency.has_waited(),
        inode_order: shared.concurrency.uses_inode_order(),
        buffer_size,
        fields,
        descriptor_limit: shared.descriptors.limit(),
        descriptors_held: shared.descriptors.allowance().most(),
        descriptor_reserve: shared.descriptors.allowance().reserve(),
        reopened: shared.descriptors.reopened(),
        stopped: shared.scheduler.is_stopped(),
        leftovers: leftovers.len(),
    };
    Outcome {
        visitors,
        leftovers,
        summary,
    }
}
