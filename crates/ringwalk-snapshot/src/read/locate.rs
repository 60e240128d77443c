//! The row of a path.

use super::{ReadError, Snapshot};
use crate::order;
use crate::schema::{Column, PAGE_ROWS};
use std::cmp::{Ordering, Reverse};

const COLUMNS: [Column; 3] = [Column::Root, Column::Path, Column::PathRaw];

impl Snapshot {
    /// Returns the row of a path relative to the root with this index; `None` if there is none.
    /// Reads one page, and the beginnings of at most four more of the same row group.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn locate(&self, root: usize, path: &[u8]) -> Result<Option<u64>, ReadError> {
        let wanted = (root, path);
        let group = self.first_rows.partition_point(|first| {
            let first = (first.root as usize, &first.path.0[..]);
            compare(first, wanted) != Ordering::Greater
        });
        let Some(group) = group.checked_sub(1) else {
            return Ok(None);
        };
        let rows = self.groups[group].clone();
        let pages = (rows.end - rows.start).div_ceil(PAGE_ROWS as u64);
        // The page is one of `low..high`.
        let (mut low, mut high) = (0, pages);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let at = rows.start + middle * PAGE_ROWS as u64;
            if self.compare_row(at, wanted)? == Ordering::Greater {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.search_page(rows.start + low * PAGE_ROWS as u64, rows.end, wanted)
    }

    /// Returns the row of an absolute path without symbolic links, in the tree whose root is
    /// nearest; `None` if no tree has it.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<Option<u64>, ReadError> {
        let mut roots: Vec<_> = self.info().roots.iter().enumerate().collect();
        roots.sort_by_key(|(_, root)| Reverse(root.path.0.len()));
        for (at, root) in roots {
            if let Some(rest) = below(path, &root.path.0)
                && let Some(row) = self.locate(at, rest)?
            {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn compare_row(&self, row: u64, wanted: (usize, &[u8])) -> Result<Ordering, ReadError> {
        let mut scan = self.scan(row..row + 1, &COLUMNS)?;
        let chunk = scan.next_chunk()?;
        let chunk = chunk.ok_or_else(|| self.damaged("a row group is too short"))?;
        let root = root_index(chunk.integers(Column::Root)[0]);
        Ok(compare((root, chunk.path(0)), wanted))
    }

    fn search_page(
        &self,
        first: u64,
        end: u64,
        wanted: (usize, &[u8]),
    ) -> Result<Option<u64>, ReadError> {
        let last = end.min(first + PAGE_ROWS as u64);
        let mut scan = self.scan(first..last, &COLUMNS)?;
        while let Some(chunk) = scan.next_chunk()? {
            let roots = chunk.integers(Column::Root);
            let row = |at: usize| (root_index(roots[at]), chunk.path(at));
            let mut range = 0..chunk.len();
            while !range.is_empty() {
                let middle = range.start.midpoint(range.end);
                match compare(row(middle), wanted) {
                    Ordering::Equal => return Ok(Some(chunk.first_row() + middle as u64)),
                    Ordering::Less => range.start = middle + 1,
                    Ordering::Greater => range.end = middle,
                }
            }
        }
        Ok(None)
    }
}

/// Returns the index of a root. In a damaged file it may be any number.
fn root_index(root: i64) -> usize {
    usize::try_from(root).unwrap_or(usize::MAX)
}

/// Compares two rows by root and path.
fn compare(a: (usize, &[u8]), b: (usize, &[u8])) -> Ordering {
    a.0.cmp(&b.0).then_with(|| order::compare(a.1, b.1))
}

/// Returns the part of `path` behind `root`, without the slash between them.
fn below<'p>(path: &'p [u8], root: &[u8]) -> Option<&'p [u8]> {
    let root = root.strip_suffix(b"/").unwrap_or(root);
    let rest = path.strip_prefix(root)?;
    match rest {
        [] => Some(rest),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}
