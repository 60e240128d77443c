//! The buffer that a source fills: names of one directory, and metadata where it has been asked.
//!
//! Names lie in directory records with an index; metadata lies beside it, at the same number. One worker uses one such
//! buffer for its whole life.

use crate::metadata::Metadata;
use ringwalk_sys::Records;
use rustix::io::Errno;
use std::cmp::Ordering;

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

    /// Puts the entries into the order of the bytes of their names.
    pub(crate) fn sort_by_name(&mut self) {
        if self.known.is_empty() {
            return self.records.sort_by_name();
        }
        self.sort(|records, a, b| records.name(a).cmp(records.name(b)));
    }

    /// Puts the entries into the order of their inode numbers.
    pub(crate) fn sort_by_ino(&mut self) {
        if self.known.is_empty() {
            return self.records.sort_by_ino();
        }
        self.sort(|records, a, b| records.ino(a).cmp(&records.ino(b)));
    }

    /// Sorts entries along with what is known of them.
    fn sort(&mut self, compare: impl Fn(&Records, usize, usize) -> Ordering) {
        self.known.resize(self.records.len(), Known::Nothing);
        let entries = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let mut order: Vec<_> = (0..entries).collect();
        order.sort_by(|&a, &b| compare(&self.records, a as usize, b as usize));
        self.records.arrange(&order);
        self.known = order.iter().map(|&at| self.known[at as usize]).collect();
    }

    /// The same in a buffer that is no larger than it needs.
    pub(crate) fn to_exact(&self) -> RawBatch {
        RawBatch {
            records: self.records.to_exact(),
            known: self.known.clone(),
            failed: self.failed,
        }
    }

    /// Forgets what is known of all entries.
    #[cfg(feature = "async")]
    pub(crate) fn forget_known(&mut self) {
        self.known.clear();
        self.failed = 0;
    }

    /// Of the entries of which nothing is known there is no metadata, for this reason.
    #[cfg(feature = "async")]
    pub(crate) fn fail_unknown(&mut self, errno: Errno) {
        self.known.resize(self.records.len(), Known::Nothing);
        for known in &mut self.known {
            if matches!(known, Known::Nothing) {
                *known = Known::Failed(errno);
                self.failed += 1;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_sys::RawFileType as FileType;

    fn batch(known: bool) -> RawBatch {
        let mut batch = RawBatch::default();
        for (errno, name) in [(3_i32, c"c"), (1, c"a"), (2, c"b")] {
            let ino = 10 - errno.cast_unsigned();
            batch
                .records
                .push(name, FileType::Regular, u64::from(ino), 0);
            if known {
                let errno = Errno::from_raw_os_error(errno);
                batch.known.push(Known::Failed(errno));
            }
        }
        batch
    }

    #[test]
    fn what_is_known_stays_with_its_entry() {
        for known in [false, true] {
            let mut batch = batch(known);
            batch.sort_by_name();
            let names: Vec<_> = (0..3).map(|i| batch.records.name(i)).collect();
            assert_eq!(names, [c"a", c"b", c"c"]);
            let of = |batch: &RawBatch| -> Vec<_> {
                (0..3)
                    .filter_map(|i| Some(batch.failure(i)?.raw_os_error()))
                    .collect()
            };
            assert_eq!(of(&batch), &[1, 2, 3][..if known { 3 } else { 0 }]);
            batch.sort_by_ino();
            assert_eq!(batch.records.name(0), c"c");
            assert_eq!(of(&batch), &[3, 2, 1][..if known { 3 } else { 0 }]);
        }
    }
}
