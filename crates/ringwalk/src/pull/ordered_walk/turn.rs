//! The current directory of an ordered walk, and the owner's choice of subdirectories.

use super::listing::{Listing, join};
use ringwalk_sys::RawFileType as FileType;
use std::sync::Arc;

/// A subdirectory that the walk is to go down into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The entry with this index in the current directory.
    Entry(usize),
    /// The directory that this path leads to. It is not read ahead.
    Path(Vec<u8>),
}

/// The current directory of an ordered walk.
#[derive(Debug)]
pub struct Turn {
    pub(super) listing: Arc<Listing>,
    /// Entries that are directories but not listed as such, ascending: links to directories, and
    /// entries whose type is not listed.
    pub(super) found: Vec<u32>,
}

impl Turn {
    /// Returns the path and the entries.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Returns true if an entry is a directory or a symbolic link to one.
    #[inline]
    pub fn is_directory(&self, index: usize) -> bool {
        self.listing.file_type(index) == FileType::Directory
            || !self.found.is_empty()
                && u32::try_from(index).is_ok_and(|index| self.found.binary_search(&index).is_ok())
    }

    /// Returns how many entries are directories, or symbolic links to one.
    pub fn directories(&self) -> usize {
        self.listing.directories() + self.found.len()
    }
}

/// Joins paths as Python's `os.path.join` does. Returns the name itself if it begins with a slash.
pub fn path_below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if name.first() == Some(&b'/') {
        return name.to_vec();
    }
    let mut path = directory.to_vec();
    join(&mut path, name);
    path
}
