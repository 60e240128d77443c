//! Prefetch reads blocks into the page cache, in the order of the disk, before the walk asks for
//! them one by one.
//!
//! A walk by system calls reads directories and inodes in the order of names, which is unrelated to
//! their order on the disk. On ext2, ext3 and ext4 the kernel reads both through the page cache of
//! the block device. So a process that may read the device can fill that cache in the order of the
//! disk first. Every answer still comes from the system calls: a block that prefetch misses, or
//! reads in vain, costs only time.
//!
//! | file | contents |
//! |---|---|
//! | `watch.rs` | when prefetch begins: a walk was seen to wait for a disk |
//! | `bounds.rs` | how much prefetch may read |
//! | `cold.rs` | whether a file system is in memory |
//! | `whole.rs` | a whole file system: all inode tables, then all directories |
//! | `levels.rs` | a subtree: one level of directories, then the inodes that they name |
//! | `map.rs` | where the blocks of directories are |
//! | `tables.rs` | which blocks of inode tables are needed |
//! | `fetch.rs`, `ranges.rs` | reads many byte ranges in ascending order |

mod bounds;
mod cold;
mod fetch;
mod levels;
mod map;
mod ranges;
mod tables;
#[cfg(test)]
mod tests;
mod watch;
mod whole;

pub(crate) use bounds::PrefetchBounds;
pub(crate) use watch::Watch;

use crate::visit::summary::Prefetched;
use fetch::{Ended, Fetcher};
use ringwalk_ext4::{FileSystem, InodeTable};
use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The part of a file system to read ahead.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    /// The block device, open for reading.
    pub(crate) device: &'a File,
    pub(crate) file_system: &'a FileSystem,
    /// The inodes of the walk's root directories on it.
    pub(crate) roots: Vec<u32>,
    /// True if the walk's root is the root of the file system, and the walk leaves nothing out.
    pub(crate) whole: bool,
    /// True if the walk needs the metadata of every entry, not only the names.
    pub(crate) metadata: bool,
    /// The greatest depth of the walk; its roots have depth 0.
    pub(crate) max_depth: usize,
    /// The number of inodes in use, as statfs(2) returns it.
    pub(crate) inodes: u64,
}

impl Plan<'_> {
    /// Returns the inode tables, if the walk wants the whole file system and reading all tables is
    /// cheaper than finding out which of their blocks are needed.
    fn tables(&self) -> Option<Vec<InodeTable>> {
        if !self.whole {
            return None;
        }
        let tables = self.file_system.inode_tables(self.device).ok()?;
        let inodes: u64 = tables.iter().map(|table| u64::from(table.count)).sum();
        (inodes <= SPARSE * self.inodes.max(1)).then_some(tables)
    }

    /// Returns true if the whole plan seems to be in memory. Returns false for a subtree: only
    /// reading it would show.
    fn is_warm(&self) -> bool {
        let cold = self
            .tables()
            .map(|tables| cold::is_cold(self.device, self.file_system, &tables));
        cold.flatten() == Some(false)
    }
}

/// Reads the blocks of `plan`, until all are read, the bounds are reached, or `stop` is set.
pub(crate) fn prefetch(plan: &Plan<'_>, bounds: PrefetchBounds, stop: &AtomicBool) -> Prefetched {
    let begin = Instant::now();
    let inode_size = plan.file_system.superblock().inode_size;
    let mut fetcher = Fetcher::new(plan.device, stop, bounds, inode_size);
    // An early end needs no handling: either `bounded` records it, or the walk is over.
    let _: Result<(), Ended> = match plan.tables() {
        Some(tables) => whole::read_whole(plan, &tables, &mut fetcher),
        None => levels::read_levels(plan, &mut fetcher),
    };
    Prefetched {
        inode_bytes: fetcher.inode_bytes,
        directory_bytes: fetcher.directory_bytes,
        elapsed: begin.elapsed(),
        bounded: fetcher.bounded,
    }
}

/// The most inodes that are read for each inode in use. If the tables hold more, reading levels of
/// directories reads less.
const SPARSE: u64 = 8;
