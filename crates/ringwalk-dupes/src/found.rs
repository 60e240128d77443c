//! What a search has found.

use crate::directories::{DirectoryGroup, SimilarDirectories};
use crate::groups::{Group, Groups};
use crate::inventory::Inventory;
use ringwalk::Summary;
use ringwalk_hash::cache::{HashCache, NotKept};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a search has found.
#[derive(Debug)]
pub struct Found {
    pub(crate) inventory: Inventory,
    pub(crate) groups: Groups,
    /// Files of snapshots that have the size of others, and no hash. Whether they are copies is not
    /// known.
    pub without_hash: u64,
    /// The summary of the walk; `None` without live roots.
    pub summary: Option<Summary>,
    pub(crate) min: u64,
    /// Only groups with a file in a reference are reported.
    pub(crate) with_references: bool,
    /// Directories with the same contents, the largest first.
    pub directories: Vec<DirectoryGroup>,
    /// Directories with many files in common, the largest first.
    pub similar: Vec<SimilarDirectories>,
    /// A directory on each file system whose hashes the cache does not keep, and why.
    pub uncached: Vec<(Vec<u8>, NotKept)>,
    /// The cache, for [`HashCache::finish`].
    pub cache: Option<HashCache>,
}

impl Found {
    /// Returns the paths of the live roots, as they were given.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        let live = self
            .inventory
            .roots()
            .iter()
            .filter(|root| root.snapshot.is_none());
        live.map(|root| Path::new(OsStr::from_bytes(&root.path)))
    }

    /// Returns the groups of files with the same contents: those with the most bytes to free first,
    /// then by the path of the first file. With references, those that have a file in one.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        let groups = self.groups.iter(&self.inventory, self.min);
        groups.filter(|group| !self.with_references || group.copies[0].is_reference)
    }
}
