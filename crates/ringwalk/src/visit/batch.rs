//! Batches: the entries of one directory, borrowed from the buffer that they were read into.

use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::RawBatch;
use crate::sources::saved::SharedReader;
use crate::visit::dir::Dir;
use crate::visit::entry::Entry;
use crate::visit::error::{Error, Operation};
use crate::walk::boundary::Boundaries;
use rustix::io::Errno;
use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// A directory that the walk would descend into, and the visitor's decision about it.
pub(crate) struct Descent<S> {
    pub(crate) index: u32,
    pub(crate) pruned: Cell<bool>,
    pub(crate) state: Cell<Option<S>>,
}

/// Returns the numbers of everything that read number `read` of a directory returns.
pub(crate) fn numbers_of_read(read: u32) -> Range<u64> {
    let begin = u64::from(read) << 32;
    begin..begin + (1 << 32)
}

/// Cuts the numbers of a batch before its entry `at`. Returns those from there on.
pub(crate) fn cut_numbers(numbers: &mut Range<u64>, at: usize) -> Range<u64> {
    let cut = numbers.start + at as u64;
    debug_assert!(cut < numbers.end, "a read returns less than 2^32 entries");
    let behind = cut..numbers.end;
    numbers.end = cut;
    behind
}

/// Entries of one directory: one filled buffer, or a part of one.
///
/// The roots of a walk come as entries of a batch without a directory, at depth 0.
pub struct Batch<'b, S> {
    pub(crate) raw: &'b RawBatch,
    pub(crate) place: NamesAt<'b>,
    /// The reader of the saved tree that the walk reads.
    pub(crate) saved: Option<&'b SharedReader>,
    pub(crate) dir: Option<&'b Dir<S>>,
    pub(crate) numbers: Range<u64>,
    pub(crate) descents: &'b [Descent<S>],
    /// The index of the first root of this batch in the list of roots.
    pub(crate) first_root: usize,
    pub(crate) boundaries: &'b Boundaries,
}

impl<S> fmt::Debug for Batch<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("numbers", &self.numbers)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'b, S> Batch<'b, S> {
    /// Returns the directory of these entries; `None` for the roots themselves.
    pub fn dir(&self) -> Option<&'b Dir<S>> {
        self.dir
    }

    /// Returns the numbers of this batch within its directory, from 0, in the order of reading. The
    /// numbers of the next batch begin where these end. No number belongs to two batches, however
    /// small the parts are that a batch is cut into. Numbers of batches without entries are left
    /// out. Batches of roots are numbered among themselves. With
    /// [`Order::Any`](crate::Order::Any) several workers may read one large directory at a time:
    /// then the numbers follow the order of reading only roughly.
    pub fn numbers(&self) -> Range<u64> {
        self.numbers.clone()
    }

    /// Returns the depth of the entries: 0 for roots, 1 for entries of a root.
    pub fn depth(&self) -> usize {
        self.dir.map_or(0, |dir| dir.depth() + 1)
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.raw.records.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.raw.records.is_empty()
    }

    /// Returns the entries, in the order of the directory, or by name if that was asked for.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_, S>> {
        (0..self.raw.records.len()).map(|index| Entry { batch: self, index })
    }

    /// Returns the entry with this number, from 0.
    pub fn get(&self, index: usize) -> Option<Entry<'_, S>> {
        (index < self.len()).then_some(Entry { batch: self, index })
    }

    /// Returns true if the entries come from a saved tree.
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Returns the open directory, for calls on its entries; `None` for roots, whose names are
    /// relative to the working directory. If a source has listed the directory past the VFS, the
    /// first call of this method opens it.
    ///
    /// # Errors
    ///
    /// The errors of opening the directory; `ENOENT` if it is no longer at its place; `EOPNOTSUPP`
    /// in a saved tree.
    pub fn fd(&self) -> Result<Option<BorrowedFd<'b>>, Error> {
        self.place.directory().map_err(|errno| Error {
            operation: Operation::Open,
            path: self.dir.map(Dir::path).unwrap_or_default(),
            depth: self.dir.map_or(0, Dir::depth),
            errno,
            vanished: errno == Errno::NOENT,
            loops_with: None,
        })
    }
}
