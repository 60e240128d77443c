//! The directories directly below the bases of a scope, and the rows of each.

use super::scope::{Base, Scope, below};
use super::table::{Code, OVERFLOW};
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::ops::Range;

/// The directories directly below the bases of a scope.
#[derive(Debug, Default)]
pub(super) struct Directories {
    names: Vec<Vec<u8>>,
    /// The rows that belong to a name, in the order of rows. Rows of no piece lie in a base itself.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    rows: Range<u64>,
    /// Index of the name, or [`OVERFLOW`].
    name: u32,
}

impl Directories {
    /// Finds the directories of `scope`. Those beyond `limit` names have no name.
    pub(super) fn find(
        snapshot: &Snapshot,
        scope: &Scope,
        limit: usize,
    ) -> Result<Self, ReadError> {
        let mut found = Self::default();
        for base in &scope.bases {
            found.add(snapshot, base, limit)?;
        }
        found.pieces.sort_unstable_by_key(|piece| piece.rows.start);
        Ok(found)
    }

    /// Adds the directories of one base, and the base itself, which stands for the files in it.
    fn add(&mut self, snapshot: &Snapshot, base: &Base, limit: usize) -> Result<(), ReadError> {
        let own = self.name([&base.prefix[..], b"."].concat(), limit);
        self.piece(base.row..base.row + 1, own);
        let Some(number) = base.number.filter(|_| !base.below.is_empty()) else {
            return Ok(());
        };
        let listing = listing(snapshot, base.below.clone(), number)?;
        let columns = [
            Column::Path,
            Column::PathRaw,
            Column::SelfDir,
            Column::TreeFirst,
            Column::TreeLast,
        ];
        let mut scan = snapshot.scan(listing, &columns)?;
        while let Some(chunk) = scan.next_chunk()? {
            for at in 0..chunk.len() {
                let row = chunk.first_row() + at as u64;
                if chunk.integer(Column::SelfDir, at).is_none() {
                    self.piece(row..row + 1, own);
                    continue;
                }
                let name = self.name([&base.prefix, chunk.name(at)].concat(), limit);
                self.piece(row..row + 1, name);
                let first = chunk.integer(Column::TreeFirst, at);
                let last = chunk.integer(Column::TreeLast, at);
                if let (Some(first), Some(last)) = (first, last) {
                    let below = below(first, last, row);
                    let below =
                        below.ok_or_else(|| snapshot.damaged("a subtree has wrong rows"))?;
                    self.piece(below, name);
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, name: Vec<u8>, limit: usize) -> u32 {
        if self.names.len() >= limit {
            return OVERFLOW;
        }
        self.names.push(name);
        u32::try_from(self.names.len() - 1).unwrap_or(OVERFLOW)
    }

    /// Adds rows. Neighbours of the same name become one piece.
    fn piece(&mut self, rows: Range<u64>, name: u32) {
        if let Some(last) = self.pieces.last_mut()
            && last.name == name
            && last.rows.end == rows.start
        {
            last.rows.end = rows.end;
            return;
        }
        self.pieces.push(Piece { rows, name });
    }

    /// Returns the name with a code.
    pub(super) fn of_code(&self, code: Code) -> &[u8] {
        let name = usize::try_from(code).ok();
        name.and_then(|name| self.names.get(name))
            .map_or(b".", Vec::as_slice)
    }

    /// Returns the names of successive rows, from `row` on: the index, and the first row that has
    /// another one.
    pub(super) fn run_at(&self, row: u64) -> (u32, u64) {
        let at = self.pieces.partition_point(|piece| piece.rows.end <= row);
        match self.pieces.get(at) {
            Some(piece) if piece.rows.start <= row => (piece.name, piece.rows.end),
            // Every row of a scope lies in a piece. Rows of a damaged file may not.
            Some(piece) => (OVERFLOW, piece.rows.start),
            None => (OVERFLOW, u64::MAX),
        }
    }
}

/// Returns the rows of the listing of directory `number`: the last ones of `below`.
fn listing(snapshot: &Snapshot, below: Range<u64>, number: i64) -> Result<Range<u64>, ReadError> {
    let (mut first, mut last) = (below.start, below.end);
    while first < last {
        let middle = first + (last - first) / 2;
        let mut scan = snapshot.scan(middle..middle + 1, &[Column::Dir])?;
        let chunk = scan.next_chunk()?;
        let dir = chunk.and_then(|chunk| chunk.integer(Column::Dir, 0));
        if dir == Some(number) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    Ok(first..below.end)
}
