//! Rows in any order, and where the rows of a directory are.

#![allow(clippy::cast_possible_truncation, reason = "rows within a page")]

use super::cache::PageCache;
use super::chunk::Chunk;
use super::{ReadError, Snapshot};
use crate::schema::Column;
use std::ops::Range;

/// Columns that [`Cursor::subtree`] and [`Cursor::listing`] read of a directory.
const OF_DIRECTORY: [Column; 3] = [Column::SelfDir, Column::TreeFirst, Column::TreeLast];

/// Reads rows of one snapshot in any order. Keeps the last few pages: up to 16 MiB if their paths
/// are long.
#[derive(Debug, Default)]
pub struct Cursor {
    pages: PageCache,
}

impl Cursor {
    /// Reads these columns of a row. Returns the cells of the page that holds the row, and the
    /// index of the row among them.
    ///
    /// # Errors
    ///
    /// If there is no such row, or the file is damaged or cannot be read.
    pub fn row(
        &mut self,
        snapshot: &Snapshot,
        row: u64,
        columns: &[Column],
    ) -> Result<(&Chunk, usize), ReadError> {
        let page = self.pages.load(snapshot, row, columns)?;
        let at = (row - page.rows().start) as usize;
        Ok((page.chunk(), at))
    }

    /// As [`Snapshot::find`], with the pages that are kept.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn find(&mut self, snapshot: &Snapshot, path: &[u8]) -> Result<Option<u64>, ReadError> {
        snapshot.find_in(path, &mut self.pages)
    }

    /// As [`Snapshot::locate`], with the pages that are kept.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn locate(
        &mut self,
        snapshot: &Snapshot,
        root: usize,
        path: &[u8],
    ) -> Result<Option<u64>, ReadError> {
        snapshot.locate_in(root, path, &mut self.pages)
    }

    /// Returns the rows below a directory. Empty if there are none, or if the row is no directory.
    ///
    /// # Errors
    ///
    /// If there is no such row, or the file is damaged or cannot be read.
    pub fn subtree(&mut self, snapshot: &Snapshot, row: u64) -> Result<Range<u64>, ReadError> {
        let (chunk, at) = self.row(snapshot, row, &OF_DIRECTORY)?;
        let first = chunk.integer(Column::TreeFirst, at);
        let last = chunk.integer(Column::TreeLast, at);
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(row..row);
        };
        // Rows below a directory come before its own row, so there are no circles.
        match (u64::try_from(first), u64::try_from(last)) {
            (Ok(first), Ok(last)) if first <= last && last < row => Ok(first..last + 1),
            _ => Err(snapshot.damaged("a subtree has wrong rows")),
        }
    }

    /// Returns the rows of the entries directly in a directory, which are sorted by name. Empty if
    /// there are none, or if the row is no directory.
    ///
    /// # Errors
    ///
    /// If there is no such row, or the file is damaged or cannot be read.
    pub fn listing(&mut self, snapshot: &Snapshot, row: u64) -> Result<Range<u64>, ReadError> {
        let below = self.subtree(snapshot, row)?;
        let Some(last) = below.end.checked_sub(1).filter(|_| !below.is_empty()) else {
            return Ok(row..row);
        };
        let (chunk, at) = self.row(snapshot, row, &OF_DIRECTORY)?;
        let own = chunk.integer(Column::SelfDir, at);
        if own.is_none() || self.directory_of(snapshot, last)? != own {
            return Err(snapshot.damaged("the last row below a directory is not in its listing"));
        }
        // The listing is the end of the subtree: rows of other directories come before it. `first`
        // is in the listing, and the first row of the listing lies in `low..=first`.
        let (mut low, mut first) = (below.start, last);
        // Most listings begin in the page of their last row.
        let page = snapshot.page_of(last).start.max(low);
        let mut middle = page;
        while low < first {
            if self.directory_of(snapshot, middle)? == own {
                first = middle;
            } else {
                low = middle + 1;
            }
            middle = low.midpoint(first);
        }
        Ok(first..below.end)
    }

    /// Returns the number of the directory that lists a row.
    fn directory_of(&mut self, snapshot: &Snapshot, row: u64) -> Result<Option<i64>, ReadError> {
        let (chunk, at) = self.row(snapshot, row, &[Column::Dir])?;
        Ok(chunk.integer(Column::Dir, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Info, TreeBuilder, WriteOptions};
    use ringwalk::FileType;
    use std::path::Path;

    /// Writes directories of these numbers of files, one in the other.
    fn nested(path: &Path, files: &[usize]) {
        let mut tree = TreeBuilder::new(WriteOptions::default());
        tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
            .unwrap();
        for files in files {
            for file in 0..*files {
                let name = format!("f{file:06}");
                tree.file(&Entry::new(name.as_bytes(), FileType::Regular))
                    .unwrap();
            }
            tree.begin_directory(&Entry::new(b"below", FileType::Directory))
                .unwrap();
        }
        for _ in 0..=files.len() {
            tree.end_directory().unwrap();
        }
        tree.finish(Info::default(), path).unwrap();
    }

    #[test]
    fn listings_are_the_rows_whose_directory_is_the_one_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        nested(&path, &[3, 20_000, 1, 0, 8191, 8192]);
        let snapshot = Snapshot::open(&path).unwrap();
        let mut dirs = Vec::new();
        let mut directories = Vec::new();
        let columns = [Column::Dir, Column::SelfDir];
        let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            for at in 0..chunk.len() {
                dirs.push(chunk.integer(Column::Dir, at));
                if let Some(own) = chunk.integer(Column::SelfDir, at) {
                    directories.push((chunk.first_row() + at as u64, own));
                }
            }
        }
        assert_eq!(directories.len(), 7);
        let mut cursor = Cursor::default();
        for (row, own) in directories {
            let expected: Vec<u64> = (0..)
                .zip(&dirs)
                .filter_map(|(row, dir)| (*dir == Some(own)).then_some(row))
                .collect();
            let listing = cursor.listing(&snapshot, row).unwrap();
            assert_eq!(listing.collect::<Vec<_>>(), expected);
            let below = cursor.subtree(&snapshot, row).unwrap();
            assert_eq!(below.is_empty(), expected.is_empty());
            assert!(below.is_empty() || below == (0..row));
        }
        // Files have no listing, and rows behind the end are no rows.
        assert!(cursor.listing(&snapshot, 0).unwrap().is_empty());
        assert!(cursor.listing(&snapshot, snapshot.rows()).is_err());
    }
}
