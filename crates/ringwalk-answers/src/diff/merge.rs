//! The merge of two sorted runs of rows.
//!
//! Most rows are the same in both snapshots. So the merge looks for runs of equal paths first, and
//! compares each column of such a run as a slice. Only rows that differ are copied.

use super::change::{Change, Kind};
use super::choices::Which;
use super::file_systems::Numbers;
use super::version::{NUMBERS, Unread, Version};
use ringwalk::FileType;
use ringwalk_snapshot::{
    Column, Compared, HASH_BYTES, ReadError, Snapshot, count_numbers, numbers, order,
};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a snapshot in their order, some at a time.
pub(super) trait Rows {
    /// The rows that are read at a time.
    type Block: Block;

    /// Returns the next rows, at least one, or `None` at the end.
    fn next(&mut self) -> Result<Option<&Self::Block>, ReadError>;
}

/// Some rows, column by column.
pub(super) trait Block {
    fn first_row(&self) -> u64;
    fn len(&self) -> usize;
    fn path(&self, at: usize) -> &[u8];
    fn file_type(&self, at: usize) -> FileType;
    /// Returns a column, with 0 for values that are not known. Empty if the file lacks the column.
    fn integers(&self, column: Column) -> &[i64];
    fn integer(&self, column: Column, at: usize) -> Option<i64>;
    fn text(&self, column: Column, at: usize) -> Option<&[u8]>;
    /// Returns true if it is known that no row has a value of this column.
    fn is_absent(&self, column: Column) -> bool;
    /// Returns the hash of the contents.
    fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]>;
    /// Returns true if these rows have the same types as the rows of another block.
    fn has_same_types(&self, rows: Range<usize>, other: &Self, other_first: usize) -> bool;
}

/// The columns that a merge reads, besides [`NUMBERS`].
const OTHERS: [Column; 8] = [
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Charged,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
    Column::Hash,
];

/// Returns the columns that a merge of these files reads. What only one of them was asked for is
/// not compared.
pub(super) fn columns_of(old: &Snapshot, new: &Snapshot) -> Vec<Column> {
    let is_in_both =
        |column: &Column| column.facts().asked.is_none() || (old.has(*column) && new.has(*column));
    OTHERS
        .into_iter()
        .chain(NUMBERS)
        .filter(is_in_both)
        .collect()
}

const DIFFERENT: &[Compared] = &[Compared::Identity, Compared::Change];

/// The columns of numbers that show whether a row differs.
const COMPARED: [Column; count_numbers(DIFFERENT)] = numbers(DIFFERENT);

/// Returns true for a column that shows whether a row differs. A difference in the number of links
/// alone does not count.
pub(super) fn is_compared(column: Column) -> bool {
    matches!(column, Column::Type | Column::Charged)
        || matches!(
            column.facts().compared,
            Compared::Identity | Compared::Change
        )
}

/// What a merge found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Rows whose path only the older snapshot has, or has with another file.
    pub(super) departed: Vec<Version>,
    /// Rows whose path only the newer snapshot has, or has with another file.
    pub(super) arrived: Vec<Version>,
    /// Pairs of rows with the same path and file. A field that counts differs, or only one row is
    /// charged.
    pub(super) differing: Vec<(Version, Version)>,
    /// What either snapshot does not know.
    pub(super) unread: Vec<Unread>,
}

impl Findings {
    pub(super) fn append(&mut self, mut later: Self) {
        self.departed.append(&mut later.departed);
        self.arrived.append(&mut later.arrived);
        self.differing.append(&mut later.differing);
        self.unread.append(&mut later.unread);
    }
}

/// What does not depend on the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge<'a> {
    /// Number of the root in the newer snapshot.
    pub(super) root: u32,
    pub(super) numbers: &'a Numbers<'a>,
}

