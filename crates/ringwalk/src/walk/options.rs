//! The options of a walk, resolved and shared by all its workers.

use crate::sources::older::OlderTree;
use crate::sources::registry::SourceChoice;
use crate::sources::saved::{SavedTree, SharedReader};
use crate::sources::wanted::Wanted;
use crate::visit::candidate::Candidate;
use crate::visit::leftover::Leftover;
use crate::visit::metadata::Fields;
use crate::visit::sibling::Compare;
use crate::walk::budget::Budget;
use crate::walk::root::Root;
use crate::walk::settings::{Follow, Order, Prefetch, Stay};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

/// A function that decides whether the walk descends into a directory.
pub(crate) type Filter = Box<dyn Fn(&Candidate<'_>) -> bool + Send + Sync>;

#[allow(
    clippy::struct_excessive_bools,
    reason = "independent options, not a state"
)]
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) roots: Vec<Root>,
    pub(crate) fields: Fields,
    pub(crate) follow: Follow,
    pub(crate) stay: Stay,
    pub(crate) min_depth: usize,
    pub(crate) max_depth: usize,
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) buffer_size: Option<usize>,
    pub(crate) order: Order,
    /// Compares the entries of a directory, in place of their names, with [`Order::Name`].
    pub(crate) compare: Option<Compare>,
    pub(crate) source: SourceChoice,
    pub(crate) prefetch: Prefetch,
    pub(crate) sync: bool,
    pub(crate) raise_limits: bool,
    /// Descriptors left to the rest of the process; `None` is the default.
    pub(crate) descriptor_reserve: Option<usize>,
    pub(crate) parents_open: bool,
    pub(crate) preorder: bool,
    pub(crate) filter: Option<Filter>,
    /// Visitors prune nothing, so directories may be read before their entry is visited.
    pub(crate) descends_everywhere: bool,
    /// The tree that is walked in place of the live file system.
    pub(crate) saved: Option<Arc<dyn SavedTree>>,
    /// The tree from which what has not changed is taken.
    pub(crate) older: Option<Arc<dyn OlderTree>>,
    /// Fields that entries of a saved tree may lack.
    pub(crate) optional_fields: Fields,
    pub(crate) budget: Budget,
    /// Entries that were read and not looked up are left over, too.
    pub(crate) leave_names: bool,
    /// What another walk has left over. The walk reads nothing else then.
    pub(crate) resume: Option<Vec<Leftover>>,
    /// The largest number of requests for metadata at a time.
    pub(crate) in_flight: Option<NonZeroUsize>,
    pub(crate) entries_per_second: Option<NonZeroU64>,
}

impl Options {
    /// Creates the options of a walk over these roots, with all defaults.
    pub(crate) fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            max_depth: usize::MAX,
            ..Self::default()
        }
    }

    /// Returns true if entries of a directory must come in the order of `getdents64` or by name, or
    /// if the walk uses their cookies.
    pub(crate) fn is_in_order(&self) -> bool {
        self.order != Order::Any || self.preorder || self.is_partial()
    }

    /// Returns which entries need metadata, and which fields.
    pub(crate) fn wanted_of_entries(&self) -> Wanted {
        Wanted::entries(self.fields, self.stay, self.follow)
    }

    /// Returns which fields the roots need.
    pub(crate) fn wanted_of_roots(&self) -> Wanted {
        Wanted::roots(self.fields, self.stay, self.follow)
    }

    /// Returns a reader of the saved tree for one worker; `None` for a walk of a live tree.
    pub(crate) fn saved_reader(&self) -> Option<SharedReader> {
        let tree = Arc::clone(self.saved.as_ref()?);
        let fields = match self.stay {
            Stay::Anywhere => self.fields,
            Stay::Device | Stay::Mount => self.fields | Fields::MNT_ID,
        };
        let required = self.fields - self.optional_fields;
        Some(SharedReader::new(
            tree.reader(fields),
            required,
            self.follow,
        ))
    }

    /// Returns true if the walk may leave something out: it has a budget, or goes on with
    /// leftovers.
    pub(crate) fn is_partial(&self) -> bool {
        self.budget.is_bounded() || self.resume.is_some()
    }
}
