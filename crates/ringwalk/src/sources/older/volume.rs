//! The older tree of one mounted volume.

use super::{OlderFileSystem, OlderReader, OlderTree};
use crate::sources::raw_batch::RawBatch;
use crate::sources::saved::SavedBatch;
use crate::sources::volume::{Position, Refused};
use crate::visit::metadata::Fields;
use rustix::io::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an older tree has of one mounted volume.
pub(crate) struct OlderVolume {
    tree: Arc<dyn OlderTree>,
    pub(crate) file_system: OlderFileSystem,
    /// The fields that the walk wants of each entry.
    pub(crate) fields: Fields,
    /// Directories whose entries were taken from the tree.
    taken: AtomicU64,
}

impl OlderVolume {
    /// Looks for the file system with this UUID in the tree.
    pub(crate) fn new(
        tree: &Arc<dyn OlderTree>,
        uuid: &[u8],
        subvolume: u64,
        fields: Fields,
    ) -> Result<Self, Refused> {
        let file_system = tree
            .file_system(uuid, subvolume)
            .map_err(Refused::because)?;
        Ok(Self {
            tree: Arc::clone(tree),
            file_system,
            fields,
            taken: AtomicU64::new(0),
        })
    }

    /// Returns true if the tree has all fields that the walk wants.
    pub(crate) fn has_metadata(&self) -> bool {
        // A file system is known of every entry that is taken.
        self.tree.fields().contains(self.fields - Fields::MNT_ID)
    }

    /// Returns a reader for one worker, of names or of names and metadata.
    pub(crate) fn reader(&self, metadata: bool) -> OlderListings {
        let fields = if metadata {
            self.fields
        } else {
            Fields::empty()
        };
        OlderListings(Arc::clone(&self.tree).reader(self.file_system.index, fields))
    }

    pub(crate) fn count(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a description for people.
    pub(crate) fn describe(&self) -> String {
        let taken = self.taken.load(Ordering::Relaxed);
        let tree = self.tree.describe();
        format!("{taken} directories unchanged since {tree}")
    }
}

/// The listings of an older tree, as a reader of a volume returns them.
pub(crate) struct OlderListings(Box<dyn OlderReader>);

impl OlderListings {
    /// Returns the number of a directory's listing, if all of its entries are known.
    pub(crate) fn listing(&mut self, ino: u64) -> Result<u64, Refused> {
        let found = self.0.listing(ino).map_err(unreadable)?;
        found.ok_or_else(|| Refused::because("the older snapshot does not hold it"))
    }

    /// Fills `batch` with entries of a listing, from its beginning or from a position on.
    pub(crate) fn list(
        &mut self,
        listing: u64,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let from = from.map(|position| position.at);
        let listed = self.0.list(listing, from, &mut SavedBatch::older(batch));
        let next = listed.map_err(unreadable)?;
        Ok(next.map(|at| Position {
            in_older: true,
            ..Position::at(at)
        }))
    }
}

fn unreadable(errno: Errno) -> Refused {
    Refused::because(format!("the older snapshot cannot be read: {errno}"))
}
