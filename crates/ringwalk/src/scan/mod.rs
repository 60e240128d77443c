//! All files of a whole file system, without their names.
//!
//! Sums over a file system need no directory to be read: its inodes, in the order in which they lie on the disk, are all
//! there is to know. A [`Scan`] gives the metadata of each file once, however many names it has, in any order, on several
//! threads. What it cannot do exactly as a walk would, it declines before it begins or on the way, and then its caller
//! walks.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | what is asked for, and running it |
//! | `ext4.rs` | inode tables from the block device |
//! | `xfs.rs` | BULKSTAT over allocation groups |
//! | `btrfs.rs` | TREE_SEARCH_V2 over ranges of object ids |

use crate::metadata::Metadata;
use crate::volume::Refused;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pieces of a file system that threads take in turn.
#[derive(Debug)]
pub(crate) struct Turns {
    next: AtomicUsize,
    count: usize,
    stopped: AtomicBool,
}

impl Turns {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            count,
            stopped: AtomicBool::new(false),
        }
    }

    /// The next piece that nobody has taken.
    pub(crate) fn take(&self) -> Option<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.count).then_some(piece)
    }

    /// No more pieces are given out.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// A file system whose files can be given without names.
pub(crate) trait Inventory: Sync {
    /// Into how many pieces it is cut.
    fn pieces(&self) -> usize;

    /// Takes pieces until there are no more, and gives the files in them: each that has a name, the root directory among them, on
    /// its device and mount, with the mask that statx(2) would return. Files that it is not sure of are asked by file
    /// handle. Called by several threads at once.
    ///
    /// # Errors
    ///
    /// If not all files can be given: what has been given is then forgotten.
    fn scan(&self, turns: &Turns, files: &mut dyn FnMut(&[Metadata])) -> Result<(), Refused>;
}
