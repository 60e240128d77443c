//! Files of a subtree that are charged outside of it: those with several hard links whose first
//! name lies elsewhere.
//!
//! The totals in the rows of directories lack such files. Within the subtree, the first name there
//! counts, as in every report.

use crate::report::links::Links;
use crate::report::parallel::for_each_wave;
use crate::report::rows::find_candidates;
use crate::report::scope::{Scope, below};
use crate::report::table::Sums;
use ringwalk_snapshot::{Chunk, Column, PAGE_ROWS, ReadError, Snapshot};
use std::num::NonZeroUsize;
use std::ops::Range;

/// The rows that count in a subtree though they are not charged, in their order.
#[derive(Debug, Default)]
pub(super) struct Outside {
    rows: Vec<u64>,
    /// The sums of all rows before the one at this index, and behind them the sums of all.
    before: Vec<Sums>,
}

impl Outside {
    /// Finds these rows of a scope.
    pub(super) fn find(
        snapshot: &Snapshot,
        scope: &Scope,
        threads: NonZeroUsize,
    ) -> Result<Self, ReadError> {
        if !scope.links_from_outside {
            return Ok(Self::default());
        }
        let mut links = Links::default();
        let columns = [
            Column::Size,
            Column::Alloc,
            Column::Charged,
            Column::Fs,
            Column::Ino,
            Column::Skipped,
        ];
        for_each_wave(
            snapshot,
            &scope.ranges,
            threads,
            |rows| {
                let mut candidates = Vec::new();
                let mut scan = snapshot.scan(rows, &columns)?;
                let groups = vec![0; PAGE_ROWS];
                while let Some(chunk) = scan.next_chunk()? {
                    find_candidates(chunk, &groups[..chunk.len()], &mut candidates);
                }
                Ok(candidates)
            },
            |candidates| {
                for candidate in &candidates {
                    links.add(candidate, 0);
                }
            },
        )?;
        let settled = links.settle(snapshot, scope, threads)?;
        let mut found: Vec<_> = settled.map(|link| (link.row, link.sums)).collect();
        found.sort_unstable_by_key(|(row, _)| *row);
        Ok(Self::of(&found))
    }

    fn of(found: &[(u64, Sums)]) -> Self {
        let mut before = vec![Sums::default()];
        let mut sums = Sums::default();
        for (_, each) in found {
            sums.add(*each);
            before.push(sums);
        }
        Self {
            rows: found.iter().map(|(row, _)| *row).collect(),
            before,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns what a row adds to sums; nothing if it is not one of these rows.
    pub(super) fn of_row(&self, row: u64) -> Sums {
        self.of_rows(row..row + 1)
    }

    /// Returns what the rows below a directory add to its sums. The columns
    /// [`Column::TreeFirst`] and [`Column::TreeLast`] must have been read.
    pub(super) fn of_directory(&self, chunk: &Chunk, at: usize, row: u64) -> Sums {
        if self.is_empty() {
            return Sums::default();
        }
        let first = chunk.integer(Column::TreeFirst, at);
        let last = chunk.integer(Column::TreeLast, at);
        match (first, last) {
            (Some(first), Some(last)) => {
                below(first, last, row).map_or_else(Sums::default, |rows| self.of_rows(rows))
            }
            _ => Sums::default(),
        }
    }

    fn of_rows(&self, rows: Range<u64>) -> Sums {
        if self.is_empty() {
            return Sums::default();
        }
        let at = |row: u64| self.before[self.rows.partition_point(|each| *each < row)];
        let (first, end) = (at(rows.start), at(rows.end));
        Sums {
            entries: 0,
            size: end.size.saturating_sub(first.size),
            alloc: end.alloc.saturating_sub(first.alloc),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_rows_are_those_of_a_loop() {
        let sums = |size| Sums {
            entries: 0,
            size,
            alloc: 2 * size,
        };
        let found = [(2, sums(1)), (3, sums(10)), (7, sums(100))];
        let outside = Outside::of(&found);
        for first in 0..9 {
            for end in first..10 {
                let rows = first..end;
                let inside = found.iter().filter(|(row, _)| rows.contains(row));
                let expected: u64 = inside.map(|(_, sums)| sums.size).sum();
                assert_eq!(outside.of_rows(rows), sums(expected));
            }
        }
        assert_eq!(Outside::default().of_rows(0..10), sums(0));
    }
}
