//! The search: scan and comparison.

use crate::directories::compare_directories;
use crate::found::Found;
use crate::groups::Groups;
use crate::inventory::{Inventory, RootRecord, TooMany};
use crate::known::{identify, look_up};
use crate::matching::{FileFault, MatchOptions, MatchProgress, Matcher};
use crate::scan::live::{FIELDS, LiveVisitor, Scan, ScanError, Wanted};
use crate::scan::saved::{self, SavedError};
use ringwalk::identity::TrustOfDevices;
use ringwalk::{Errno, Fields, Follow, Identity, Metadata, Stay, Summary, Walk};
use ringwalk_hash::cache::{CacheError, HashCache};
use ringwalk_snapshot::cluster::is_live;
use ringwalk_snapshot::{ReadError, Snapshot};
use ringwalk_sys::release_free_memory;
use ringwalk_sys::sync::IgnorePoison;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::{fmt, io};

/// Whether and how directories are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directories {
    /// Only files are compared.
    #[default]
    No,
    /// Directories with the same contents are found.
    Same,
    /// Directories are found, too, whose files have at least this share of their bytes in common:
    /// 1 to 100 percent.
    Similar(u8),
}

/// What is searched, and how.
///
/// ```
/// use ringwalk_dupes::Search;
///
/// # let folder = tempfile::tempdir()?;
/// for name in ["a", "b"] {
///     std::fs::write(folder.path().join(name), "the same")?;
/// }
/// let mut search = Search::new([folder.path()])?;
/// let walk = search.walk();
/// let found = search.run(walk, &|_| {})?;
/// let groups: Vec<_> = found.groups().collect();
/// assert_eq!((groups.len(), groups[0].copies.len(), groups[0].size), (1, 2, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Search {
    roots: Vec<SearchRoot>,
    references: HashMap<Identity, Vec<PathBuf>>,
    snapshots: Vec<Snapshot>,
    min: u64,
    directories: Directories,
    one_file_system: bool,
    workers: Option<NonZeroUsize>,
    cache: Option<HashCache>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct SearchRoot {
    /// The path as it was given.
    path: PathBuf,
    /// The path without symbolic links.
    real: PathBuf,
}

/// Something that could not be read. The search goes on without it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Missed<'m> {
    /// A directory or a file's metadata.
    Scan(ScanError<'m>),
    /// The contents of a file.
    File(FileFault<'m>),
}

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum SearchError {
    /// A root or a reference cannot be used.
    Root(PathBuf, io::Error),
    /// A snapshot cannot be read.
    Snapshot(ReadError),
    /// The snapshot with this number has no hashes.
    NoHashes(usize),
    /// The cache cannot be read.
    Cache(CacheError),
    /// There are more than 2^31 files or directories.
    TooMany,
    /// No thread can be started.
    Threads(io::Error),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(path, error) => {
                let path = ringwalk_gnu::quote::file_always(path.as_os_str().as_bytes());
                write!(f, "{path}: {}", ringwalk_gnu::reason(error))
            }
            Self::Snapshot(error) => error.fmt(f),
            Self::Cache(error) => error.fmt(f),
            Self::NoHashes(_) => f.write_str("the snapshot has no hashes"),
            Self::TooMany => f.write_str("there are more than 2147483648 files or directories"),
            Self::Threads(error) => {
                write!(f, "cannot start a thread: {}", ringwalk_gnu::reason(error))
            }
        }
    }
}

impl std::error::Error for SearchError {}

impl From<TooMany> for SearchError {
    fn from(TooMany: TooMany) -> Self {
        Self::TooMany
    }
}

/// Returns true if a path that a user names is to be searched, and false if it is to be opened as a
/// snapshot: a regular file, or the folder of a walk that several processes share. The search
/// reports a root that is missing, or is no directory. To open a pipe as a snapshot could wait for
/// ever.
pub fn is_live_root(root: &OsStr) -> bool {
    let path = Path::new(root);
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    is_live(path) || std::fs::metadata(path).map_or(true, is_other)
}

