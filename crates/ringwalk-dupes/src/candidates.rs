//! The files that may have copies: what `ringwalk hash --output` hashes.

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
            chosen.extend(inventory.inodes(class).map(|names| FileId(names.start)));
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

impl Candidates {
    /// Returns each file and the version that was found.
    pub fn iter(&self) -> impl Iterator<Item = (Name, FileVersion)> + '_ {
        self.chosen.iter().map(|id| {
            let file = self.inventory.file(*id);
            let device = &self.inventory.devices[usize::from(file.device)];
            let name = self.inventory.file_path(*id);
            (name, file.version(device.number.unwrap_or(0)))
        })
    }
}
