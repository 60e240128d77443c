//! The row of a path.

#![allow(clippy::cast_possible_truncation, reason = "rows within a page")]

use super::cache::PageCache;
use super::chunk::Chunk;
use super::error::Reason;
use super::layout::bounds;
use super::{ReadError, Snapshot};
use crate::order;
use crate::places::below;
use crate::schema::{Column, PAGE_ROWS};
use ringwalk_text::push_escaped;
use std::cmp::{Ordering, Reverse};

const COLUMNS: [Column; 3] = [Column::Root, Column::Path, Column::PathRaw];

impl Snapshot {
    /// Returns the row of a path relative to the root with this index; `None` if there is none.
    /// Reads a few pages of one row group.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn locate(&self, root: usize, path: &[u8]) -> Result<Option<u64>, ReadError> {
        self.locate_in(root, path, &mut PageCache::default())
    }

    /// As [`locate`](Self::locate), with pages that are kept.
    pub(crate) fn locate_in(
        &self,
        root: usize,
        path: &[u8],
        cache: &mut PageCache,
    ) -> Result<Option<u64>, ReadError> {
        let wanted = (root, path);
        let Some(group) = self.group_of(wanted) else {
            return Ok(None);
        };
        let all = self.pages_of(group);
        if let Some(row) = self.look_up(group, &all, wanted, cache)? {
            return Ok(Some(row));
        }
        // That a path is missing does not depend on statistics.
        let (row, is_found) = self.search(&all, wanted, cache)?;
        Ok(is_found.then_some(row))
    }

    /// Returns the first row that does not come before a path of a root.
    ///
    /// # Errors
    ///
    /// As [`locate`](Self::locate).
    pub fn lower_bound(
        &self,
        root: usize,
        path: &[u8],
        cache: &mut PageCache,
    ) -> Result<u64, ReadError> {
        let wanted = (root, path);
        match self.group_of(wanted) {
            Some(group) => Ok(self.search(&self.pages_of(group), wanted, cache)?.0),
            None => Ok(0),
        }
    }

    /// Returns the last row group whose first row does not come behind a path.
    fn group_of(&self, wanted: (usize, &[u8])) -> Option<usize> {
        let behind = self.first_rows.partition_point(|first| {
            let first = (first.root as usize, &first.path.0[..]);
            compare(first, wanted) != Ordering::Greater
        });
        behind.checked_sub(1)
    }

    /// Returns the first rows of the pages of a row group.
    fn pages_of(&self, group: usize) -> Vec<u64> {
        self.groups[group].clone().step_by(PAGE_ROWS).collect()
    }

    /// Looks up a path in the pages among `pages` that may hold it by their statistics. Returns
    /// `None` if it is in none of them.
    fn look_up(
        &self,
        group: usize,
        pages: &[u64],
        wanted: (usize, &[u8]),
        cache: &mut PageCache,
    ) -> Result<Option<u64>, ReadError> {
        let mut text = String::new();
        push_escaped(wanted.1, &mut text);
        let likely = self.likely_pages(group, text.as_bytes(), pages);
        for page in likely.map_err(|reason| self.error(reason))? {
            let rows = cache.rows_with_text(self, page, Column::Path, text.as_bytes());
            for row in rows.into_iter().flatten() {
                let chunk = cache.load(self, page, &[Column::Root, Column::PathRaw])?;
                let (chunk, at) = (chunk.chunk(), (row - page) as usize);
                // Bytes that are escaped look like a name with these characters.
                let path = chunk.bytes(Column::PathRaw, at);
                if (root(chunk, at), path.unwrap_or(text.as_bytes())) == wanted {
                    return Ok(Some(row));
                }
            }
        }
        Ok(None)
    }

    /// Returns the pages among `pages`, by their first rows, that may hold a text by the statistics
    /// of the column `path`. The last row of a subtree comes long after its first, so there may be
    /// several.
    fn likely_pages(&self, group: usize, text: &[u8], pages: &[u64]) -> Result<Vec<u64>, Reason> {
        let place = self.places[group][Column::Path as usize].as_ref();
        let Some(statistics) = place.and_then(|place| place.statistics.clone()) else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        self.file.read(statistics, &mut bytes)?;
        let bounds = bounds(&bytes).unwrap_or_default();
        let holds = |(least, most): (&[u8], &[u8])| least <= text && text <= most;
        let likely = pages.iter().zip(bounds);
        let likely = likely.filter_map(|(page, bounds)| holds(bounds).then_some(*page));
        Ok(likely.collect())
    }

    /// Searches pages, given by their first rows in rising order. Returns the first row of the page
    /// that may hold a path which does not come before it, and whether it is the row of the path.
    fn search(
        &self,
        pages: &[u64],
        wanted: (usize, &[u8]),
        cache: &mut PageCache,
    ) -> Result<(u64, bool), ReadError> {
        // The page is one of `low..high`.
        let (mut low, mut high) = (0, pages.len());
        while high > low + 1 {
            let middle = low.midpoint(high);
            let chunk = cache.load(self, pages[middle], &COLUMNS)?.chunk();
            if compare(place(chunk, 0), wanted) == Ordering::Greater {
                high = middle;
            } else {
                low = middle;
            }
        }
        let Some(first) = pages.get(low) else {
            return Ok((0, false));
        };
        let chunk = cache.load(self, *first, &COLUMNS)?.chunk();
        let (mut low, mut high) = (0, chunk.len());
        while low < high {
            let middle = low.midpoint(high);
            match compare(place(chunk, middle), wanted) {
                Ordering::Equal => return Ok((first + middle as u64, true)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok((first + low as u64, false))
    }

    /// Returns the row of a path without symbolic links that begins with the path of a root, in the
    /// tree whose root is nearest; `None` if no tree has it.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<Option<u64>, ReadError> {
        self.find_in(path, &mut PageCache::default())
    }

    /// As [`find`](Self::find), with pages that are kept.
    pub(crate) fn find_in(
        &self,
        path: &[u8],
        cache: &mut PageCache,
    ) -> Result<Option<u64>, ReadError> {
        let mut roots: Vec<_> = self.info().roots.iter().enumerate().collect();
        roots.sort_by_key(|(_, root)| Reverse(root.path.0.len()));
        for (at, root) in roots {
            if let Some(rest) = below(&root.path.0, path)
                && let Some(row) = self.locate_in(at, rest, cache)?
            {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// Returns the root and the path of a row. In a damaged file the root may be any number.
fn place(chunk: &Chunk, at: usize) -> (usize, &[u8]) {
    (root(chunk, at), chunk.path(at))
}

fn root(chunk: &Chunk, at: usize) -> usize {
    let root = chunk.integer(Column::Root, at);
    let root = root.and_then(|root| usize::try_from(root).ok());
    root.unwrap_or(usize::MAX)
}

/// Compares two rows by root and path.
fn compare(a: (usize, &[u8]), b: (usize, &[u8])) -> Ordering {
    a.0.cmp(&b.0).then_with(|| order::compare(a.1, b.1))
}