impl Merge<'_> {
    /// Merges the rows of one root.
    pub(super) fn run<B: Block>(
        &self,
        old: &mut impl Rows<Block = B>,
        new: &mut impl Rows<Block = B>,
        mut compared: impl FnMut(usize),
    ) -> Result<Findings, ReadError> {
        let mut found = Findings::default();
        let mut is_dirty = Vec::new();
        let mut a = self.next(Which::Old, old, &mut found)?;
        let mut b = self.next(Which::New, new, &mut found)?;
        let (mut i, mut j) = (0, 0);
        loop {
            if let Some(block) = a
                && i == block.len()
            {
                compared(i);
                (a, i) = (self.next(Which::Old, old, &mut found)?, 0);
            }
            if let Some(block) = b
                && j == block.len()
            {
                compared(j);
                (b, j) = (self.next(Which::New, new, &mut found)?, 0);
            }
            match (a, b) {
                (None, None) => return Ok(found),
                (Some(a), None) => {
                    found.departed.push(self.lone_version(Which::Old, a, i));
                    i += 1;
                }
                (None, Some(b)) => {
                    found.arrived.push(self.lone_version(Which::New, b, j));
                    j += 1;
                }
                (Some(a), Some(b)) => {
                    let length = equal_paths(a, i, b, j);
                    if length > 0 {
                        self.compare_run((a, i), (b, j), length, &mut is_dirty, &mut found);
                        i += length;
                        j += length;
                        continue;
                    }
                    if order::compare(a.path(i), b.path(j)) == Ordering::Less {
                        found.departed.push(self.lone_version(Which::Old, a, i));
                        i += 1;
                    } else {
                        found.arrived.push(self.lone_version(Which::New, b, j));
                        j += 1;
                    }
                }
            }
        }
    }

    /// Returns the next rows, and notes what the snapshot does not know of them.
    fn next<'r, R: Rows>(
        &self,
        which: Which,
        rows: &'r mut R,
        found: &mut Findings,
    ) -> Result<Option<&'r R::Block>, ReadError> {
        let block = rows.next()?;
        if let Some(block) = block {
            self.note_unread(which, block, found);
        }
        Ok(block)
    }

    /// Compares rows of equal paths. The paths are taken from the older ones.
    pub(super) fn compare_run<B: Block>(
        &self,
        (a, i): (&B, usize),
        (b, j): (&B, usize),
        length: usize,
        is_dirty: &mut Vec<bool>,
        found: &mut Findings,
    ) {
        is_dirty.clear();
        is_dirty.resize(length, false);
        // File systems have other numbers in each file.
        let numbers = COMPARED.into_iter().filter(|column| *column != Column::Fs);
        for column in numbers.chain([Column::Charged]) {
            // A column that one file lacks is not compared.
            let (Some(a), Some(b)) = (
                a.integers(column).get(i..i + length),
                b.integers(column).get(j..j + length),
            ) else {
                continue;
            };
            if !std::ptr::eq(a, b) && a != b {
                for ((a, b), is_dirty) in a.iter().zip(b).zip(is_dirty.iter_mut()) {
                    *is_dirty |= a != b;
                }
            }
        }
        self.compare_file_systems((a, i), (b, j), is_dirty);
        if !a.has_same_types(i..i + length, b, j) {
            for (at, is_dirty) in is_dirty.iter_mut().enumerate() {
                *is_dirty |= a.file_type(i + at) != b.file_type(j + at);
            }
        }
        if !a.is_absent(Column::Hash) && !b.is_absent(Column::Hash) {
            for (at, is_dirty) in is_dirty.iter_mut().enumerate() {
                let hashes = a.hash(i + at).zip(b.hash(j + at));
                *is_dirty |= hashes.is_some_and(|(a, b)| a != b);
            }
        }
        for (at, _) in is_dirty
            .iter()
            .enumerate()
            .filter(|(_, is_dirty)| **is_dirty)
        {
            let path: Arc<[u8]> = Arc::from(a.path(i + at));
            let old = self.version(Which::Old, a, i + at, Arc::clone(&path));
            let new = self.version(Which::New, b, j + at, path);
            let trust = self.numbers.trust_between(&old, &new);
            if trust.is_some_and(|trust| old.is_same_file(&new, trust)) {
                // Where inode numbers do not last, every row may differ in them alone.
                if old.charged != new.charged
                    || !Change::differences(Kind::Modified, &old, &new).is_empty()
                {
                    found.differing.push((old, new));
                }
            } else {
                found.departed.push(old);
                found.arrived.push(new);
            }
        }
    }

    fn compare_file_systems<A: Block, B: Block>(
        &self,
        (a, i): (&A, usize),
        (b, j): (&B, usize),
        is_dirty: &mut [bool],
    ) {
        let length = is_dirty.len();
        let (Some(a), Some(b)) = (
            a.integers(Column::Fs).get(i..i + length),
            b.integers(Column::Fs).get(j..j + length),
        ) else {
            return;
        };
        if a == b && self.numbers.old == self.numbers.new {
            return;
        }
        let is_same =
            |(a, b): (&i64, &i64)| number(&self.numbers.old, *a) == number(&self.numbers.new, *b);
        for (pair, is_dirty) in a.iter().zip(b).zip(is_dirty) {
            *is_dirty |= !is_same(pair);
        }
    }

    fn lone_version<B: Block>(&self, which: Which, block: &B, at: usize) -> Version {
        self.version(which, block, at, Arc::from(block.path(at)))
    }

    fn version<B: Block>(&self, which: Which, block: &B, at: usize, path: Arc<[u8]>) -> Version {
        let row = block.first_row() + at as u64;
        let mut version = Version::new(self.root, row, path, block.file_type(at));
        for column in NUMBERS {
            version.set(column, block.integer(column, at));
        }
        if let Some(fs) = version.get(Column::Fs) {
            let numbers = match which {
                Which::Old => &self.numbers.old,
                Which::New => &self.numbers.new,
            };
            version.set(Column::Fs, number(numbers, fs));
        }
        version.hash = block.hash(at).map(|hash| Box::new(*hash));
        version.charged = block.integer(Column::Charged, at).unwrap_or(0) != 0;
        version
    }

    /// Notes the rows of a block that could not be read, or were left out.
    pub(super) fn note_unread<B: Block>(&self, which: Which, block: &B, found: &mut Findings) {
        if block.is_absent(Column::Errno) && block.is_absent(Column::Skipped) {
            return;
        }
        let errors = block.integers(Column::Errno);
        for at in 0..block.len() {
            let skipped = block.text(Column::Skipped, at);
            let error = errors.get(at).copied().unwrap_or(0);
            if error == 0 && skipped.is_none() {
                continue;
            }
            let reason = skipped.or_else(|| block.text(Column::Operation, at));
            found.unread.push(Unread {
                which,
                root: self.root,
                path: Arc::from(block.path(at)),
                file_type: block.file_type(at),
                errno: i32::try_from(error).ok().filter(|errno| *errno != 0),
                reason: String::from_utf8_lossy(reason.unwrap_or_default()).into_owned(),
            });
        }
    }
}

/// Returns the common number of a file system, or `None` if it is not known.
fn number(numbers: &[i64], fs: i64) -> Option<i64> {
    let number = numbers.get(usize::try_from(fs).ok()?)?;
    (*number != super::file_systems::UNKNOWN).then_some(*number)
}

/// Returns the number of rows from these two on whose paths are equal.
fn equal_paths<A: Block, B: Block>(a: &A, i: usize, b: &B, j: usize) -> usize {
    let most = (a.len() - i).min(b.len() - j);
    let mut pairs = (0..most).take_while(|at| a.path(i + at) == b.path(j + at));
    pairs.by_ref().count()
}
