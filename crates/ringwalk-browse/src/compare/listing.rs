//! The listing of a directory in the older snapshot.

use super::Departed;
use ringwalk::FileType;
use ringwalk_snapshot::{Chunk, Column, ReadError, Snapshot};
use std::ops::Range;

/// Entries and bytes of names of the largest listing that is kept in memory. Entries of larger ones
/// are looked up one by one in the file, which takes a millisecond each.
const MOST_ENTRIES: u64 = 1 << 19;
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The columns of an [`Entry`].
pub(super) const OF_ENTRY: [Column; 6] = [
    Column::Type,
    Column::Alloc,
    Column::TreeAlloc,
    Column::Charged,
    Column::Errno,
    Column::Skipped,
];

/// An entry of the older snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The allocated bytes that counted for it. `None` if they are not known.
    pub(super) alloc: Option<u64>,
    pub(super) is_directory: bool,
}

impl Entry {
    /// Returns what a row says.
    pub(super) fn of(chunk: &Chunk, at: usize) -> Self {
        let is_directory = chunk.file_type(at) == FileType::Directory;
        let failed = chunk.integer(Column::Errno, at).is_some();
        // If only a part of a file could not be read, its size may be known.
        let is_unknown = chunk.bytes(Column::Skipped, at).is_some() || is_directory && failed;
        let total = chunk.integer(Column::TreeAlloc, at);
        let alloc = total.or_else(|| chunk.integer(Column::Alloc, at));
        let counts = chunk.integer(Column::Charged, at) == Some(1);
        let alloc = alloc.map(|alloc| if counts { alloc } else { 0 });
        let alloc = alloc.and_then(|alloc| u64::try_from(alloc).ok());
        Self {
            alloc: alloc.filter(|_| !is_unknown),
            is_directory,
        }
    }
}

/// The listing of a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) rows: Range<u64>,
    /// True if the directory was read to its end: entries that are not in this listing did not
    /// exist.
    pub(super) is_complete: bool,
    /// `None` if there are too many entries.
    table: Option<Table>,
}

/// The entries, sorted by name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    names: Vec<u8>,
    /// The end of each name in `names`.
    ends: Vec<u32>,
    entries: Vec<Entry>,
}

impl Listing {
    /// Reads the listing in these rows.
    pub(super) fn read(
        snapshot: &Snapshot,
        rows: Range<u64>,
        is_complete: bool,
    ) -> Result<Self, ReadError> {
        let mut listing = Self {
            rows: rows.clone(),
            is_complete,
            table: None,
        };
        if rows.end - rows.start > MOST_ENTRIES {
            return Ok(listing);
        }
        let mut table = Table::default();
        let mut scan = snapshot.scan(rows, &columns())?;
        while let Some(chunk) = scan.next_chunk()? {
            for at in 0..chunk.len() {
                table.names.extend_from_slice(chunk.name(at));
                let end = u32::try_from(table.names.len()).unwrap_or(u32::MAX);
                table.ends.push(end);
                table.entries.push(Entry::of(chunk, at));
            }
            if table.names.len() > MOST_BYTES {
                return Ok(listing);
            }
        }
        listing.table = Some(table);
        Ok(listing)
    }

    /// Returns false if entries must be looked up in the file.
    pub(super) fn is_kept(&self) -> bool {
        self.table.is_some()
    }

    /// Returns the entry with a name, if the listing is kept.
    pub(super) fn find(&self, name: &[u8]) -> Option<Entry> {
        let table = self.table.as_ref()?;
        let (mut low, mut high) = (0, table.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            match table.name(middle).cmp(name) {
                std::cmp::Ordering::Equal => return Some(table.entries[middle]),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the memory that the listing takes.
    pub(super) fn bytes(&self) -> usize {
        let of_table = |table: &Table| {
            table.names.capacity()
                + table.ends.capacity() * size_of::<u32>()
                + table.entries.capacity() * size_of::<Entry>()
        };
        size_of::<Self>() + self.table.as_ref().map_or(0, of_table)
    }

    /// Returns the entries in these rows for whose names `is_there` is false.
    pub(super) fn departed(
        snapshot: &Snapshot,
        rows: Range<u64>,
        is_there: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Vec<Departed>, ReadError> {
        let mut departed = Vec::new();
        let mut scan = snapshot.scan(rows, &columns())?;
        while let Some(chunk) = scan.next_chunk()? {
            for at in 0..chunk.len() {
                if !is_there(chunk.name(at)) {
                    let entry = Entry::of(chunk, at);
                    departed.push(Departed {
                        name: chunk.name(at).to_vec(),
                        alloc: entry.alloc.unwrap_or(0),
                        is_directory: entry.is_directory,
                    });
                }
            }
        }
        Ok(departed)
    }
}

impl Table {
    fn name(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[begin as usize..self.ends[at] as usize]
    }
}

fn columns() -> Vec<Column> {
    let mut columns = vec![Column::Path, Column::PathRaw];
    columns.extend(OF_ENTRY);
    columns
}
