//! Snapshots from which a walk takes what has not changed.

#![allow(clippy::cast_possible_truncation, reason = "rows within a page")]

use super::SnapshotTree;
use super::listing::ListingNumber;
use super::metadata::{SavedError, error_of};
use super::reader::SnapshotReader;
use crate::capture::file_systems::uuid_text;
use crate::info::FileSystemInfo;
use crate::read::{Chunk, ReadError, Snapshot};
use crate::schema::Column;
use ringwalk::{
    Errno, Fields, FileType, OlderFileSystem, OlderReader, OlderTree, SavedBatch, SavedReader,
    SavedTree,
};
use std::sync::Arc;

/// A snapshot from which a walk takes what has not changed: `--since`.
///
/// Holds 16 bytes for each directory.
#[derive(Debug)]
pub struct OlderSnapshot {
    tree: Arc<SnapshotTree>,
    /// For each file system its directories with complete listings: inode number and listing
    /// number, in ascending order.
    directories: Vec<Vec<(u64, u64)>>,
}

impl OlderSnapshot {
    /// Looks for the directories whose entries the snapshot has with all that a walk needs.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn new(snapshot: Snapshot) -> Result<Self, ReadError> {
        let directories = directories(&snapshot)?;
        let tree = Arc::new(SnapshotTree::new(snapshot));
        // The live tree decides how often a directory is listed.
        tree.allow_all();
        Ok(Self { tree, directories })
    }

    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        self.tree.snapshot()
    }

    fn index_of(&self, uuid_of: &str, subvolume: u64) -> Result<usize, String> {
        let all = &self.snapshot().info().file_systems;
        let is_it = |file_system: &FileSystemInfo| {
            file_system.uuid.as_deref() == Some(uuid_of)
                && file_system.subvolume.unwrap_or(0) == subvolume
        };
        let mut found = (0..).zip(all).filter(|(_, file_system)| is_it(file_system));
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (None, _) => Err("it holds nothing of this file system".to_owned()),
            // A file system that was mounted again meanwhile, on another device.
            (Some(_), Some(_)) => Err("it holds several file systems with this UUID".to_owned()),
        }
    }
}

impl OlderTree for OlderSnapshot {
    fn describe(&self) -> String {
        self.tree.describe()
    }

    fn file_system(&self, uuid_of: &[u8], subvolume: u64) -> Result<OlderFileSystem, String> {
        let uuid_of = uuid_text(uuid_of).ok_or("it has no UUID")?;
        let run = &self.snapshot().info().run;
        let transactions = run.transactions.iter();
        Ok(OlderFileSystem {
            index: self.index_of(&uuid_of, subvolume)?,
            transaction: transactions
                .filter(|known| known.uuid == uuid_of)
                .map(|known| known.transaction)
                .min(),
        })
    }

    fn fields(&self) -> Fields {
        self.tree.fields()
    }

    fn reader(self: Arc<Self>, file_system: usize, fields: Fields) -> Box<dyn OlderReader> {
        Box::new(OlderSnapshotReader {
            listings: SnapshotReader::new(Arc::clone(&self.tree), fields).with_numbers(),
            file_system,
            older: self,
        })
    }
}

struct OlderSnapshotReader {
    older: Arc<OlderSnapshot>,
    file_system: usize,
    listings: SnapshotReader,
}

impl OlderReader for OlderSnapshotReader {
    fn listing(&mut self, ino: u64) -> Result<Option<u64>, Errno> {
        let all = self.older.directories.get(self.file_system);
        let all = all.map_or(&[][..], Vec::as_slice);
        let found = all.binary_search_by_key(&ino, |(ino, _)| *ino).ok();
        Ok(found.map(|at| all[at].1))
    }

    fn list(
        &mut self,
        listing: u64,
        from: Option<u64>,
        batch: &mut SavedBatch<'_>,
    ) -> Result<Option<u64>, Errno> {
        let listed = self.listings.list(listing, from, batch);
        match listed.failure {
            Some((_, errno)) => Err(errno),
            None => Ok(listed.next),
        }
    }
}

