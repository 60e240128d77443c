//! The choice of the rows that a page shows.
//!
//! A directory has at least the allocated size of each row below it. If two rows have the same
//! size, the later one is chosen first, and a directory comes behind everything below it. So a
//! directory is chosen before its contents, and the chosen rows are a tree.

use super::outside::Outside;
use crate::report::parallel::for_each_wave;
use crate::report::scope::Scope;
use ringwalk_snapshot::{Chunk, Column, ReadError, Snapshot};
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::Range;

/// A row and its allocated size; for a directory, with everything below it. Ordered by size, then
/// by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked {
    pub(super) alloc: u64,
    pub(super) row: u64,
}

/// The largest of many rows. Keeps twice as many in memory at most.
#[derive(Debug)]
struct Largest {
    most: usize,
    kept: Vec<Ranked>,
    /// Smaller rows than this one are not among the largest.
    least: Option<Ranked>,
}

impl Largest {
    fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::new(),
            least: None,
        }
    }

    #[inline]
    fn add(&mut self, ranked: Ranked) {
        if self.least.is_some_and(|least| ranked < least) {
            return;
        }
        self.kept.push(ranked);
        if self.kept.len() > self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.most && self.most > 0 {
            let at = self.most - 1;
            self.kept
                .select_nth_unstable_by_key(at, |each| Reverse(*each));
            self.least = Some(self.kept[at]);
        }
        self.kept.truncate(self.most);
    }

    /// Returns the largest rows, largest first.
    fn sorted(mut self) -> Vec<Ranked> {
        self.cut();
        self.kept.sort_unstable_by_key(|each| Reverse(*each));
        self.kept
    }
}

/// The rows that a page shows.
#[derive(Debug)]
pub(super) struct Choice {
    /// Files and directories, largest first. A directory comes before everything below it.
    pub(super) nodes: Vec<Ranked>,
    /// The largest files, without directories.
    pub(super) files: Vec<Ranked>,
    /// The first rows that could not be read.
    pub(super) failed: Vec<u64>,
}

/// How many rows of each kind a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) nodes: usize,
    pub(super) files: usize,
    pub(super) failed: usize,
}

/// Chooses the rows of a page. Reads each row of the scope once.
pub(super) fn choose(
    snapshot: &Snapshot,
    scope: &Scope,
    outside: &Outside,
    limits: Limits,
    threads: NonZeroUsize,
    done: impl Fn(u64) + Sync,
) -> Result<Choice, ReadError> {
    let mut nodes = Largest::new(limits.nodes);
    let mut files = Largest::new(limits.files);
    let mut failed = Vec::new();
    for_each_wave(
        snapshot,
        &scope.ranges,
        threads,
        |rows| {
            let number = rows.end - rows.start;
            let piece = read(snapshot, rows, outside, limits)?;
            done(number);
            Ok(piece)
        },
        |piece| {
            piece.nodes.into_iter().for_each(|each| nodes.add(each));
            piece.files.into_iter().for_each(|each| files.add(each));
            failed.extend(piece.failed);
            failed.truncate(limits.failed);
        },
    )?;
    Ok(Choice {
        nodes: nodes.sorted(),
        files: files.sorted(),
        failed,
    })
}

fn read(
    snapshot: &Snapshot,
    rows: Range<u64>,
    outside: &Outside,
    limits: Limits,
) -> Result<Choice, ReadError> {
    let mut columns = vec![
        Column::TreeAlloc,
        Column::Alloc,
        Column::Charged,
        Column::Errno,
    ];
    if !outside.is_empty() {
        columns.extend([Column::TreeFirst, Column::TreeLast]);
    }
    let mut nodes = Largest::new(limits.nodes);
    let mut files = Largest::new(limits.files);
    let mut failed = Vec::new();
    let mut scan = snapshot.scan(rows, &columns)?;
    while let Some(chunk) = scan.next_chunk()? {
        let has_errors = !chunk.is_absent(Column::Errno);
        for at in 0..chunk.len() {
            let row = chunk.first_row() + at as u64;
            if let Some(alloc) = tree_alloc(chunk, at, row, outside) {
                nodes.add(Ranked { alloc, row });
            } else {
                let alloc = file_alloc(chunk, at, row, outside);
                nodes.add(Ranked { alloc, row });
                files.add(Ranked { alloc, row });
            }
            let may_note = has_errors && failed.len() < limits.failed;
            if may_note && chunk.integer(Column::Errno, at).is_some() {
                failed.push(row);
            }
        }
    }
    nodes.cut();
    files.cut();
    Ok(Choice {
        nodes: nodes.kept,
        files: files.kept,
        failed,
    })
}

/// Returns the allocated size of a directory with everything below it. `None` for other files.
fn tree_alloc(chunk: &Chunk, at: usize, row: u64, outside: &Outside) -> Option<u64> {
    let alloc = bytes(chunk.integer(Column::TreeAlloc, at)?);
    Some(alloc.saturating_add(outside.of_directory(chunk, at, row).alloc))
}

/// Returns the allocated size of a file in sums.
fn file_alloc(chunk: &Chunk, at: usize, row: u64, outside: &Outside) -> u64 {
    match chunk.integer(Column::Charged, at) {
        Some(charged) if charged != 0 => bytes(chunk.integer(Column::Alloc, at).unwrap_or(0)),
        _ => outside.of_row(row).alloc,
    }
}

/// Returns a number of bytes. Only a damaged file has less than 0.
pub(super) fn bytes(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay_and_of_equal_ones_the_later() {
        for most in 0..6 {
            let mut largest = Largest::new(most);
            let all = [5, 1, 5, 9, 0, 5, 2, 9, 9, 1, 0, 0, 7].into_iter().zip(0..);
            let all: Vec<_> = all.map(|(alloc, row)| Ranked { alloc, row }).collect();
            for each in &all {
                largest.add(*each);
            }
            let mut expected = all;
            expected.sort_unstable_by_key(|each| Reverse(*each));
            expected.truncate(most);
            assert_eq!(largest.sorted(), expected, "{most}");
        }
    }
}
