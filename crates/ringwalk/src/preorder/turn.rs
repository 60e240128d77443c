//! What the owner of a walk is given, and what it answers.

use super::listing::{Listing, join};
use ringwalk_sys::RawFileType as FileType;
use std::sync::Arc;

/// A subdirectory that the walk is to go down into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The entry with this number of the directory given last.
    Entry(usize),
    /// Whatever this path leads to. It is not read ahead.
    Path(Vec<u8>),
}

/// A directory whose turn it is.
#[derive(Debug)]
pub struct Turn {
    pub(super) listing: Arc<Listing>,
    /// Entries that are directories though not listed as such, ascending: links to directories, and entries whose type
    /// is not listed.
    pub(super) found: Vec<u32>,
}

impl Turn {
    /// Path and entries.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Whether an entry is a directory or a symbolic link to one.
    #[inline]
    pub fn is_directory(&self, index: usize) -> bool {
        self.listing.file_type(index) == FileType::Directory
            || !self.found.is_empty()
                && u32::try_from(index).is_ok_and(|index| self.found.binary_search(&index).is_ok())
    }

    /// How many entries are.
    pub fn directories(&self) -> usize {
        self.listing.directories() + self.found.len()
    }
}

/// `os.path.join`, as Python calls it: the path of a name below a directory, which is the name itself if it begins with a slash.
pub fn path_below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if name.first() == Some(&b'/') {
        return name.to_vec();
    }
    let mut path = directory.to_vec();
    join(&mut path, name);
    path
}
