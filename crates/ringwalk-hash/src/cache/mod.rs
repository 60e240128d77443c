//! A cache of hashes, so that a file that has not changed is not read again.
//!
//! ```no_run
//! use ringwalk_hash::FileVersion;
//! use ringwalk_hash::cache::HashCache;
//! use std::fs::File;
//!
//! struct Candidate {
//!     version: FileVersion,
//!     hash: Option<[u8; 32]>,
//! }
//!
//! # fn hash(_: &Candidate) -> [u8; 32] { [0; 32] }
//! let cache = HashCache::open("hashes".as_ref())?;
//! let file = File::open("file")?;
//! let version = FileVersion::of(&FileVersion::metadata(&file)?).ok_or("no version")?;
//! let mut candidates = [Candidate { version, hash: None }];
//! // Once for each device.
//! let _ = cache.file_system(&file, version.dev);
//! let found = |candidate: &mut Candidate, hash| candidate.hash = Some(hash);
//! let place = |candidate: &Candidate| (candidate.version.dev, candidate.version.ino);
//! cache.look_up(&mut candidates, place, |candidate| candidate.version, found)?;
//! for candidate in candidates.iter_mut().filter(|candidate| candidate.hash.is_none()) {
//!     let hash = hash(candidate);
//!     candidate.hash = Some(hash);
//!     // Not every hash is kept: see `NotKept`.
//!     let _ = cache.insert(&candidate.version, &hash);
//! }
//! cache.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `devices.rs` | which file system a device number is |
//! | `error.rs` | what can go wrong, and why a hash is not kept |
//! | `store.rs` | the file: opening, the lock, the header, its replacement |
//! | `record.rs` | the shapes of records and blocks |
//! | `sorted.rs` | the sorted section: search, reading from beginning to end |
//! | `appended.rs` | the appended section: its index, writing more of it |
//! | `search.rs` | a search in both sections |
//! | `merge.rs` | merging the appended records into the sorted section |
//!
//! # Trust
//!
//! A hash is found only if the file has the same inode number on the same file system, and the same
//! size, birth time, `mtime` and `ctime`, in nanoseconds. Every change of contents sets `ctime`,
//! and no program can choose its value. In three cases a file can change and keep its times:
//!
//! - The clock of these times goes in steps of some milliseconds. Two changes in one step have the
//!   same `ctime`.
//! - After a crash, a file can have its new times without the contents, or the new contents without
//!   the times, if the change was not yet on the disk.
//! - A program changes the file through a mapping (mmap(2)). The first change of a page sets the
//!   times, further ones do not until the page is written back.
//!
//! So a file is kept only if its last change is older than the write-back window before the cache
//! was opened ([`ringwalk::write_back`]). It must be on btrfs, ext4, f2fs or XFS. The file system
//! must not be mounted with `lazytime`, which keeps times in memory for up to a day.
//!
//! One risk stays: a program overwrites a file in place, with a call such as fdatasync(2) that
//! writes the contents before the times, and the machine crashes in the seconds between. Copies of
//! a file system with the same UUID are no risk, since their files differ in `ctime` once one of
//! them has changed.
//!
//! # Format
//!
//! All numbers are little-endian. Checksums are CRC-32C. Times are nanoseconds since the epoch.
//!
//! ```text
//!  0     header                      4096 bytes
//!  4096  sorted section              blocks of 4096 bytes
//!        appended section            records of 100 bytes, up to the end of the file
//!
//!  header                   block                     record, 72 bytes
//!   0  "ringwalk hashes\n"   0  checksum of the rest    0  inode number
//!  16  version: 1            4  number of records       8  birth time
//!  20  number of blocks      8  file system            16  size
//!  28  checksum of 0..28    32  records, 56 at most    24  mtime
//!  32  zero                     zero                   32  ctime
//!                                                      40  BLAKE3 of the contents
//!  file system, 24 bytes    appended record
//!   0  UUID                  0  file system
//!  16  subvolume of btrfs   24  record
//!      or 0                 96  checksum of 0..96
//! ```
//!
//! - *Sorted section.* Blocks are sorted by file system (as bytes) and inode number. A block has
//!   records of one file system. Each file has one record. The section is never changed in place.
//! - *Appended section.* A run adds its hashes here as it goes. The last record of a file is valid,
//!   and comes before a sorted one. An interrupted run leaves its records here.
//! - *Damage.* A block or an appended record with a wrong checksum is left out, as is an incomplete
//!   record at the end. Each block and record names its file system, so no other part depends on
//!   it.
//! - *Merging.* [`HashCache::finish`] merges the two sections into a new file, which takes the
//!   place of the old one when it is on the disk. It leaves that to a later run while there are few
//!   appended records: at most one for 8 sorted ones.
//! - *Memory.* 64 KiB of the sorted section, and 16 bytes for each appended record.

