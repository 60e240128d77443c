//! The data that all workers of a walk share.

use crate::sources::choose::{NamedSource, SourceSelection};
use crate::sources::prefetch::Watch;
use crate::sources::wanted::Wanted;
use crate::visit::metadata::{Fields, Identity};
use crate::walk::boundary::Boundaries;
use crate::walk::budget::Spending;
use crate::walk::concurrency::ConcurrencyController;
use crate::walk::concurrency::rate::RateLimit;
use crate::walk::descriptors::{Descriptors, Extra};
use crate::walk::monitor::Monitor;
use crate::walk::options::Options;
use crate::walk::scheduler::Scheduler;
use crate::walk::settings::Prefetch;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// The data that all workers of a walk share.
pub(crate) struct SharedWalk<S> {
    pub(crate) options: Options,
    pub(crate) entry_fields: Wanted,
    pub(crate) root_fields: Wanted,
    pub(crate) descriptors: Descriptors<S>,
    pub(crate) concurrency: ConcurrencyController,
    pub(crate) scheduler: Scheduler<S>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) boundaries: Boundaries,
    pub(crate) spending: Spending,
    /// The roots that were found, in a walk with a budget.
    pub(crate) root_identities: Vec<OnceLock<Identity>>,
    pub(crate) sources: SourceSelection,
    pub(crate) prefetch: Watch,
    pub(crate) rate: RateLimit,
}

impl<S> SharedWalk<S> {
    pub(super) fn new(options: Options, named: NamedSource, monitor: Arc<Monitor>) -> Self {
        let sources = SourceSelection::new(&options, named);
        let descriptors = Descriptors::new(&options, sources.has_kernel());
        let concurrency = ConcurrencyController::new(
            options.workers,
            options
                .in_flight
                .map_or(usize::MAX, NonZeroUsize::get)
                .min(descriptors.max_workers()),
        );
        descriptors.admit_first_worker();
        descriptors.count_volumes(sources.routing.volumes().len());
        let mut root_fields = options.wanted_of_roots();
        let spending = Spending::new(options.budget);
        if sources.routing.is_allowed() || options.is_partial() {
            root_fields = root_fields.with(Fields::INO | Fields::MNT_ID);
        }
        Self {
            entry_fields: options.wanted_of_entries(),
            root_fields,
            sources,
            descriptors,
            scheduler: Scheduler::new(concurrency.most()),
            concurrency,
            monitor,
            prefetch: Watch::new(options.prefetch),
            rate: RateLimit::new(options.entries_per_second),
            boundaries: Boundaries::new(options.stay, options.roots.len()),
            root_identities: options.roots.iter().map(|_| OnceLock::new()).collect(),
            spending,
            options,
        }
    }

    /// Reads ahead for every root, if the caller asked for that without measuring.
    pub(super) fn begin_prefetch(&self) {
        let (options, stop) = (&self.options, self.scheduler.stop_flag());
        if options.prefetch == Prefetch::Always {
            let begin = || self.prefetch.begin(options, stop);
            self.descriptors.with(Extra::Prefetch, begin);
        }
    }
}
