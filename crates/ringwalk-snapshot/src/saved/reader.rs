//! The reader of one worker.

#![allow(clippy::cast_possible_truncation, reason = "rows within a page")]

use super::listing::ListingNumber;
use super::metadata::{SavedError, columns, error_of, of_cells, of_row};
use super::{LISTING, SnapshotTree};
use crate::read::{Chunk, PageCache};
use crate::schema::Column;
use ringwalk::sync::lock;
use ringwalk::{
    Errno, Fields, FileType, Listed, Metadata, Operation, SavedBatch, SavedEntry, SavedReader,
};
use std::sync::Arc;

pub(super) struct SnapshotReader {
    tree: Arc<SnapshotTree>,
    pages: PageCache,
    /// The columns of listings, and of the metadata that the walk wants.
    columns: Vec<Column>,
    wants_metadata: bool,
}

impl SnapshotReader {
    pub(super) fn new(tree: Arc<SnapshotTree>, fields: Fields) -> Self {
        let mut all = LISTING.to_vec();
        if !fields.is_empty() {
            all.extend(columns(fields));
        }
        let pages = std::mem::take(&mut *lock(&tree.pages));
        Self {
            tree,
            pages,
            columns: all,
            wants_metadata: !fields.is_empty(),
        }
    }

    /// Has the reader list inode numbers, also if it returns no metadata.
    pub(super) fn with_numbers(mut self) -> Self {
        self.columns.push(Column::Ino);
        self
    }

    /// Returns the first row of the listing that ends with the row `last`.
    fn first_of(&mut self, last: u64) -> Result<u64, Errno> {
        let mut first = last;
        let mut wanted = None;
        loop {
            let page = self.tree.load(&mut self.pages, first, &self.columns)?;
            let (chunk, begin) = (page.chunk(), page.rows().start);
            let dir = |row: u64| chunk.integer(Column::Dir, (row - begin) as usize);
            let own = dir(first);
            match wanted {
                None if own.is_none() => {
                    let what = "the last row of a directory is in no directory";
                    return Err(self.tree.fail_damaged(what));
                }
                None => wanted = own,
                Some(_) if own != wanted => return Ok(first + 1),
                Some(_) => {}
            }
            while first > begin && dir(first - 1) == wanted {
                first -= 1;
            }
            if first > begin || first == 0 {
                return Ok(first);
            }
            first -= 1;
        }
    }

    /// Adds the rows of a listing from `from` on, up to the end of the page. Returns the row behind
    /// them.
    fn push_rows(
        &mut self,
        from: u64,
        last: u64,
        batch: &mut SavedBatch<'_>,
    ) -> Result<u64, Errno> {
        let page = self.tree.load(&mut self.pages, from, &self.columns)?;
        let rows = page.rows();
        let end = rows.end.min(last + 1);
        self.tree.take_allowed(end - from)?;
        let chunk = page.chunk();
        let first = (from - rows.start) as usize;
        let parent = chunk.path(first).len() - chunk.name(first).len();
        for row in from..end {
            let at = (row - rows.start) as usize;
            let name = chunk.path(at).get(parent..).unwrap_or_default();
            if name.is_empty() || name.iter().any(|byte| matches!(byte, b'/' | 0)) {
                return Err(self
                    .tree
                    .fail_damaged("a path does not lie in its directory"));
            }
            let entry = entry_of(chunk, at, row, name);
            let Some(entry) = entry else {
                return Err(self
                    .tree
                    .fail_damaged("a directory lies behind its own row"));
            };
            batch.push(&entry);
            // A walk of a live tree would ask for the metadata of a file without a type.
            if self.wants_metadata || entry.file_type == FileType::Unknown {
                self.tree.add_metadata(chunk, at, batch);
            }
        }
        Ok(end)
    }
}

impl SnapshotTree {
    /// Adds the metadata of the entry that was added last.
    #[inline]
    fn add_metadata(&self, chunk: &Chunk, at: usize, batch: &mut SavedBatch<'_>) {
        if let Some((SavedError::Stat, errno)) = error_of(chunk, at) {
            return batch.failed(errno);
        }
        let metadata = of_cells(&self.snapshot, chunk, at);
        // Nothing is known of a file that was left out, which is no error.
        if chunk.bytes(Column::Skipped, at).is_none() || metadata.size().is_some() {
            batch.metadata(&metadata);
        }
    }
}

