//! The rows that a report covers: all trees of the snapshot, or one subtree.

use super::error::ReportError;
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::ops::Range;

/// The rows that a report covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    /// Rows, in their order, without overlap.
    pub(super) ranges: Vec<Range<u64>>,
    /// The directories whose subdirectories are the groups of the key `dir`.
    pub(super) bases: Vec<Base>,
    /// True if rows before the scope may be charged for files that the scope also names.
    pub(super) links_from_outside: bool,
    /// The number of failures in the scope, at least 1 if the snapshot has some that belong to no
    /// row.
    pub(super) errors: u64,
}

/// A directory, or another file, that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// What stands before the names of its subdirectories in the report.
    pub(super) prefix: Vec<u8>,
    /// Its row.
    pub(super) row: u64,
    /// Its own number. `None` if it is no directory.
    pub(super) number: Option<i64>,
    /// The rows below it.
    pub(super) below: Range<u64>,
    /// Failures in its subtree.
    errors: u64,
}

impl Scope {
    /// Returns all trees of a snapshot.
    pub(super) fn all(snapshot: &Snapshot) -> Result<Self, ReportError> {
        let roots = &snapshot.info().roots;
        let mut bases = Vec::with_capacity(roots.len());
        for (at, root) in roots.iter().enumerate() {
            let Some(row) = snapshot.locate(at, b"")? else {
                continue;
            };
            let mut base = Base::at(snapshot, row)?;
            if roots.len() > 1 {
                base.prefix.clone_from(&root.path.0);
                if !base.prefix.ends_with(b"/") {
                    base.prefix.push(b'/');
                }
            }
            bases.push(base);
        }
        let verdict = &snapshot.info().verdict;
        Ok(Self {
            ranges: std::iter::once(0..snapshot.rows()).collect(),
            bases,
            links_from_outside: false,
            errors: verdict.errors.max(u64::from(!verdict.complete)),
        })
    }

    /// Returns the subtree of a file: an absolute path without symbolic links.
    ///
    /// # Errors
    ///
    /// [`ReportError::NotInside`] if no tree of the snapshot has the path.
    pub(super) fn under(snapshot: &Snapshot, path: &[u8]) -> Result<Self, ReportError> {
        let Some(row) = snapshot.find(path)? else {
            return Err(ReportError::NotInside(path.to_vec()));
        };
        let base = Base::at(snapshot, row)?;
        let own = row..row + 1;
        let below = base.below.clone();
        let ranges = [below, own].into_iter().filter(|range| !range.is_empty());
        let ranges: Vec<_> = ranges.collect();
        let errors = base
            .errors
            .max(u64::from(Self::has_errors_without_row(snapshot)?));
        Ok(Self {
            links_from_outside: ranges[0].start > 0,
            ranges,
            bases: vec![base],
            errors,
        })
    }

    /// Returns true if the snapshot has failures that belong to no row.
    fn has_errors_without_row(snapshot: &Snapshot) -> Result<bool, ReportError> {
        let mut of_rows = 0;
        for base in Self::all(snapshot)?.bases {
            of_rows = base.errors.saturating_add(of_rows);
        }
        let verdict = &snapshot.info().verdict;
        Ok(verdict.errors > of_rows || !verdict.complete && verdict.errors == 0)
    }
}

impl Base {
    fn at(snapshot: &Snapshot, row: u64) -> Result<Self, ReadError> {
        use Column::{Errno, SelfDir, TreeErrors, TreeFirst, TreeLast};
        let columns = [SelfDir, TreeFirst, TreeLast, TreeErrors, Errno];
        let mut scan = snapshot.scan(row..row + 1, &columns)?;
        let mut base = Self {
            prefix: Vec::new(),
            row,
            number: None,
            below: 0..0,
            errors: 0,
        };
        let Some(chunk) = scan.next_chunk()? else {
            return Ok(base);
        };
        let value = |column| chunk.integer(column, 0);
        base.number = value(SelfDir);
        if let (Some(first), Some(last)) = (value(TreeFirst), value(TreeLast)) {
            let below = below(first, last, row);
            base.below = below.ok_or_else(|| snapshot.damaged("a subtree has wrong rows"))?;
        }
        let own = i64::from(value(Errno).is_some());
        base.errors = value(TreeErrors).unwrap_or(own).cast_unsigned();
        Ok(base)
    }
}

/// Returns the rows of a subtree, which end before the row of its directory. `None` if a damaged
/// file has others.
pub(super) fn below(first: i64, last: i64, row: u64) -> Option<Range<u64>> {
    let (first, last) = (u64::try_from(first).ok()?, u64::try_from(last).ok()?);
    (first <= last && last < row).then_some(first..last + 1)
}