const COLUMNS: [Column; 10] = [
    Column::Dir,
    Column::SelfDir,
    Column::Ino,
    Column::Fs,
    Column::Type,
    Column::TreeLast,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
    Column::Clamped,
];

/// The entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entries {
    None,
    /// All of them can be taken, and are on the file system with this index.
    On(i64),
    /// One cannot be taken, or they are on several file systems.
    Unsure,
}

impl Entries {
    /// Returns this with one more entry, which is on a file system, or cannot be taken.
    fn and(self, file_system: Option<i64>) -> Self {
        match (self, file_system) {
            (Self::None, Some(file_system)) => Self::On(file_system),
            (Self::On(others), Some(file_system)) if others == file_system => self,
            _ => Self::Unsure,
        }
    }
}

/// Returns the directories of each file system whose entries can be taken.
fn directories(snapshot: &Snapshot) -> Result<Vec<Vec<(u64, u64)>>, ReadError> {
    let mut found = vec![Vec::new(); snapshot.info().file_systems.len()];
    // By the number of the directory. A listing comes before the row of its directory.
    let mut entries: Vec<Entries> = Vec::new();
    let mut scan = snapshot.scan(0..snapshot.rows(), &COLUMNS)?;
    while let Some(chunk) = scan.next_chunk()? {
        for at in 0..chunk.len() {
            let file_system = file_system_of(chunk, at);
            if let Some(listed_in) = chunk.integer(Column::Dir, at) {
                let listed_in = number(snapshot, listed_in)?;
                if listed_in >= entries.len() {
                    entries.resize(listed_in + 1, Entries::None);
                }
                entries[listed_in] = entries[listed_in].and(file_system);
            }
            let (Some(own), Some(file_system)) = (chunk.integer(Column::SelfDir, at), file_system)
            else {
                continue;
            };
            let own = entries.get(number(snapshot, own)?);
            let last = chunk.integer(Column::TreeLast, at);
            let is_whole = match own.copied().unwrap_or(Entries::None) {
                Entries::None => last.is_none(),
                Entries::On(listed_on) => listed_on == file_system,
                Entries::Unsure => false,
            };
            let ino = chunk.integer(Column::Ino, at);
            if let (true, Some(ino)) = (is_whole && was_read(chunk, at), ino) {
                let row = chunk.first_row() + at as u64;
                let last = last.map(i64::cast_unsigned);
                if last.is_some_and(|last| last >= row) {
                    return Err(snapshot.damaged("a directory lies behind its own row"));
                }
                let listing = ListingNumber {
                    last,
                    failure: None,
                };
                let index = usize::try_from(file_system).ok();
                let index = index.and_then(|index| found.get_mut(index));
                let on = index.ok_or_else(|| snapshot.damaged("a file system is not listed"))?;
                on.push((ino.cast_unsigned(), listing.pack()));
            }
        }
    }
    for on in &mut found {
        on.sort_unstable();
        // The same directory can be reached twice, by mounts.
        on.dedup_by_key(|(ino, _)| *ino);
        on.shrink_to_fit();
    }
    Ok(found)
}

/// Returns the number of a directory. Each has a row, so that there are no more of them than rows.
fn number(snapshot: &Snapshot, number: i64) -> Result<usize, ReadError> {
    u64::try_from(number)
        .ok()
        .filter(|number| *number < snapshot.rows())
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| snapshot.damaged("the number of a directory is too large"))
}

/// Returns the file system of a row, if a walk can take the entry from it.
fn file_system_of(chunk: &Chunk, at: usize) -> Option<i64> {
    let is_known = chunk.integer(Column::Ino, at).is_some()
        && chunk.file_type(at) != FileType::Unknown
        && chunk.bytes(Column::Skipped, at).is_none()
        && chunk.integer(Column::Clamped, at).unwrap_or(0) == 0
        && !matches!(error_of(chunk, at), Some((SavedError::Stat, _)));
    chunk.integer(Column::Fs, at).filter(|_| is_known)
}

/// Returns true if a row stands for a directory that was read to its end.
fn was_read(chunk: &Chunk, at: usize) -> bool {
    chunk.file_type(at) == FileType::Directory && chunk.integer(Column::Errno, at).is_none()
}
