//! Files with several hard links in a report on a subtree.
//!
//! In a snapshot the first name of such a file is charged. If that name lies outside of the
//! subtree, the first name within the subtree is charged instead, as du does it for the subtree
//! alone ("A file with several names counts once" in `docs/architecture.md`).

use super::parallel::for_each_wave;
use super::scope::Scope;
use super::table::Sums;
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;

/// A row that is not charged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) row: u64,
    pub(super) fs: Option<i64>,
    pub(super) ino: i64,
    pub(super) group: u32,
    pub(super) sums: Sums,
}

type Inode = (Option<i64>, i64);

/// The first name of each file that no row of the subtree has been charged for.
#[derive(Debug, Default)]
pub(super) struct Links(HashMap<Inode, Candidate>);

impl Links {
    /// Adds a row; rows come in their order. The first one of a file stays.
    pub(super) fn add(&mut self, candidate: &Candidate, group: u32) {
        self.0
            .entry((candidate.fs, candidate.ino))
            .or_insert(Candidate {
                group,
                ..*candidate
            });
    }

    /// Leaves out the files that a row of the subtree has been charged for. Returns the others.
    pub(super) fn settle(
        mut self,
        snapshot: &Snapshot,
        scope: &Scope,
        threads: NonZeroUsize,
    ) -> Result<impl Iterator<Item = Candidate>, ReadError> {
        if !self.0.is_empty() {
            let mut charged = Vec::new();
            for_each_wave(
                snapshot,
                &scope.ranges,
                threads,
                |rows| self.charged(snapshot, rows),
                |found| charged.extend(found),
            )?;
            for inode in charged {
                self.0.remove(&inode);
            }
        }
        Ok(self.0.into_values())
    }

    /// Returns the files in `rows` that are charged there.
    fn charged(&self, snapshot: &Snapshot, rows: Range<u64>) -> Result<Vec<Inode>, ReadError> {
        let columns = [Column::Fs, Column::Ino, Column::Charged];
        let mut found = Vec::new();
        let mut scan = snapshot.scan(rows, &columns)?;
        while let Some(chunk) = scan.next_chunk()? {
            let charged = chunk.integers(Column::Charged);
            for row in (0..chunk.len().min(charged.len())).filter(|row| charged[*row] != 0) {
                let Some(ino) = chunk.integer(Column::Ino, row) else {
                    continue;
                };
                let inode = (chunk.integer(Column::Fs, row), ino);
                if self.0.contains_key(&inode) {
                    found.push(inode);
                }
            }
        }
        Ok(found)
    }
}
