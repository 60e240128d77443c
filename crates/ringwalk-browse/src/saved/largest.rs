//! The largest files among rows.

use super::cells::number;
use crate::tree::Weight;
use ringwalk::FileType;
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;

/// The identity of a file with several names: file system and inode number.
type Inode = (Option<i64>, i64);
/// A file: the value that is compared, its row, and its inode if it has several names.
type File = (u64, Reverse<u64>, Option<Inode>);

/// Returns the rows of the largest files, at most `most`, the largest first. If files are equally
/// large, the first in the order of the rows comes first. If a file has several names, only the
/// first one among these rows counts. Directories are left out.
pub(super) fn largest(
    snapshot: &Snapshot,
    rows: Range<u64>,
    weight: Weight,
    most: usize,
) -> Result<Vec<u64>, ReadError> {
    let column = match weight {
        Weight::Alloc => Column::Alloc,
        Weight::Size => Column::Size,
    };
    // The lightest file is at the top.
    let mut heap: BinaryHeap<Reverse<File>> = BinaryHeap::new();
    let mut inodes: HashSet<Inode> = HashSet::new();
    // Inodes are read of the few rows that may be among the largest.
    let columns = [column, Column::Type, Column::Nlink, Column::Skipped];
    let links = [Column::Fs, Column::Ino];
    let mut cursor = ringwalk_snapshot::Cursor::default();
    let mut scan = snapshot.scan(rows, &columns)?;
    while let Some(chunk) = scan.next_chunk()? {
        let weights = chunk.integers(column);
        for (at, weight) in weights.iter().enumerate() {
            let weight = number(*weight);
            let row = Reverse(chunk.first_row() + at as u64);
            let full = heap.len() >= most;
            if full
                && heap
                    .peek()
                    .is_none_or(|Reverse(least)| (weight, row) < (least.0, least.1))
            {
                continue;
            }
            let skipped = chunk.bytes(Column::Skipped, at).is_some();
            if skipped || chunk.file_type(at) == FileType::Directory {
                continue;
            }
            let mut inode = None;
            if chunk
                .integer(Column::Nlink, at)
                .is_none_or(|links| links > 1)
            {
                let (chunk, at) = cursor.row(snapshot, row.0, &links)?;
                let ino = chunk.integer(Column::Ino, at);
                inode = ino.map(|ino| (chunk.integer(Column::Fs, at), ino));
            }
            // A name of a file that has left the heap is as light as that name was, and later.
            if inode.is_some_and(|inode| !inodes.insert(inode)) {
                continue;
            }
            if full && let Some(Reverse((_, _, Some(left)))) = heap.pop() {
                inodes.remove(&left);
            }
            heap.push(Reverse((weight, row, inode)));
        }
    }
    let sorted = heap.into_sorted_vec();
    Ok(sorted
        .into_iter()
        .map(|Reverse((_, row, _))| row.0)
        .collect())
}
