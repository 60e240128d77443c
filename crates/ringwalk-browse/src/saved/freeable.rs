//! The bytes that deleting several entries frees.

use super::cells::number;
use ringwalk::FileType;
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Files with several names that are counted. Each takes about 80 bytes.
const MOST_LINKS: usize = 1 << 19;

const COLUMNS: [Column; 7] = [
    Column::Type,
    Column::Alloc,
    Column::Nlink,
    Column::Fs,
    Column::Ino,
    Column::Skipped,
    Column::Errno,
];

/// A file with several names.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    /// The names seen.
    seen: i64,
    /// The names that the file has.
    all: i64,
    alloc: u64,
}

/// Entries. None of them lies below another one.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// The ends of the rows below each entry by their begins.
    below: BTreeMap<u64, u64>,
    /// The row of each entry.
    pub(super) rows: Vec<u64>,
}

impl Apart {
    /// Adds an entry with the rows below it, unless it is or lies below one that was added.
    /// Entries must come in falling order of their rows: a directory before everything in it.
    pub(super) fn add(&mut self, row: u64, below: Range<u64>) {
        let before = self.below.range(..=row).next_back();
        if before.is_some_and(|(_, end)| row < *end) || self.rows.last() == Some(&row) {
            return;
        }
        if !below.is_empty() {
            self.below.insert(below.start, below.end);
        }
        self.rows.push(row);
    }

    /// Returns the allocated bytes of all inodes whose names are all among these rows. `None` if
    /// too many of the inodes have several names.
    pub(super) fn freeable(&self, snapshot: &Snapshot) -> Result<Option<u64>, ReadError> {
        let below = self.below.iter().map(|(start, end)| *start..*end);
        let mut ranges: Vec<_> = below
            .chain(self.rows.iter().map(|row| *row..row + 1))
            .collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut links: HashMap<(Option<i64>, i64), Links> = HashMap::new();
        let mut freed = 0_u64;
        for rows in ranges {
            let mut scan = snapshot.scan(rows, &COLUMNS)?;
            while let Some(chunk) = scan.next_chunk()? {
                for at in 0..chunk.len() {
                    if chunk.bytes(Column::Skipped, at).is_some() {
                        continue;
                    }
                    let alloc = chunk.integer(Column::Alloc, at).map_or(0, number);
                    let all = chunk.integer(Column::Nlink, at);
                    let is_directory = chunk.file_type(at) == FileType::Directory;
                    let ino = chunk.integer(Column::Ino, at);
                    let Some(ino) = ino.filter(|_| !is_directory && all != Some(1)) else {
                        freed = freed.saturating_add(alloc);
                        continue;
                    };
                    let file = (chunk.integer(Column::Fs, at), ino);
                    let file = links.entry(file).or_default();
                    file.seen += 1;
                    // A number that is not known is never reached.
                    file.all = file.all.max(all.unwrap_or(i64::MAX));
                    file.alloc = alloc;
                }
                if links.len() > MOST_LINKS {
                    return Ok(None);
                }
            }
        }
        let whole = links.values().filter(|file| file.seen >= file.all);
        let of_links = whole.fold(0_u64, |sum, file| sum.saturating_add(file.alloc));
        Ok(Some(freed.saturating_add(of_links)))
    }
}
