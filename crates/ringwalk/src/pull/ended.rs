//! The end of a walk in the background.

use crate::pull::background::Background;
use crate::visit::leftover::Leftover;
use crate::visit::summary::{Outcome, Summary};

/// The summary of a walk, and what it has left over.
#[derive(Debug)]
pub(crate) struct Ended {
    summary: Summary,
    leftovers: Vec<Leftover>,
}

impl<V> From<Outcome<V>> for Ended {
    fn from(outcome: Outcome<V>) -> Self {
        Self {
            summary: outcome.summary,
            leftovers: outcome.leftovers,
        }
    }
}

impl<T: Send + 'static> Background<T, Ended> {
    /// Returns the summary of the walk, if the walk has ended.
    pub(crate) fn walk_summary(&self) -> Option<&Summary> {
        self.summary().map(|ended| &ended.summary)
    }

    /// Returns what the walk has left over, if the walk has ended by itself. When it was ended by
    /// its consumer, entries were dropped that no leftover names.
    pub(crate) fn leftovers(&self) -> Option<&[Leftover]> {
        let ended = self.summary()?;
        let is_known = !ended.summary.stopped && !self.is_closed();
        is_known.then_some(&ended.leftovers)
    }
}
