//! Older trees: what has not changed since a tree was saved need not be read again.
//!
//! A walk with an [`OlderTree`] ([`Walk::older_tree`](crate::Walk::older_tree)) reads the live file
//! system, and takes from the older tree only what its volume proves to be the same:
//!
//! | volume | proof | taken |
//! |---|---|---|
//! | btrfs | No leaf that holds the inode was written since the last transaction before the older tree was read. | names and metadata |
//!
//! From other file systems nothing is taken:
//!
//! - ext4: reading its directories from the device takes no longer than reading an older tree.
//! - XFS: only times show that a directory has not changed. But a change right after the clock was
//!   set has exactly the time that was set: 17 of 40 changes after `date -s` to the same second had
//!   the same time (Linux 6.12). Even with a table of all inodes, from one pass of BULKSTAT, an
//!   update saved only a quarter of the CPU time.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the traits |
//! | `volume.rs` | the older tree of one mounted volume |

mod volume;

pub(crate) use volume::{OlderListings, OlderVolume};

use crate::sources::saved::SavedBatch;
use crate::visit::metadata::Fields;
use rustix::io::Errno;
use std::fmt;
use std::sync::Arc;

/// A tree that was saved earlier, or several.
pub trait OlderTree: fmt::Debug + Send + Sync {
    /// Returns a description for people: the name of the file that holds the tree.
    fn describe(&self) -> String;

    /// Returns what is known of a file system. `uuid` is its UUID, as bytes; `subvolume` is the
    /// number of the subvolume, or 0.
    ///
    /// # Errors
    ///
    /// If the tree has nothing of it, or does not say enough. The text follows `because`.
    fn file_system(&self, uuid: &[u8], subvolume: u64) -> Result<OlderFileSystem, String>;

    /// Returns the fields of metadata that are known of its files.
    fn fields(&self) -> Fields;

    /// Returns a reader of one file system, for one worker. It returns these fields with each
    /// entry, as far as they are known; without fields it returns names and types only.
    fn reader(self: Arc<Self>, file_system: usize, fields: Fields) -> Box<dyn OlderReader>;
}

/// A file system in an older tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderFileSystem {
    /// Its index.
    pub index: usize,
    /// The last transaction of btrfs that was committed before reading began.
    pub transaction: Option<u64>,
}

/// Reads directories of an older tree for one worker.
pub trait OlderReader: Send {
    /// Returns the number by which the entries of the directory with this inode number are listed.
    /// Returns `None` if the tree does not hold the directory, or cannot give all of its entries
    /// with name, type and inode number.
    ///
    /// # Errors
    ///
    /// `EIO` if the tree cannot be read.
    fn listing(&mut self, ino: u64) -> Result<Option<u64>, Errno>;

    /// Adds entries of a directory to `batch`, which is empty: from the first entry, or from the
    /// position that the call before has returned. Returns the position of the entries that follow;
    /// `None` after the last.
    ///
    /// # Errors
    ///
    /// `EIO` if the tree cannot be read.
    fn list(
        &mut self,
        listing: u64,
        from: Option<u64>,
        batch: &mut SavedBatch<'_>,
    ) -> Result<Option<u64>, Errno>;
}
