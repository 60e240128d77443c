//! Entries of one directory in a buffer of the caller, which is used again and again.

use crate::metadata::Metadata;
use crate::raw_batch::RawBatch;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::CStr;
use std::fmt;

/// Room for entries of one directory, filled by [`Directory::read`](crate::Directory::read) and its kin. It grows to what a read brings, some
/// 32 KiB (256 KiB from a server), 152 bytes an entry more with metadata, and keeps that.
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
    /// An empty one, without any memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.raw.records.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.raw.records.is_empty()
    }

    /// Forgets all entries, and keeps the room.
    pub fn clear(&mut self) {
        self.raw.clear();
    }

    /// The entries, in the order of the directory.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = EntryRef<'_>> {
        (0..self.len()).map(|index| EntryRef {
            raw: &self.raw,
            index,
        })
    }

    /// The entry with this number, from 0.
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
    /// The name: any bytes except `/` and NUL; for a root of a walk the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.c_name().to_bytes()
    }

    /// The name for a system call. Finding its end takes a moment: who needs it more than once keeps it.
    #[inline]
    pub fn c_name(&self) -> &'b CStr {
        self.raw.records.name(self.index)
    }

    /// The type: from the metadata if there is any, else as the directory says, which may be
    /// [`Unknown`](FileType::Unknown).
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.raw.records.file_type(self.index)
    }

    /// The inode number as the directory has it (at a mount point: that of the directory underneath); 0 for roots of a walk.
    pub fn ino(&self) -> u64 {
        self.raw.records.ino(self.index)
    }

    /// The cookie of the next entry (`d_off`): opaque, valid for the open directory only; 0 for roots of a walk.
    pub fn cookie(&self) -> i64 {
        self.raw.records.cookie(self.index)
    }

    /// The metadata, if it was asked for and could be had.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.raw.metadata(self.index)
    }

    /// Why there is no metadata.
    pub fn stat_error(&self) -> Option<Errno> {
        self.raw.failure(self.index)
    }

    /// Whether this is a symbolic link that was followed: type and metadata are those of its target.
    pub fn is_followed(&self) -> bool {
        self.raw.is_followed(self.index)
    }
}
