//! Which files have the same contents.
//!
//! ```text
//!  files, sorted by size ── one size ──> class ── one candidate for each inode
//!      │                                   │
//!      │            hash from cache or snapshot ──────────────────────────┐
//!      │            shares all extents with another candidate ──┐         │
//!      │                                                        v         v
//!      ├── large: sample, then 1, 3, 12, 16 MiB … ── hash ──────────> Collector ──> groups
//!      └── small: the whole file ── hash ───────────────────────────────> ^
//! ```
//!
//! The largest files come first. The candidates of one size are read in step: after each part,
//! those that are unlike all others are read no further. The hash of the whole file is BLAKE3, made
//! of the parts (`ringwalk_hash::Tree`), so nothing is read twice.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the classes, and opening a candidate |
//! | `collector.rs` | from hashes to groups |
//! | `empty.rs` | files that have contents and say that they are empty |
//! | `layout.rs` | where candidates are on the disk: shared extents, physical order |
//! | `lockstep.rs` | large files in step |

mod collector;
mod empty;
mod layout;
mod lockstep;

use crate::inventory::{DirId, FileId, FileRecord, Inventory, KNOWN};
use collector::Collector;
pub(crate) use collector::GroupHashes;
use layout::Layout;
use ringwalk_hash::cache::HashCache;
use ringwalk_hash::{BUFFER, Crew, Fault, OpenFile, OpenRoot, ReadBuffer, read_range};
use ringwalk_sys::release_free_memory;
use ringwalk_sys::sync::{IgnorePoison, lock};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Files up to this size are read as a whole at once. Larger ones are sampled first.
const SMALL: u64 = BUFFER as u64;

/// Candidates whose places on the disk are sorted together. Each takes 16 bytes here, and as many
/// in the queue of the crew.
#[cfg(not(test))]
const BATCH: usize = 1 << 15;

