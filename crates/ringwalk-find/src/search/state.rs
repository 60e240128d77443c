//! What is kept with a directory while it is searched.

use super::file::File;
use super::shared::Shared;
use crate::facts::Facts as _;
use ringwalk::Metadata;
use ringwalk::ordered::Place;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is kept with a directory.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Which worker has its line, if it has one.
    pub(crate) line: Option<LineAt>,
    /// The workers that have lines of what is below it, by their number modulo 64.
    pub(crate) writers: AtomicU64,
    /// Where its results belong when they are put into order.
    pub(crate) place: Option<Place>,
    /// For a directory that is evaluated after what is in it.
    pub(crate) later: Option<Box<Later>>,
}

/// A line that a worker had not necessarily written yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineAt {
    pub(crate) worker: usize,
    /// The piece of that worker's output in which it is.
    pub(crate) piece: u64,
}

/// What was known of a directory when it was found. Its times are those from before anything in it was changed, as
/// find(1) has them.
#[derive(Debug)]
pub(crate) struct Later {
    pub(crate) metadata: Option<Metadata>,
    /// It was reached through a link.
    pub(crate) followed: bool,
    pub(crate) stat_failed: Option<rustix::io::Errno>,
}

impl State {
    /// Notes that these workers have lines of what is below.
    pub(crate) fn add_writers(&self, writers: u64) {
        if writers & !self.writers.load(Ordering::Relaxed) != 0 {
            self.writers.fetch_or(writers, Ordering::Relaxed);
        }
    }
}

impl Later {
    /// What is known of `file`, and what can be asked now.
    pub(crate) fn new(shared: &Shared<'_>, file: &File<'_>) -> Self {
        let metadata = if shared.plan.fields.is_empty() {
            None
        } else {
            Some(file.metadata().cloned())
        };
        Self {
            followed: file.is_followed(),
            stat_failed: metadata.and_then(Result::err),
            metadata: metadata.and_then(Result::ok),
        }
    }
}
