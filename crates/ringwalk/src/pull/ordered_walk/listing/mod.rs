//! The entries of one directory, packed: a thread reads them ahead, and the walk gives them.

mod builder;

pub(super) use builder::{ListingBuilder, SpareListings};

use crate::system::time_stamps::Moment;
use ringwalk_sys::RawFileType as FileType;
use std::ffi::CStr;

/// One entry of a [`Listing`].
#[derive(Clone, Copy, Debug)]
struct PackedEntry {
    ino: u64,
    /// The index of the first byte of the name.
    start: u32,
    /// Bytes of the name; a NUL follows.
    length: u16,
    file_type: FileType,
}

const _: () = assert!(size_of::<PackedEntry>() == 16);

impl Default for Names {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Names one behind the other, a NUL after each. The thread that reads them checks once, for all
/// names, whether they are UTF-8.
#[derive(Debug)]
enum Names {
    Text(String),
    Bytes(Vec<u8>),
}

/// The entries of one directory in the order in which they were read, `.` and `..` left out.
#[derive(Debug, Default)]
pub struct Listing {
    /// The path, with a NUL behind it.
    path: Vec<u8>,
    names: Names,
    entries: Vec<PackedEntry>,
    /// Entries that are listed as directories.
    directories: usize,
    /// Entries that need stat(2) to find out whether they are, or lead to, directories.
    unsure: usize,
    depth: usize,
    /// The device; 0 if nothing below this directory is read ahead.
    pub(super) dev: u64,
    pub(super) ino: u64,
    /// A moment before the first entry was read.
    pub(super) read_at: Moment,
}

impl Listing {
    /// Returns the path of the directory, beginning with the root as it was given.
    pub fn path(&self) -> &[u8] {
        self.path.strip_suffix(&[0]).unwrap_or_default()
    }

    pub(super) fn c_path(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.path).unwrap_or_default()
    }

    /// Returns the number of directories above this one up to the root, whose depth is 0.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the name of an entry.
    ///
    /// # Panics
    ///
    /// If there are not that many entries. The same holds for the methods below.
    #[inline]
    pub fn name(&self, index: usize) -> &[u8] {
        let entry = self.entries[index];
        let range = entry.start as usize..entry.start as usize + usize::from(entry.length);
        match &self.names {
            Names::Text(text) => &text.as_bytes()[range],
            Names::Bytes(bytes) => &bytes[range],
        }
    }

    /// Returns the name of an entry, for the kernel.
    pub(super) fn c_name(&self, index: usize) -> &CStr {
        let entry = self.entries[index];
        let bytes = match &self.names {
            Names::Text(text) => text.as_bytes(),
            Names::Bytes(bytes) => bytes,
        };
        CStr::from_bytes_until_nul(&bytes[entry.start as usize..]).unwrap_or_default()
    }

    /// Returns the name of an entry, if it is UTF-8.
    #[inline]
    pub fn text(&self, index: usize) -> Option<&str> {
        match &self.names {
            Names::Text(text) => {
                let entry = self.entries[index];
                let start = entry.start as usize;
                text.get(start..start + usize::from(entry.length))
            }
            Names::Bytes(_) => std::str::from_utf8(self.name(index)).ok(),
        }
    }

    /// Returns the type as the directory lists it.
    #[inline]
    pub fn file_type(&self, index: usize) -> FileType {
        self.entries[index].file_type
    }

    /// Returns the inode number as the directory lists it (`d_ino`).
    #[inline]
    pub fn ino(&self, index: usize) -> u64 {
        self.entries[index].ino
    }

    /// Returns how many entries are listed as directories.
    pub(super) fn directories(&self) -> usize {
        self.directories
    }

    /// Returns true if stat(2) must be asked about some entries.
    pub(super) fn has_unsure(&self) -> bool {
        self.unsure > 0
    }

    /// Returns true if its subdirectories may be read ahead.
    pub(super) fn is_trusted(&self) -> bool {
        self.dev != 0
    }

    /// Shrinks memory that is far too large, left over from a larger directory. Memory has to be in
    /// proportion to entries, because the limit of what is held ahead counts entries.
    fn trim(&mut self) {
        if self.entries.capacity() > 4 * self.entries.len() + 64 {
            self.entries.shrink_to_fit();
        }
        match &mut self.names {
            Names::Text(text) if text.capacity() > 4 * text.len() + 1024 => text.shrink_to_fit(),
            Names::Bytes(bytes) if bytes.capacity() > 4 * bytes.len() + 1024 => {
                bytes.shrink_to_fit();
            }
            Names::Text(_) | Names::Bytes(_) => {}
        }
    }

    /// Replaces `path` by the path of an entry, joined as Python's `os.path.join` does.
    pub(super) fn path_of(&self, index: usize, path: &mut Vec<u8>) {
        path.clear();
        path.extend_from_slice(self.path());
        join(path, self.name(index));
    }
}

/// Returns true if an entry of this type needs stat(2) to find out whether it is, or leads to, a
/// directory.
pub(super) fn is_unsure(file_type: FileType) -> bool {
    matches!(file_type, FileType::Symlink | FileType::Unknown)
}

/// Adds a name to a path with one slash between them.
pub(super) fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !matches!(path.last(), None | Some(b'/')) {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

#[cfg(test)]
mod tests;
