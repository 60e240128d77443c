//! The files that may have copies: what `ringwalk hash --save` hashes.

use crate::groups::Name;
use crate::inventory::{FileId, Inventory};
use crate::search::{Missed, Search, SearchError};
use ringwalk::Walk;
use ringwalk_hash::FileVersion;

/// Files of live directories, one name for each inode, in the order of inode numbers.
#[derive(Debug)]
pub struct Candidates {
    inventory: Inventory,
    chosen: Vec<FileId>,
}

impl Search {
    /// Walks, and returns the files whose size another file has, too; with `all`, all regular
    /// files. Empty files and the files of [`snapshot`](Search::snapshot) are left out. Reads no
    /// contents.
    ///
    /// # Errors
    ///
    /// As [`run`](Search::run).
    pub fn candidates(
        self,
        walk: Walk,
        all: bool,
        missed: &(dyn Fn(Missed<'_>) + Sync),
    ) -> Result<Candidates, SearchError> {
        let (mut inventory, _) = self.scan(walk, missed)?;
        inventory.sort();
        let mut chosen = Vec::new();
        for class in inventory.classes() {
            let first = chosen.len();
            for names in inventory.inodes(class) {
                let device = inventory.file(FileId(names.start)).device;
                let is_unique = inventory.devices[usize::from(device)].trust.is_unique;
                let most = if is_unique { 1 } else { names.len() };
                chosen.extend(names.take(most).map(FileId));
            }
            if !all && chosen.len() - first == 1 {
                chosen.pop();
            }
        }
        chosen.sort_by_key(|id| {
            let file = inventory.file(*id);
            (file.device, file.ino)
        });
        Ok(Candidates { inventory, chosen })
    }
}

/// A file that may have copies.
#[derive(Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// One of its names.
    pub name: Name,
    /// The version that was found.
    pub version: FileVersion,
    /// Device and inode number name this file only. Otherwise another file can have the same, and
    /// each name is a candidate.
    pub is_unique: bool,
}

impl Candidates {
    /// Returns the files.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.chosen.iter().map(|id| {
            let file = self.inventory.file(*id);
            let device = &self.inventory.devices[usize::from(file.device)];
            Candidate {
                name: self.inventory.file_path(*id),
                version: file.version(device.number.unwrap_or(0)),
                is_unique: device.trust.is_unique,
            }
        })
    }
}