mod appended;
mod devices;
mod error;
mod merge;
mod record;
mod search;
mod sorted;
mod store;

pub use error::{CacheError, CacheErrorKind, NotKept};

use crate::FileVersion;
use appended::{Appender, Index};
use devices::Devices;
use record::{Record, StoredVersion};
use ringwalk::time_stamps::SLACK_SECONDS;
use ringwalk::write_back;
use ringwalk_sys::sync::lock;
use search::Search;
use sorted::Sorted;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use store::Store;

/// Sorted records for one appended one, up to which a file is not written anew. With 8, a run over
/// few files does not write a large cache.
const SHARE: u64 = 8;

/// The most appended records that are left to a later run: their index has 16 MiB.
const MOST_APPENDED: u64 = 1 << 20;

/// How long a calculated time of settled changes holds.
const LIMIT_HOLDS: Duration = Duration::from_secs(1);

/// A cache of BLAKE3 hashes in a file, which one process uses at a time.
///
/// If it is dropped without [`finish`](Self::finish), the hashes are written to the file too, but
/// not sorted. The next run finds them.
#[derive(Debug)]
pub struct HashCache {
    store: Store,
    sorted: Sorted,
    /// The records that were there when the cache was opened.
    index: Index,
    devices: Devices,
    state: Mutex<State>,
}

/// What changes while hashes are inserted.
#[derive(Debug)]
struct State {
    appender: Appender,
    /// The second from which changes may not be on the disk.
    unsettled_from: i64,
    /// When the second was calculated.
    calculated: Instant,
    /// Calculates the second from the clock.
    calculate: fn() -> i64,
}

impl HashCache {
    /// Opens a cache. A file that is missing is created, with access for its owner only. An empty
    /// file becomes a cache. The file is locked (flock(2)).
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, created or read, another process has it open, it is no cache,
    /// or its header is damaged. The file has not been changed then.
    pub fn open(path: &Path) -> Result<Self, CacheError> {
        Self::open_with(path, settled_until)
    }

    fn open_with(path: &Path, calculate: fn() -> i64) -> Result<Self, CacheError> {
        let store = Store::open(path)?;
        let index = Index::read(&store.file, store.appended)
            .map_err(|error| CacheError::new(path, CacheErrorKind::Read(error)))?;
        let state = State {
            appender: Appender::new(index.end(store.appended)),
            unsettled_from: calculate(),
            calculated: Instant::now(),
            calculate,
        };
        Ok(Self {
            sorted: Sorted {
                blocks: store.blocks,
                damaged: AtomicBool::new(store.is_short),
            },
            store,
            index,
            devices: Devices::default(),
            state: Mutex::new(state),
        })
    }

    /// Learns which file system has this device number now. `file` is an open regular file or
    /// directory on it. Only the first call for a device asks the system.
    ///
    /// # Errors
    ///
    /// If hashes of its files are not kept: [`NotKept::OtherType`], [`NotKept::NoUuid`],
    /// [`NotKept::LazyTime`], [`NotKept::NoMounts`]; or [`NotKept::UnknownDevice`] if `file` is on
    /// another device.
    pub fn file_system(&self, file: impl AsFd, dev: u64) -> Result<(), NotKept> {
        self.devices.learn(file, dev)
    }

    /// Looks up the hashes of files. `place` returns the device number and inode number of one, and
    /// `version` its version, with the same two numbers; `found` is called for each file whose hash
    /// is known. The files are sorted by file system and inode number, so that the cache is read
    /// once, from its beginning to its end.
    ///
    /// Hashes that were inserted since the cache was opened are not found.
    ///
    /// # Errors
    ///
    /// If the file cannot be read. Some files have been found then.
    pub fn look_up<T>(
        &self,
        files: &mut [T],
        place: impl Fn(&T) -> (u64, u64),
        version: impl Fn(&T) -> FileVersion,
        mut found: impl FnMut(&mut T, [u8; 32]),
    ) -> Result<(), CacheError> {
        let ranks = self.devices.ranks();
        files.sort_unstable_by_key(|file| {
            let (dev, ino) = place(file);
            (ranks.rank(dev), ino)
        });
        let mut search = Search::new(self);
        for file in files {
            let version = version(file);
            let Some(file_system) = ranks.file_system(version.dev) else {
                // The file systems of all later files are unknown, too.
                break;
            };
            let Ok(version) = StoredVersion::of(&version) else {
                continue;
            };
            let record = search.find(file_system, version.ino);
            let record = record.map_err(|error| self.error(CacheErrorKind::Read(error)))?;
            if let Some(record) = record
                && record.version == version
            {
                found(file, record.hash);
            }
        }
        Ok(())
    }