/// Tests have few files, and more than one batch.
#[cfg(test)]
const BATCH: usize = 8;

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
        let is_large = |class: &Range<u32>| size(class) > SMALL;
        self.match_large(classes().take_while(|class| is_large(class)), &mut matched)?;
        self.match_small(classes().skip_while(|class| is_large(class)), &mut matched)?;
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

    fn match_small(
        &self,
        classes: impl Iterator<Item = Range<u32>>,
        matched: &mut Matched,
    ) -> io::Result<()> {
        let mut units = Vec::new();
        let mut known = HashSet::new();
        for class in classes {
            if class.len() > 2 * BATCH {
                // The collector forgets what it has seen after a long class.
                self.read_small(&mut units, &known, matched)?;
                known.clear();
                self.match_long_class(class, matched)?;
                continue;
            }
            let size = self.inventory.file(FileId(class.start)).size;
            let mut has_known = false;
            for names in self.inventory.inodes(class) {
                has_known |= self.sort_out(names, &mut units, matched);
            }
            if has_known {
                known.insert(size);
            }
            // The classes are whole, so the collector can forget what it has seen of them.
            if units.len() >= BATCH {
                self.read_small(&mut units, &known, matched)?;
                known.clear();
                lock(&self.collector).forget();
            }
        }
        self.read_small(&mut units, &known, matched)?;
        lock(&self.collector).forget();
        Ok(())
    }

    /// Compares the files of one size in several batches.
    fn match_long_class(&self, class: Range<u32>, matched: &mut Matched) -> io::Result<()> {
        // Each file of the other batches may be like one of this batch, as if its hash were known.
        let known = HashSet::from([self.inventory.file(FileId(class.start)).size]);
        let mut units = Vec::new();
        for names in self.inventory.inodes(class) {
            self.sort_out(names, &mut units, matched);
            if units.len() == BATCH {
                self.read_small(&mut units, &known, matched)?;
            }
        }
        self.read_small(&mut units, &known, matched)?;
        lock(&self.collector).forget();
        Ok(())
    }

    /// Reads candidates. `known` has the sizes of those whose hashes are known.
    fn read_small(
        &self,
        units: &mut Vec<Unit>,
        known: &HashSet<u64>,
        matched: &mut Matched,
    ) -> io::Result<()> {
        // All hashes are known: no thread need be started.
        if units.is_empty() {
            return Ok(());
        }
        let layout = self.lay_out(units)?;
        matched.shares.extend(layout.shares());
        units.retain(|unit| !layout.is_follower(unit.file));
        if !layout.is_empty() {
            self.keep_unread(units, known, &layout);
        }
        units.sort_unstable_by_key(|unit| unit.place);
        let crew = Crew::default();
        let work = |unit: Unit, buffer: &mut ReadBuffer| {
            let all = std::iter::once(&unit.file).chain(layout.followers(unit.file));
            // Another one is read if the first is gone meanwhile.
            let mut hash = None;
            for file in all {
                hash = hash.or_else(|| self.hash_small(*file, buffer));
                if let Some(hash) = hash {
                    lock(&self.collector).add(self.inventory, *file, hash);
                }
            }
        };
        let produce = || units.iter().for_each(|unit| crew.push(*unit));
        crew.run(self.options.workers, ReadBuffer::default, work, produce)?;
        // Workers that have ended leave buffers, and old copies of the collector's lists.
        release_free_memory();
        units.clear();
        Ok(())
    }

    /// Takes away the units that can be like no other unit, but only like those that share their
    /// extents: these make groups without being read.
    fn keep_unread(&self, units: &mut Vec<Unit>, known: &HashSet<u64>, layout: &Layout) {
        let size = |unit: &Unit| self.inventory.file(unit.file).size;
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for unit in units.iter() {
            *counts.entry(size(unit)).or_default() += 1;
        }
        units.retain(|unit| {
            let size = size(unit);
            let is_alone = counts.get(&size) == Some(&1) && !known.contains(&size);
            let followers = layout.followers(unit.file);
            if is_alone && !followers.is_empty() {
                lock(&self.collector).add_shared(self.inventory, unit.file, followers);
                self.options.progress.files.fetch_add(1, Ordering::Relaxed);
            }
            !is_alone
        });
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

    fn hash_small(&self, id: FileId, buffer: &mut [u8]) -> Option<[u8; 32]> {
        let size = self.inventory.file(id).size;
        let mut hasher = blake3::Hasher::new();
        self.with_file(id, |file| {
            read_range(file, 0..size, buffer, |bytes| {
                hasher.update(bytes);
            })
        })?;
        let hash = hasher.finalize().into();
        self.remember(id, &hash);
        Some(hash)
    }

    /// Puts a hash into the cache.
    fn remember(&self, id: FileId, hash: &[u8; 32]) {
        self.options.progress.files.fetch_add(1, Ordering::Relaxed);
        let file = self.inventory.file(id);
        let device = &self.inventory.devices[usize::from(file.device)];
        if let (Some(cache), Some(dev)) = (self.options.cache, device.number) {
            // What is not kept is read again by the next run; the answer is the same.
            let _ = cache.insert(&file.version(dev), hash);
        }
    }

    /// Opens a file, calls `read`, and makes sure that the file is and stays the version that was
    /// found. Reports what goes wrong.
    fn with_file<T>(
        &self,
        id: FileId,
        read: impl FnOnce(&OpenFile) -> Result<T, Fault>,
    ) -> Option<T> {
        match self.try_with_file(id, read) {
            Ok(result) => Some(result),
            // What was removed since is no copy of anything.
            Err(fault) if fault.is_vanished() => None,
            Err(fault) => {
                let path = self.inventory.file_path(id);
                (self.options.report)(FileFault {
                    path: path.path(),
                    fault,
                });
                None
            }
        }
    }

    /// As [`with_file`](Self::with_file), without a report.
    fn try_with_file<T>(
        &self,
        id: FileId,
        read: impl FnOnce(&OpenFile) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let file = self.inventory.file(id);
        let open = self.open(id)?;
        let device = self.inventory.devices[usize::from(file.device)].number;
        if !file.is_version(open.version()) || device != Some(open.version().dev) {
            return Err(Fault::Changed);
        }
        let result = read(&open)?;
        open.check_unchanged()?;
        Ok(result)
    }

    fn open(&self, id: FileId) -> Result<OpenFile, Fault> {
        let file = self.inventory.file(id);
        let root = self.inventory.directory(file.dir).root as usize;
        let path = self.inventory.file_below_root(id);
        let root_path = Path::new(OsStr::from_bytes(&self.inventory.roots()[root].path));
        if path.is_empty() {
            return OpenFile::open(&OpenRoot::Working, root_path);
        }
        let open = self.roots[root].get_or_init(|| OpenRoot::open(root_path));
        match open {
            Ok(root) => OpenFile::open(root, Path::new(OsStr::from_bytes(&path))),
            Err(errno) => Err(Fault::Open(*errno)),
        }
    }
}

#[cfg(test)]
mod tests;
