//! Entries of one directory, in a buffer that the caller uses again and again.

use crate::sources::raw_batch::RawBatch;
use crate::visit::metadata::Metadata;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

/// Room for entries of one directory, filled by [`Directory::read`](crate::Directory::read) and
/// similar methods. It grows to the size of one read: about 32 KiB (256 KiB from a server), and 176
/// bytes an entry for metadata. It never shrinks.
#[derive(Default)]
pub struct EntryBuffer {
    pub(crate) raw: RawBatch,
}

impl fmt::Debug for EntryBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl EntryBuffer {
    /// Creates an empty buffer, which allocates nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.raw.records.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.raw.records.is_empty()
    }

    /// Removes all entries, and keeps the room.
    pub fn clear(&mut self) {
        self.raw.clear();
    }

    /// Returns the entries, in the order of the directory.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = EntryRef<'_>> {
        (0..self.len()).map(|index| EntryRef {
            raw: &self.raw,
            index,
        })
    }

    /// Returns the entry with this number, from 0.
    pub fn get(&self, index: usize) -> Option<EntryRef<'_>> {
        (index < self.len()).then_some(EntryRef {
            raw: &self.raw,
            index,
        })
    }
}

/// An entry of an [`EntryBuffer`], read in place.
#[derive(Clone, Copy)]
pub struct EntryRef<'b> {
    pub(crate) raw: &'b RawBatch,
    pub(crate) index: usize,
}

impl fmt::Debug for EntryRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryRef")
            .field("name", &self.c_name())
            .field("file_type", &self.file_type())
            .finish_non_exhaustive()
    }
}

impl<'b> EntryRef<'b> {
    /// Returns the name: any bytes except `/` and NUL; for a root of a walk the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.c_name().to_bytes()
    }

    /// Returns the name as [`name`](Self::name) does, in the form of the standard library.
    pub fn file_name(&self) -> &'b OsStr {
        OsStr::from_bytes(self.name())
    }

    /// Returns the name for a system call. Its end is searched for, so keep the result if you need
    /// it more than once.
    #[inline]
    pub fn c_name(&self) -> &'b CStr {
        self.raw.records.name(self.index)
    }

    /// Returns the type: from the metadata if there is any, else as the directory lists it, which
    /// may be [`Unknown`](FileType::Unknown).
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.raw.records.file_type(self.index)
    }

    /// Returns the inode number as the directory lists it; 0 for roots of a walk. At a mount point
    /// it is the number of the directory underneath.
    pub fn ino(&self) -> u64 {
        self.raw.records.ino(self.index)
    }

    /// Returns the cookie of the next entry (`d_off`): opaque, and valid for the open
    /// [`Directory`](crate::Directory) only. For an entry of a walk the number means nothing: walks
    /// also read directories in ways that give no cookies.
    pub fn cookie(&self) -> i64 {
        self.raw.records.cookie(self.index)
    }

    /// Returns the metadata, if it was asked for and could be read.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.raw.metadata(self.index)
    }

    /// Returns the error that prevented the metadata.
    pub fn stat_error(&self) -> Option<Errno> {
        self.raw.failure(self.index)
    }

    /// Returns true if this is a symbolic link that was followed: type and metadata belong to its
    /// target.
    pub fn is_followed(&self) -> bool {
        self.raw.is_followed(self.index)
    }
}