impl Search {
    /// Sets up a search below these files and directories. Symbolic links given here are followed.
    /// A root that lies within another one is searched once.
    ///
    /// # Errors
    ///
    /// [`SearchError::Root`] if a root cannot be accessed.
    pub fn new(roots: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, SearchError> {
        let mut search = Self {
            roots: Vec::new(),
            references: HashMap::new(),
            snapshots: Vec::new(),
            min: 1,
            directories: Directories::No,
            one_file_system: false,
            workers: None,
            cache: None,
            stop: Arc::default(),
        };
        for root in roots {
            search.add_root(PathBuf::from(root.into()))?;
        }
        Ok(search)
    }

    fn add_root(&mut self, path: PathBuf) -> Result<(), SearchError> {
        match path.canonicalize() {
            Ok(real) => {
                self.roots.push(SearchRoot { path, real });
                Ok(())
            }
            Err(error) => Err(SearchError::Root(path, error)),
        }
    }

    /// Returns the roots without those whose files another root has, too.
    fn needed_roots(&self) -> Vec<&SearchRoot> {
        let has = |(at, inner): (usize, &SearchRoot), (other, outer): (usize, &SearchRoot)| {
            if inner.real == outer.real {
                return other < at;
            }
            // A root within another one may be on another file system, which is left out there.
            !self.one_file_system && inner.real.starts_with(&outer.real)
        };
        let roots = || self.roots.iter().enumerate();
        roots()
            .filter(|root| !roots().any(|other| has(*root, other)))
            .map(|(_, root)| root)
            .collect()
    }

    /// Adds a directory whose files are never changed. It is searched as well.
    ///
    /// # Errors
    ///
    /// [`SearchError::Root`] if it cannot be accessed, or is no directory.
    pub fn keep_in(&mut self, reference: impl Into<OsString>) -> Result<(), SearchError> {
        let path = PathBuf::from(reference.into());
        let metadata = Metadata::of_path(None, &path, true, Fields::TYPE | Fields::INO);
        let metadata = metadata.map_err(|errno| SearchError::Root(path.clone(), errno.into()))?;
        if metadata.file_type() != ringwalk::FileType::Directory {
            return Err(SearchError::Root(path, Errno::NOTDIR.into()));
        }
        self.add_root(path.clone())?;
        let real = self.roots.iter().map(|root| root.real.clone()).next_back();
        let identity = metadata.identity();
        let identity = identity.ok_or(SearchError::Root(path, Errno::NODATA.into()))?;
        self.references.entry(identity).or_default().extend(real);
        Ok(())
    }

    /// Adds the files of a snapshot with hashes. Their contents are not read.
    pub fn snapshot(&mut self, snapshot: Snapshot) {
        self.snapshots.push(snapshot);
    }

    /// Sets the smallest size of a file that is reported, in bytes; 1 by default. Empty files are
    /// never copies of each other.
    pub fn min(&mut self, min: u64) {
        self.min = min.max(1);
    }

    /// Sets whether directories are compared, too.
    pub fn directories(&mut self, directories: Directories) {
        self.directories = directories;
    }

    /// Sets whether other file systems below the roots are left out.
    pub fn one_file_system(&mut self, one_file_system: bool) {
        self.one_file_system = one_file_system;
    }

    /// Sets the number of workers that read contents. `None` lets it adapt.
    pub fn workers(&mut self, workers: Option<NonZeroUsize>) {
        self.workers = workers;
    }

    /// Takes hashes from a cache, and adds new ones to it.
    pub fn cache(&mut self, cache: HashCache) {
        self.cache = Some(cache);
    }

    /// Has the search end soon after any thread sets this flag. What it returns then is of no use.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// Returns the walk that [`run`](Self::run) needs. The caller may set how it is done: its
    /// source, its workers.
    pub fn walk(&self) -> Walk {
        let stay = if self.one_file_system {
            Stay::Device
        } else {
            Stay::Anywhere
        };
        Walk::from_roots(self.needed_roots().iter().map(|root| root.path.as_path()))
            .follow(Follow::CommandLine)
            .stay(stay)
            .fields(FIELDS)
    }

    /// Searches. `missed` is called for everything that could not be read, by any thread.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer. A file that could not be read does not cause an error here.
    pub fn run(
        self,
        walk: Walk,
        missed: &(dyn Fn(Missed<'_>) + Sync),
    ) -> Result<Found, SearchError> {
        self.run_watched(walk, missed, &MatchProgress::default())
    }

    /// Searches as [`run`](Self::run) does, and counts in `progress`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_watched(
        mut self,
        walk: Walk,
        missed: &(dyn Fn(Missed<'_>) + Sync),
        progress: &MatchProgress,
    ) -> Result<Found, SearchError> {
        let (mut inventory, summary) = self.scan(walk, missed)?;
        let with_directories = self.directories != Directories::No;
        for (number, snapshot) in self.snapshots.iter().enumerate() {
            let min = self.min;
            match saved::add(&mut inventory, snapshot, number, min, with_directories) {
                Ok(()) => {}
                Err(SavedError::Read(error)) => return Err(SearchError::Snapshot(error)),
                Err(SavedError::NoHashes) => return Err(SearchError::NoHashes(number)),
                Err(SavedError::TooMany) => return Err(SearchError::TooMany),
            }
        }
        inventory.sort();
        if let Some(cache) = &self.cache {
            look_up(&mut inventory, cache).map_err(SearchError::Cache)?;
        }
        let report = |fault: FileFault<'_>| missed(Missed::File(fault));
        let matcher = Matcher::new(
            &inventory,
            MatchOptions {
                // Small files count in directories.
                min: if with_directories { 1 } else { self.min },
                checks_empty: with_directories,
                workers: self.workers,
                cache: self.cache.as_ref(),
                report: &report,
                progress,
                stop: &self.stop,
            },
        );
        let result = matcher.run().map_err(SearchError::Threads)?;
        for dir in result.false_sizes {
            inventory.directories[dir.0 as usize].is_partial = true;
        }
        let mut found = Found {
            groups: Groups::new(&inventory, result.hashes, result.shares),
            without_hash: result.without_hash,
            summary,
            min: self.min,
            with_references: !self.references.is_empty(),
            directories: Vec::new(),
            similar: Vec::new(),
            cache: self.cache.take(),
            uncached: std::mem::take(&mut inventory.uncached),
            inventory,
        };
        if with_directories {
            let (same, similar) = compare_directories(&found.inventory, self.directories);
            (found.directories, found.similar) = (same, similar);
        }
        Ok(found)
    }

    /// Walks the live roots.
    pub(crate) fn scan(
        &self,
        walk: Walk,
        missed: &(dyn Fn(Missed<'_>) + Sync),
    ) -> Result<(Inventory, Option<Summary>), SearchError> {
        let mut inventory = Inventory::default();
        for root in self.needed_roots() {
            inventory.add_root(RootRecord {
                path: root.path.as_os_str().as_bytes().to_vec(),
                real: root.real.clone(),
                snapshot: None,
            })?;
        }
        if self.roots.is_empty() {
            return Ok((inventory, None));
        }
        let wanted = Wanted {
            min: self.min,
            directories: self.directories != Directories::No,
            references: self.references.clone(),
        };
        let report = |error: ScanError<'_>| missed(Missed::Scan(error));
        let scan = Scan {
            inventory: Mutex::new(inventory),
            wanted: &wanted,
            report: &report,
            has_too_many: AtomicBool::new(false),
            stop: &self.stop,
            trust: TrustOfDevices::default(),
            partial: Mutex::default(),
        };
        let outcome = walk.run(|_| LiveVisitor::new(&scan));
        let summary = outcome.summary;
        drop(outcome.visitors);
        // The buffers of the walk: some 2 MB for each worker.
        release_free_memory();
        if scan.has_too_many.load(Ordering::Relaxed) {
            return Err(SearchError::TooMany);
        }
        let mut inventory = scan.inventory.into_inner().ignore_poison();
        inventory.mark_partial(&scan.partial.into_inner().ignore_poison());
        if self.cache.is_some() || !self.snapshots.is_empty() || inventory.devices.len() > 1 {
            inventory.uncached = identify(&mut inventory, self.cache.as_ref());
        }
        Ok((inventory, Some(summary)))
    }
}
