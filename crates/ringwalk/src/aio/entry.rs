//! An entry that stands on its own.

use crate::pull::entry_buffer::EntryRef;
use crate::visit::metadata::Metadata;
use crate::visit::name::Name;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// An entry of a directory, from [`Dir::next`](super::Dir::next). It borrows nothing, so it can be
/// sent to other tasks.
///
/// Names of up to 21 bytes take no memory of their own.
pub struct DirEntry {
    name: Name,
    ino: u64,
    file_type: FileType,
    known: Option<Box<Result<Metadata, Errno>>>,
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirEntry")
            .field("name", &self.c_name())
            .field("file_type", &self.file_type)
            .finish_non_exhaustive()
    }
}

impl From<EntryRef<'_>> for DirEntry {
    fn from(entry: EntryRef<'_>) -> Self {
        let known = match (entry.metadata(), entry.stat_error()) {
            (Some(metadata), _) => Some(Box::new(Ok(*metadata))),
            (None, Some(errno)) => Some(Box::new(Err(errno))),
            (None, None) => None,
        };
        Self {
            name: entry.c_name().into(),
            ino: entry.ino(),
            file_type: entry.file_type(),
            known,
        }
    }
}

impl DirEntry {
    /// Returns the name: any bytes except `/` and NUL, UTF-8 or not.
    pub fn file_name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.bytes())
    }

    /// Returns the name for a system call.
    pub fn c_name(&self) -> &CStr {
        self.name.as_c_str()
    }

    /// Returns the type: from the metadata if there is any, else as the directory lists it, which
    /// may be [`Unknown`](FileType::Unknown). Some file systems do not store types in directories.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Returns the inode number as the directory lists it. At a mount point it is the number of the
    /// directory underneath.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// Returns the metadata that came along, if it [was asked for](super::Dir::read_plus) and could
    /// be read.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.known.as_deref()?.as_ref().ok()
    }

    /// Returns the error that prevented the metadata.
    pub fn stat_error(&self) -> Option<Errno> {
        self.known.as_deref()?.as_ref().err().copied()
    }
}