/// Returns the entry in the row `at` of a chunk, which is the row `row` of the file; `None` if it
/// is a directory whose entries do not come before it.
#[inline]
fn entry_of<'n>(chunk: &Chunk, at: usize, row: u64, name: &'n [u8]) -> Option<SavedEntry<'n>> {
    let file_type = chunk.file_type(at);
    let mut listing = ListingNumber::default();
    if file_type == FileType::Directory {
        if let Some(last) = chunk.integer(Column::TreeLast, at) {
            let last = last.cast_unsigned();
            if last >= row {
                return None;
            }
            listing.last = Some(last);
        }
        listing.failure = match error_of(chunk, at) {
            // A directory whose metadata cannot be read cannot be opened.
            Some((SavedError::Open | SavedError::Stat, errno)) => Some((Operation::Open, errno)),
            Some((SavedError::Read, errno)) => Some((Operation::Read, errno)),
            Some((SavedError::Other, _)) | None => None,
        };
    }
    Some(SavedEntry {
        name,
        file_type,
        ino: chunk.integer(Column::Ino, at).unwrap_or(0).cast_unsigned(),
        file: row,
        listing: listing.pack(),
    })
}

impl SavedReader for SnapshotReader {
    fn root(&mut self, path: &[u8], follow: bool, batch: &mut SavedBatch<'_>) -> Result<(), Errno> {
        let row = self.tree.row_of(path, follow, &mut self.pages)?;
        self.tree.load(&mut self.pages, row, &[Column::Fs])?;
        let page = self.tree.load(&mut self.pages, row, &self.columns)?;
        let (chunk, at) = (page.chunk(), (row - page.rows().start) as usize);
        let Some(entry) = entry_of(chunk, at, row, path) else {
            return Err(self
                .tree
                .fail_damaged("a directory lies behind its own row"));
        };
        self.tree.allow_root();
        batch.push(&entry);
        self.tree.add_metadata(chunk, at, batch);
        Ok(())
    }

    fn list(&mut self, listing: u64, from: Option<u64>, batch: &mut SavedBatch<'_>) -> Listed {
        let ListingNumber { last, failure } = ListingNumber::unpack(listing);
        let Some(last) = last else {
            return Listed {
                next: None,
                failure,
            };
        };
        let rows = match from {
            Some(from) => Ok(from),
            None => self.first_of(last),
        };
        match rows.and_then(|from| self.push_rows(from, last, batch)) {
            Ok(end) if end <= last => Listed {
                next: Some(end),
                failure: None,
            },
            Ok(_) => Listed {
                next: None,
                failure,
            },
            Err(errno) => Listed {
                next: None,
                failure: Some((Operation::Read, errno)),
            },
        }
    }

    fn metadata(&mut self, file: u64, fields: Fields) -> Result<Metadata, Errno> {
        let page = self.tree.load(&mut self.pages, file, &columns(fields))?;
        let at = (file - page.rows().start) as usize;
        match error_of(page.chunk(), at) {
            Some((SavedError::Stat, errno)) => Err(errno),
            _ => Ok(of_row(&self.tree.snapshot, page, file)),
        }
    }

    fn target(&mut self, file: u64) -> Result<Vec<u8>, Errno> {
        let columns = [Column::Target, Column::Errno];
        let page = self.tree.load(&mut self.pages, file, &columns)?;
        let (chunk, at) = (page.chunk(), (file - page.rows().start) as usize);
        if let Some(target) = chunk.bytes(Column::Target, at) {
            return Ok(target.to_vec());
        }
        Err(error_of(chunk, at).map_or(Errno::NODATA, |(_, errno)| errno))
    }

    fn is_empty(&mut self, file: u64) -> Result<bool, Errno> {
        let columns = [
            Column::TreeLast,
            Column::Errno,
            Column::Operation,
            Column::Skipped,
        ];
        let page = self.tree.load(&mut self.pages, file, &columns)?;
        let (chunk, at) = (page.chunk(), (file - page.rows().start) as usize);
        if chunk.integer(Column::TreeLast, at).is_some() {
            return Ok(false);
        }
        match error_of(chunk, at) {
            Some((SavedError::Open | SavedError::Read | SavedError::Stat, errno)) => Err(errno),
            Some((SavedError::Other, _)) | None => match chunk.bytes(Column::Skipped, at) {
                Some(_) => Err(Errno::NODATA),
                None => Ok(true),
            },
        }
    }
}