    /// Adds the hash of a file that had this version before and after it was read. The record is
    /// written out when 64 KiB are together, when the files of the records not yet written have 16
    /// MiB, or with the first record after a second.
    ///
    /// An error of the file is returned by [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// If the hash is not kept.
    pub fn insert(&self, version: &FileVersion, hash: &[u8; 32]) -> Result<(), NotKept> {
        let file_system = self.devices.get(version.dev)?;
        let stored = StoredVersion::of(version)?;
        let record = Record {
            version: stored,
            hash: *hash,
        };
        let mut state = lock(&self.state);
        if stored.last_change() >= state.unsettled_from() {
            return Err(NotKept::Young);
        }
        let file = &self.store.file;
        state
            .appender
            .push(file, file_system, &record, version.size);
        Ok(())
    }

    /// Returns true if a part of the file was found damaged until now. The files whose hashes were
    /// in it are not found. The next run that writes the cache anew leaves the part out.
    pub fn is_damaged(&self) -> bool {
        self.index.is_damaged || self.sorted.damaged.load(Ordering::Relaxed)
    }

    /// Writes the new hashes to the disk, and sorts them into the others, if they are many.
    ///
    /// # Errors
    ///
    /// If hashes could not be written, now or before. The cache still has the others.
    pub fn finish(mut self) -> Result<(), CacheError> {
        let result = self.write_out();
        result.map_err(|error| self.error(CacheErrorKind::Write(error)))
    }

    fn write_out(&mut self) -> io::Result<()> {
        let file = &self.store.file;
        let added = {
            let mut state = lock(&self.state);
            state.appender.flush(file);
            if let Some(error) = state.appender.take_error() {
                return Err(error);
            }
            state.appender.records
        };
        let appended = added + u64::from(self.index.records);
        let sorted = self.sorted.blocks * record::PER_BLOCK as u64;
        let is_worth_it = appended.saturating_mul(SHARE) > sorted || appended > MOST_APPENDED;
        if self.is_damaged() || appended > 0 && is_worth_it {
            let start = self.store.appended;
            if added > 0 {
                // The old one first, for its memory.
                self.index = Index::default();
                self.index = Index::read(file, start)?;
            }
            let (sorted, index) = (&self.sorted, &self.index);
            self.store
                .replace(|new| merge::merge(file, sorted, start, index, new))
        } else if added > 0 {
            file.sync_data()
        } else {
            Ok(())
        }
    }

    fn error(&self, kind: CacheErrorKind) -> CacheError {
        CacheError::new(&self.store.path, kind)
    }

    /// Sets the name of the file system of a device, without any check. This is for tests.
    #[doc(hidden)]
    pub fn assume_file_system(&self, dev: u64, uuid: [u8; 16], subvolume: Option<u64>) {
        let identity = ringwalk_sys::FileSystemIdentity {
            uuid: Some(uuid.to_vec()),
            subvolume,
        };
        let found = record::FileSystem::new(&identity).ok_or(NotKept::NoUuid);
        self.devices.set(dev, found);
    }
}

impl Drop for HashCache {
    fn drop(&mut self) {
        // After `finish`, nothing is left to be written.
        lock(&self.state).appender.flush(&self.store.file);
    }
}

impl State {
    /// Returns the second from which changes may not be on the disk. Changes since the cache was
    /// opened are never reported as settled: a file may have been read for hours since. The
    /// returned second goes back if the clock was set back, or if more data waits to be written.
    fn unsettled_from(&mut self) -> i64 {
        if self.calculated.elapsed() >= LIMIT_HOLDS {
            self.unsettled_from = self.unsettled_from.min((self.calculate)());
            self.calculated = Instant::now();
        }
        self.unsettled_from
    }
}

/// Returns the second from which changes may not be on the disk, by the clock. Without a known
/// write-back window, no change counts as written.
fn settled_until() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    let second = write_back::seconds().map(|window| now.saturating_sub(window + SLACK_SECONDS));
    second.map_or(i64::MIN, |second| i64::try_from(second).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
