//! Which files have the same contents.
//!
//! ```text
//!  files, sorted by size ── one size ──> class ── one candidate for each inode
//!      │                                   │
//!      │            hash from cache or snapshot ──────────────────────────┐
//!      │            shares all extents with another candidate ──┐         │
//!      │                                                        v         v
//!      ├── large: sample, then 1, 3, 12, 16 MiB … ── hash ──────────> Collector ──> groups
//!      └── small: whole files, many at once ── hash ────────────────> ^
//! ```
//!
//! The largest files come first. The candidates of one size are read in step: after each part,
//! those that are unlike all others are read no further. The hash of the whole file is BLAKE3, made
//! of the parts (`ringwalk_hash::Tree`), so nothing is read twice.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the classes, and the hashes that are known |
//! | `collector.rs` | from hashes to groups |
//! | `empty.rs` | files that have contents and say that they are empty |
//! | `layout.rs` | where candidates are on the disk: shared extents, physical order |
//! | `lockstep.rs` | large files in step |
//! | `open.rs` | opening a candidate as the version that was found |
//! | `small.rs` | small files, many read at once |

mod collector;
mod empty;
mod layout;
mod lockstep;
mod open;
mod small;

use crate::inventory::{DirId, FileId, FileRecord, Inventory, KNOWN};
use collector::Collector;
pub(crate) use collector::GroupHashes;
use layout::Layout;
use ringwalk::time_stamps::StampClocks;
use ringwalk_hash::cache::HashCache;
use ringwalk_hash::{BUFFER, Fault, OpenRoot};
use ringwalk_sys::sync::{IgnorePoison, lock};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Files up to this size are read as a whole at once. Larger ones are sampled first.
const SMALL: u64 = BUFFER as u64;

/// A file that could not be compared.
#[derive(Clone, Copy, Debug)]
pub struct FileFault<'f> {
    /// Its path, beginning with the root as it was given.
    pub path: &'f [u8],
    /// Why not.
    pub fault: Fault,
}

/// What is compared, and how.
pub(crate) struct MatchOptions<'m> {
    /// The smallest size of a file in bytes; not 0.
    pub(crate) min: u64,
    /// Files that say that they are empty are looked at: they count in directories.
    pub(crate) checks_empty: bool,
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) cache: Option<&'m HashCache>,
    /// Called for each file that could not be compared, by any thread.
    pub(crate) report: &'m (dyn Fn(FileFault<'_>) + Sync),
    pub(crate) progress: &'m MatchProgress,
    /// Once it is set, no more files are opened, and the result is of no use.
    pub(crate) stop: &'m AtomicBool,
}

/// How far the comparison is. Other threads may read it at any time.
#[derive(Debug, Default)]
pub struct MatchProgress {
    /// Files that were read, or that needed no reading.
    pub files: AtomicU64,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    pub(crate) hashes: GroupHashes,
    /// The files that share all extents with another one, and that one.
    pub(crate) shares: HashMap<FileId, FileId>,
    /// Files of snapshots that have the size of others, and no hash.
    pub(crate) without_hash: u64,
    /// Directories with files that say that they are empty and are not.
    pub(crate) false_sizes: Vec<DirId>,
}

/// The search for files with the same contents.
pub(crate) struct Matcher<'m> {
    pub(crate) inventory: &'m Inventory,
    pub(crate) options: MatchOptions<'m>,
    /// The roots, opened when they are needed.
    roots: Vec<OnceLock<Result<OpenRoot, Errno>>>,
    clocks: StampClocks,
    collector: Mutex<Collector>,
}

/// A candidate: one inode, by one of its names.
#[derive(Clone, Copy, Debug)]
struct Unit {
    file: FileId,
    /// Units are read in this order.
    place: u64,
}

impl<'m> Matcher<'m> {
    pub(crate) fn new(inventory: &'m Inventory, options: MatchOptions<'m>) -> Self {
        Self {
            inventory,
            options,
            roots: inventory.roots().iter().map(|_| OnceLock::new()).collect(),
            clocks: StampClocks::default(),
            collector: Mutex::default(),
        }
    }

    /// Compares all files. The groups stand in [`FileRecord::group`].
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(crate) fn run(self) -> io::Result<Matched> {
        let mut matched = Matched::default();
        let size = |class: &Range<u32>| self.inventory.file(FileId(class.start)).size;
        let classes = || {
            let all = self.inventory.classes();
            all.take_while(|class| size(class) >= self.options.min)
                .filter(|class| self.inventory.inodes(class.clone()).nth(1).is_some())
        };
        self.wait_until_sure(classes());
        let is_large = |class: &Range<u32>| size(class) > SMALL;
        self.match_large(classes().take_while(|class| is_large(class)), &mut matched)?;
        self.match_small(classes().skip_while(|class| is_large(class)), &mut matched)?;
        if !self.inventory.known.is_empty() {
            self.find_shared(&mut matched)?;
        }
        if self.options.checks_empty {
            matched.false_sizes = self.directories_with_false_sizes();
        }
        matched.hashes = self.collector.into_inner().ignore_poison().into_groups();
        Ok(matched)
    }

    /// Gives the hash of a file to the collector if it is known, or notes that the file has to be
    /// read. `names` are all its names. Returns true if the hash is known.
    fn sort_out(&self, names: Range<u32>, unread: &mut Vec<Unit>, matched: &mut Matched) -> bool {
        // A file and its row in a snapshot: the file counts.
        let live = self.inventory.live_name(names.clone());
        let file = live.unwrap_or(FileId(names.start));
        let known = names
            .map(|name| self.inventory.file(FileId(name)))
            .filter(|name| live.is_none() || !self.inventory.is_saved(name))
            .find_map(|name| self.known(name));
        match known {
            Some(hash) => {
                self.options.progress.files.fetch_add(1, Ordering::Relaxed);
                lock(&self.collector).add(self.inventory, file, hash);
            }
            None if live.is_none() => matched.without_hash += 1,
            None => unread.push(Unit {
                file,
                place: self.inventory.file(file).ino,
            }),
        }
        known.is_some()
    }

    fn known(&self, file: &FileRecord) -> Option<[u8; 32]> {
        let mark = file.mark.load(Ordering::Relaxed);
        if mark & KNOWN == 0 {
            return None;
        }
        self.inventory.known.get((mark & !KNOWN) as usize).copied()
    }

    /// Gives the hash of a file to the collector, for the file and for those that share its
    /// extents.
    fn add_hash(&self, file: FileId, hash: [u8; 32], layout: &Layout) {
        let mut collector = lock(&self.collector);
        collector.add(self.inventory, file, hash);
        for follower in layout.followers(file) {
            collector.add(self.inventory, *follower, hash);
        }
    }

    /// Puts a hash into the cache.
    fn remember(&self, id: FileId, hash: &[u8; 32]) {
        self.options.progress.files.fetch_add(1, Ordering::Relaxed);
        let file = self.inventory.file(id);
        let device = &self.inventory.devices[usize::from(file.device)];
        if let (Some(cache), Some(dev)) = (self.options.cache, device.number) {
            // If a hash is not kept, the next run reads the file again; the answer is the same.
            let _ = cache.insert(&file.version(dev), hash);
        }
    }
}

#[cfg(test)]
mod tests;
