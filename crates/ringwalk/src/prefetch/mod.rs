//! Brings the blocks that a walk will need into the page cache, in the order of the disk, before the walk asks for them one by one.
//!
//! A walk by system calls meets directories and inodes in the order of names, which on a disk is no order. On ext2, ext3 and ext4 the
//! kernel reads both through the page cache of the block device, so whoever may read that device can have it filled in order first. Every
//! answer still comes from the system calls: what is missing here, or wrong, costs time and nothing else.
//!
//! | file | what is in it |
//! |---|---|
//! | `watch.rs` | when it is done: the walk finds out that it waits for a disk |
//! | `bounds.rs` | how much may be read |
//! | `cold.rs` | whether a file system is in memory |
//! | `sweep.rs` | a whole file system: all inode tables, then all directories |
//! | `levels.rs` | a subtree: a level of directories, then the inodes they name |
//! | `map.rs` | where the blocks of directories are |
//! | `tables.rs` | which blocks of inode tables are needed |
//! | `fetch.rs`, `ranges.rs` | reading many places in their order |

mod bounds;
mod cold;
mod fetch;
mod levels;
mod map;
mod ranges;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use bounds::Bounds;
pub(crate) use watch::Watch;

use crate::summary::Prefetched;
use fetch::{Ended, Fetcher};
use ringwalk_ext4::{FileSystem, InodeTable};
use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What is to be read ahead.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    /// The block device, open for reading.
    pub(crate) device: &'a File,
    pub(crate) file_system: &'a FileSystem,
    /// The inodes of the walk's root directories on it.
    pub(crate) roots: Vec<u32>,
    /// The walk's root is the file system's, and nothing is left out.
    pub(crate) whole: bool,
    /// Metadata of every entry is needed, not only the names.
    pub(crate) metadata: bool,
    /// How deep the walk goes; its roots have depth 0.
    pub(crate) max_depth: usize,
    /// Inodes in use, as statfs(2) tells.
    pub(crate) inodes: u64,
}

impl Plan<'_> {
    /// The inode tables, if all of the file system is wanted and reading them all is cheaper than finding out which blocks
    /// of them are needed.
    fn tables(&self) -> Option<Vec<InodeTable>> {
        if !self.whole {
            return None;
        }
        let tables = self.file_system.inode_tables(self.device).ok()?;
        let inodes: u64 = tables.iter().map(|table| u64::from(table.count)).sum();
        (inodes <= SPARSE * self.inodes.max(1)).then_some(tables)
    }

    /// Whether all of it seems to be in memory. Of a subtree that is not known before it has been read.
    fn is_warm(&self) -> bool {
        let cold = self
            .tables()
            .map(|tables| cold::is_cold(self.device, self.file_system, &tables));
        cold.flatten() == Some(false)
    }
}

/// Reads what the plan says, until it is all there, the bounds are reached, or `stop` is set.
pub(crate) fn prefetch(plan: &Plan<'_>, bounds: Bounds, stop: &AtomicBool) -> Prefetched {
    let begin = Instant::now();
    let inode_size = plan.file_system.superblock().inode_size;
    let mut fetcher = Fetcher::new(plan.device, stop, bounds, inode_size);
    // Why it ended early, if it did, is in `bounded`, or the walk is over.
    let _: Result<(), Ended> = match plan.tables() {
        Some(tables) => sweep::sweep(plan, &tables, &mut fetcher),
        None => levels::read_levels(plan, &mut fetcher),
    };
    Prefetched {
        inode_bytes: fetcher.inode_bytes,
        directory_bytes: fetcher.directory_bytes,
        elapsed: begin.elapsed(),
        bounded: fetcher.bounded,
    }
}

/// Inodes that are read for one that is in use, at most. With more, levels of directories read less.
const SPARSE: u64 = 8;
