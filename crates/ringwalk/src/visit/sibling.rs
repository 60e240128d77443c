//! An entry that is compared with others of its directory.

use ringwalk_sys::{RawFileType as FileType, Records};
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

/// A function that says which of two entries of a directory comes first.
pub(crate) type Compare = Box<dyn Fn(&Sibling<'_>, &Sibling<'_>) -> Ordering + Send + Sync>;

/// An entry as its directory lists it, for [`DepthFirst::sort_by`](crate::DepthFirst::sort_by). Its
/// metadata is read later.
#[derive(Clone, Copy)]
pub struct Sibling<'b> {
    pub(crate) records: &'b Records,
    pub(crate) index: usize,
}

impl fmt::Debug for Sibling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sibling")
            .field("file_name", &self.file_name())
            .field("file_type", &self.file_type())
            .finish_non_exhaustive()
    }
}

impl<'b> Sibling<'b> {
    /// Returns the name.
    pub fn file_name(&self) -> &'b OsStr {
        OsStr::from_bytes(self.records.name(self.index).to_bytes())
    }

    /// Returns the type as the directory lists it, which may be [`Unknown`](FileType::Unknown).
    pub fn file_type(&self) -> FileType {
        self.records.file_type(self.index)
    }

    /// Returns the inode number as the directory lists it.
    pub fn ino(&self) -> u64 {
        self.records.ino(self.index)
    }
}
