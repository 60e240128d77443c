//! The buffer that a source fills: names of one directory, and metadata where it has been asked.
//!
//! Names lie in directory records with an index; metadata lies beside it, at the same number. One worker uses one such
//! buffer for its whole life.

use crate::metadata::Metadata;
use ringwalk_sys::Records;
use rustix::io::Errno;

/// What is known of an entry's metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Nothing,
    Metadata(Metadata),
    /// The entry is, or may be, a symbolic link that the walk follows: this is its target's.
    Followed(Metadata),
    Failed(Errno),
}

#[derive(Debug, Default)]
pub(crate) struct RawBatch {
    pub(crate) records: Records,
    /// As long as `records`, or empty while nothing is known of any entry.
    pub(crate) known: Vec<Known>,
    /// How many of them are failures.
    pub(crate) failed: usize,
}

impl RawBatch {
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.known.clear();
        self.failed = 0;
    }

    pub(crate) fn metadata(&self, index: usize) -> Option<&Metadata> {
        match self.known.get(index) {
            Some(Known::Metadata(metadata) | Known::Followed(metadata)) => Some(metadata),
            _ => None,
        }
    }

    pub(crate) fn is_followed(&self, index: usize) -> bool {
        matches!(self.known.get(index), Some(Known::Followed(_)))
    }

    pub(crate) fn failure(&self, index: usize) -> Option<Errno> {
        match self.known.get(index) {
            Some(Known::Failed(errno)) => Some(*errno),
            _ => None,
        }
    }

    /// Moves the entries from `start` on, and what is known of them, into a buffer of their own.
    pub(crate) fn split_off(&mut self, start: usize) -> RawBatch {
        let known = if self.known.is_empty() {
            Vec::new()
        } else {
            self.known.split_off(start)
        };
        let failures = known
            .iter()
            .filter(|known| matches!(known, Known::Failed(_)));
        let failed = failures.count();
        self.failed -= failed;
        RawBatch {
            records: self.records.split_off(start),
            known,
            failed,
        }
    }
}
