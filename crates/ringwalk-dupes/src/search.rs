//! The search: scan, comparison, and what was found.

use crate::directories::{DirectoryGroup, SimilarDirectories, compare_directories};
use crate::groups::Groups;
use crate::inventory::{FileId, FileRecord, Inventory, RootRecord, TooMany};
use crate::matching::{FileFault, MatchOptions, MatchProgress, Matcher};
use crate::scan::live::{FIELDS, LiveVisitor, Scan, ScanError, Wanted};
use crate::scan::saved::{self, SavedError};
use ringwalk::{Errno, Fields, Follow, Identity, Metadata, Stay, Summary, Walk};
use ringwalk_hash::cache::{CacheError, HashCache, NotKept};
use ringwalk_snapshot::{ReadError, Snapshot, uuid_text};
use ringwalk_sys::FileSystemIdentity;
use ringwalk_sys::sync::IgnorePoison;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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
    references: HashSet<Identity>,
    snapshots: Vec<Snapshot>,
    min: u64,
    directories: Directories,
    one_file_system: bool,
    workers: Option<NonZeroUsize>,
    cache: Option<HashCache>,
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
            references: HashSet::new(),
            snapshots: Vec::new(),
            min: 1,
            directories: Directories::No,
            one_file_system: false,
            workers: None,
            cache: None,
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
    fn needed_roots(&self) -> Vec<&Path> {
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
            .map(|(_, root)| root.path.as_path())
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
        self.references.insert(metadata.identity());
        self.add_root(path)
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

    /// Returns the walk that [`run`](Self::run) needs. The caller may set how it is done: its
    /// source, its workers.
    pub fn walk(&self) -> Walk {
        let stay = if self.one_file_system {
            Stay::Device
        } else {
            Stay::Anywhere
        };
        Walk::from_roots(self.needed_roots())
            .follow(Follow::CommandLine)
            .stay(stay)
            .fields(FIELDS)
    }

    /// Searches. `missed` is called for everything that could not be read, by any thread.
    ///
    /// # Errors
    ///
    /// Why there is no answer. What could not be read is none of these errors.
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
            look_up(&mut inventory, cache)?;
        }
        let report = |fault: FileFault<'_>| missed(Missed::File(fault));
        let matcher = Matcher::new(
            &inventory,
            MatchOptions {
                // Small files count in directories.
                min: if with_directories { 1 } else { self.min },
                workers: self.workers,
                cache: self.cache.as_ref(),
                report: &report,
                progress,
            },
        );
        let result = matcher.run().map_err(SearchError::Threads)?;
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
                path: root.as_os_str().as_bytes().to_vec(),
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
            partial: Mutex::default(),
        };
        let outcome = walk.run(|_| LiveVisitor::new(&scan));
        let summary = outcome.summary;
        drop(outcome.visitors);
        if scan.has_too_many.load(Ordering::Relaxed) {
            return Err(SearchError::TooMany);
        }
        let mut inventory = scan.inventory.into_inner().ignore_poison();
        inventory.mark_partial(&scan.partial.into_inner().ignore_poison());
        if self.cache.is_some() || !self.snapshots.is_empty() || inventory.devices.len() > 1 {
            self.identify(&mut inventory);
        }
        Ok((inventory, Some(summary)))
    }

    /// Asks for the identity of each file system, and shows it to the cache.
    fn identify(&self, inventory: &mut Inventory) {
        let mut open = vec![false; inventory.devices.len()];
        let mut identities = Vec::new();
        let mut uncached = Vec::new();
        for file in &inventory.files {
            let place = usize::from(file.device);
            if open[place] {
                continue;
            }
            let number = inventory.devices[place].number;
            let path = inventory.directory_path(file.dir);
            // Without an answer nothing of the file system is in the cache.
            let Ok(directory) = File::open(OsStr::from_bytes(&path)) else {
                continue;
            };
            let is_on_it = directory
                .metadata()
                .is_ok_and(|found| Some(found.dev()) == number);
            if !is_on_it {
                continue;
            }
            open[place] = true;
            let identity = FileSystemIdentity::of(&directory);
            if let Some(cache) = &self.cache
                && let Some(number) = number
            {
                let learned = cache.file_system(&directory, number);
                uncached.extend(learned.err().map(|why| (path.clone(), why)));
            }
            if let Some(uuid) = identity.uuid {
                identities.extend(uuid_text(&uuid).map(|uuid| (place, (uuid, identity.subvolume))));
            }
            if open.iter().all(|open| *open) {
                break;
            }
        }
        for (place, identity) in identities {
            inventory.devices[place].identity = Some(identity);
        }
        inventory.uncached = uncached;
    }
}

/// Puts the hashes of the cache into the inventory, for files with the size of another one.
fn look_up(inventory: &mut Inventory, cache: &HashCache) -> Result<(), SearchError> {
    let mut wanted: Vec<FileId> = Vec::new();
    for class in inventory.classes() {
        let size = inventory.file(FileId(class.start)).size;
        if size > 0 && inventory.inodes(class.clone()).nth(1).is_some() {
            // One live name of each inode. Rows of snapshots have their own hashes.
            let names = inventory.inodes(class);
            wanted.extend(names.filter_map(|names| inventory.live_name(names)));
        }
    }
    let device = |file: &FileRecord| inventory.devices[usize::from(file.device)].number;
    wanted.sort_unstable_by_key(|id| {
        let file = inventory.file(*id);
        (device(file), file.ino)
    });
    let version = |id: &FileId| {
        let file = inventory.file(*id);
        file.version(device(file).unwrap_or(0))
    };
    let first_known = inventory.known.len();
    let mut known = Vec::new();
    let found = cache.look_up(&mut wanted, version, |id, hash| {
        // There are fewer hashes than files.
        #[expect(clippy::cast_possible_truncation)]
        inventory
            .file(*id)
            .set_known((first_known + known.len()) as u32);
        known.push(hash);
    });
    found.map_err(SearchError::Cache)?;
    inventory.known.append(&mut known);
    Ok(())
}

/// What a search has found.
#[derive(Debug)]
pub struct Found {
    pub(crate) inventory: Inventory,
    pub(crate) groups: Groups,
    /// Files of snapshots that have the size of others, and no hash. Whether they are copies is not
    /// known.
    pub without_hash: u64,
    /// The summary of the walk; `None` without live roots.
    pub summary: Option<Summary>,
    min: u64,
    /// Only groups with a file in a reference are reported.
    with_references: bool,
    /// Directories with the same contents, the largest first.
    pub directories: Vec<DirectoryGroup>,
    /// Directories with many files in common, the largest first.
    pub similar: Vec<SimilarDirectories>,
    /// A directory on each file system whose hashes the cache does not keep, and why.
    pub uncached: Vec<(Vec<u8>, NotKept)>,
    /// The cache, for [`HashCache::finish`].
    pub cache: Option<HashCache>,
}

impl Found {
    /// Returns the paths of the live roots, as they were given.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        let live = self
            .inventory
            .roots
            .iter()
            .filter(|root| root.snapshot.is_none());
        live.map(|root| Path::new(OsStr::from_bytes(&root.path)))
    }

    /// Returns the groups of files with the same contents: those with the most bytes to free first,
    /// then by the path of the first file. With references, those that have a file in one.
    pub fn groups(&self) -> impl Iterator<Item = crate::groups::Group> + '_ {
        let groups = self.groups.iter(&self.inventory, self.min);
        groups.filter(|group| !self.with_references || group.copies[0].is_reference)
    }
}
