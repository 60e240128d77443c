//! The buffer that a source fills: names of one directory, and metadata if the caller asks for it.
//!
//! Names lie in directory records with an index; metadata lies beside it, at the same number. One
//! worker uses one such buffer for its whole life.

use crate::sources::kernel::{BatchInTree, TreeListing};
use crate::visit::metadata::Metadata;
use crate::visit::sibling::{Compare, Sibling};
use ringwalk_sys::Records;
use rustix::io::Errno;
use std::cmp::Ordering;

/// The metadata of an entry, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Nothing,
    Metadata(Metadata),
    /// Metadata of the target: the entry is, or may be, a symbolic link that the walk follows.
    Followed(Metadata),
    Failed(Errno),
}

#[derive(Debug, Default)]
pub(crate) struct RawBatch {
    pub(crate) records: Records,
    /// As long as `records`, or empty while no entry has metadata.
    pub(crate) known: Vec<Known>,
    /// How many entries of `known` are failures.
    pub(crate) failed: usize,
    /// The file numbers of entries of a saved tree, whose listing numbers are cookies. Empty in
    /// walks of live trees.
    pub(crate) files: Vec<u64>,
    /// Where the entries of subdirectories are, if they were read in the same request.
    pub(crate) below: Option<BatchInTree>,
}

impl RawBatch {
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.known.clear();
        self.failed = 0;
        self.files.clear();
        self.below = None;
    }

    /// Returns the listing of a subdirectory that was read together with this batch.
    pub(crate) fn listing(&self, index: usize) -> Option<TreeListing> {
        let below = self.below.as_ref()?;
        let identity = self.metadata(index)?.identity()?;
        below.listing(self.records.offset(index), identity)
    }

    /// Returns the number by which a directory is listed without being opened
    /// ([`Dir::number`](crate::Dir)).
    pub(crate) fn number(&self, index: usize) -> u64 {
        if self.files.is_empty() {
            self.records.ino(index)
        } else {
            self.records.cookie(index).cast_unsigned()
        }
    }

    /// Returns true if a directory cannot be listed, because its metadata cannot be read. A saved
    /// tree can list a directory whose metadata is not known.
    pub(crate) fn is_unreachable(&self, index: usize) -> bool {
        self.failure(index)
            .is_some_and(|errno| self.files.is_empty() || errno != Errno::NODATA)
    }

    pub(crate) fn metadata(&self, index: usize) -> Option<&Metadata> {
        match self.known.get(index) {
            Some(Known::Metadata(metadata) | Known::Followed(metadata)) => Some(metadata),
            Some(Known::Nothing | Known::Failed(_)) | None => None,
        }
    }

    pub(crate) fn is_followed(&self, index: usize) -> bool {
        matches!(self.known.get(index), Some(Known::Followed(_)))
    }

    pub(crate) fn failure(&self, index: usize) -> Option<Errno> {
        match self.known.get(index) {
            Some(Known::Failed(errno)) => Some(*errno),
            Some(Known::Nothing | Known::Metadata(_) | Known::Followed(_)) | None => None,
        }
    }

    /// Sorts the entries by the bytes of their names.
    pub(crate) fn sort_by_name(&mut self) {
        if self.known.is_empty() {
            return self.records.sort_by_name();
        }
        self.sort(|records, a, b| records.name(a).cmp(records.name(b)));
    }

    /// Sorts the entries as `compare` orders them.
    pub(crate) fn sort_by(&mut self, compare: &Compare) {
        self.sort(|records, a, b| {
            let [a, b] = [a, b].map(|index| Sibling { records, index });
            compare(&a, &b)
        });
    }

    /// Sorts the entries by their inode numbers.
    pub(crate) fn sort_by_ino(&mut self) {
        if self.known.is_empty() {
            return self.records.sort_by_ino();
        }
        self.sort(|records, a, b| records.ino(a).cmp(&records.ino(b)));
    }

    /// Sorts entries together with their metadata.
    fn sort(&mut self, compare: impl Fn(&Records, usize, usize) -> Ordering) {
        self.known.resize(self.records.len(), Known::Nothing);
        let entries = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let mut order: Vec<_> = (0..entries).collect();
        order.sort_by(|&a, &b| compare(&self.records, a as usize, b as usize));
        self.records.arrange(&order);
        self.known = order.iter().map(|&at| self.known[at as usize]).collect();
        if !self.files.is_empty() {
            self.files = order.iter().map(|&at| self.files[at as usize]).collect();
        }
    }

    /// Returns a copy in a buffer that is no larger than necessary.
    pub(crate) fn to_exact(&self) -> RawBatch {
        RawBatch {
            records: self.records.to_exact(),
            known: self.known.clone(),
            failed: self.failed,
            files: self.files.clone(),
            // Its records lie elsewhere. Subdirectories are opened.
            below: None,
        }
    }

    /// Removes the metadata of all entries.
    #[cfg(feature = "async")]
    pub(crate) fn forget_known(&mut self) {
        self.known.clear();
        self.failed = 0;
    }

    /// Marks all entries without metadata as failed, for this reason.
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

    /// Moves the entries from `start` on, with their metadata, into a separate buffer.
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
        let files = self.files.split_off(start.min(self.files.len()));
        RawBatch {
            records: self.records.split_off(start),
            known,
            failed,
            files,
            below: None,
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
    fn metadata_stays_with_its_entry() {
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
