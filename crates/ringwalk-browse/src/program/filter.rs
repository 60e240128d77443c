//! Matches of an expression, for the browser.

use crate::filter::{FilterRun, Searched};
use crate::service::{Filter, MatchProgress, Matches, Totals};
use std::ffi::OsString;
use std::sync::Arc;

/// Searches a tree for what matches expressions.
pub(super) struct Expressions(pub(super) Searched);

impl Filter for Expressions {
    fn start(&self, words: &[String]) -> Result<Arc<dyn Matches>, String> {
        let words = words.iter().map(OsString::from).collect();
        Ok(Arc::new(FilterRun::start_words(words, &self.0)?))
    }
}

impl Matches for FilterRun {
    fn progress(&self) -> MatchProgress {
        MatchProgress {
            entries: self.generation(),
            finished: self.finished(),
        }
    }

    fn error(&self) -> Option<String> {
        self.error().or_else(|| self.warnings().first().cloned())
    }

    fn matched(&self, directory: &[u8], name: &[u8]) -> bool {
        self.matched(directory, name)
    }

    fn totals(&self, path: &[u8]) -> Totals {
        let totals = self.totals(path);
        Totals {
            entries: totals.entries,
            size: totals.size,
            alloc: totals.alloc,
        }
    }
}
