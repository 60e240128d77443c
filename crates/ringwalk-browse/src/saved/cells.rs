//! What the cells of one row say of a file.
//!
//! A damaged file may hold any number, so a negative size counts as 0.

use crate::tree::{Id, Item, Kind, ReadState};
use ringwalk::FileType;
use ringwalk_snapshot::{Chunk, Column};

/// The columns of an [`Item`].
pub(super) const OF_ITEM: [Column; 19] = [
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Size,
    Column::Alloc,
    Column::Mtime,
    Column::Uid,
    Column::Nlink,
    Column::Charged,
    Column::TreeLast,
    Column::TreeEntries,
    Column::TreeSize,
    Column::TreeAlloc,
    Column::TreeFreeable,
    Column::TreeMtime,
    Column::TreeErrors,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
];

/// The columns of [`Row::size`].
pub(super) const OF_SIZE: [Column; 2] = [Column::Size, Column::TreeSize];
/// The columns of [`Row::alloc`].
pub(super) const OF_ALLOC: [Column; 2] = [Column::Alloc, Column::TreeAlloc];
/// The columns of [`Row::freeable`].
pub(super) const OF_FREEABLE: [Column; 5] = [
    Column::Type,
    Column::Alloc,
    Column::Nlink,
    Column::TreeFreeable,
    Column::Skipped,
];
/// The columns of [`Row::mtime`].
pub(super) const OF_MTIME: [Column; 2] = [Column::Mtime, Column::TreeMtime];

const NANOSECONDS: i64 = 1_000_000_000;

/// One row of a chunk. The columns that a method reads must have been asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'c> {
    pub(super) chunk: &'c Chunk,
    pub(super) at: usize,
}

impl Row<'_> {
    fn integer(self, column: Column) -> Option<i64> {
        self.chunk.integer(column, self.at)
    }

    /// Returns the total of a directory, or the value of another file.
    fn total(self, of_tree: Column, own: Column) -> u64 {
        let value = self.integer(of_tree).or_else(|| self.integer(own));
        value.map_or(0, number)
    }

    pub(super) fn is_directory(self) -> bool {
        self.chunk.file_type(self.at) == FileType::Directory
    }

    pub(super) fn size(self) -> u64 {
        self.total(Column::TreeSize, Column::Size)
    }

    pub(super) fn alloc(self) -> u64 {
        self.total(Column::TreeAlloc, Column::Alloc)
    }

    /// Returns the bytes that deletion frees. One of several names frees nothing.
    pub(super) fn freeable(self) -> Option<u64> {
        if self.chunk.bytes(Column::Skipped, self.at).is_some() {
            return None;
        }
        if let Some(freeable) = self.integer(Column::TreeFreeable) {
            return Some(number(freeable));
        }
        if !self.is_directory() && self.integer(Column::Nlink)? > 1 {
            return Some(0);
        }
        self.integer(Column::Alloc).map(number)
    }

    pub(super) fn entries(self) -> u64 {
        self.integer(Column::TreeEntries).map_or(1, number)
    }

    /// Returns the last change in seconds since 1970.
    pub(super) fn mtime(self) -> Option<i64> {
        let newest = self.integer(Column::TreeMtime);
        let mtime = newest.or_else(|| self.integer(Column::Mtime))?;
        Some(mtime.div_euclid(NANOSECONDS))
    }

    pub(super) fn uid(self) -> Option<u32> {
        word(self.integer(Column::Uid)?)
    }

    pub(super) fn is_charged(self) -> bool {
        self.integer(Column::Charged) == Some(1)
    }

    fn kind(self) -> Kind {
        match self.chunk.file_type(self.at) {
            FileType::Directory => Kind::Directory,
            FileType::Regular => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Unknown => Kind::Unknown,
            _ => Kind::Special,
        }
    }

    fn state(self) -> ReadState {
        let skipped = self.chunk.bytes(Column::Skipped, self.at).is_some();
        let failed = self.integer(Column::Errno).is_some();
        match (skipped, failed) {
            (true, _) => ReadState::OtherFileSystem,
            (false, true) => ReadState::Failed,
            (false, false) => ReadState::Done,
        }
    }

    /// Returns the whole item. `name` is the name of a root, whose row has none.
    pub(super) fn item(self, id: Id, name: Option<&[u8]>) -> Item {
        let kind = self.kind();
        let failed = u64::from(self.integer(Column::Errno).is_some());
        let name = name.unwrap_or_else(|| self.chunk.name(self.at));
        let links = match kind {
            Kind::Directory => Some(1),
            _ => self.integer(Column::Nlink).and_then(word),
        };
        Item {
            id,
            name: name.to_vec(),
            kind,
            size: self.size(),
            alloc: self.alloc(),
            freeable: self.freeable(),
            entries: self.entries(),
            mtime: self.mtime(),
            uid: self.uid(),
            links: links.unwrap_or(1),
            charged: self.is_charged(),
            state: self.state(),
            errors: self.integer(Column::TreeErrors).map_or(failed, number),
        }
    }
}

/// Returns a number that cannot be negative.
pub(super) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Returns a number of 32 bits. A reader may treat its highest bit as a sign.
fn word(value: i64) -> Option<u32> {
    u32::try_from(value).ok()
}
