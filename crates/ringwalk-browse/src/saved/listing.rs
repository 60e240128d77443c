//! The entries of a directory in an order.

use super::cells::{OF_ALLOC, OF_FREEABLE, OF_MTIME, OF_SIZE, Row};
use crate::tree::{Direction, Order, SortKey};
use ringwalk_snapshot::{Column, ReadError, Snapshot};
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

/// What a row is sorted by. Rows of a listing are sorted by name already, so the row stands for
/// the name.
#[derive(Clone, Copy, Debug)]
struct Sorted {
    key: Option<i64>,
    row: u64,
    is_directory: bool,
}

/// Returns the rows of a listing in an order, as [`Order::compare`] has it.
pub(super) fn sorted(
    snapshot: &Snapshot,
    rows: Range<u64>,
    order: Order,
) -> Result<Vec<u64>, ReadError> {
    let is_by_name = order.key == SortKey::Name;
    if is_by_name && !order.directories_first {
        return Ok(match order.direction {
            Direction::Usual => rows.collect(),
            Direction::Reversed => rows.rev().collect(),
        });
    }
    let mut columns = columns(order.key).to_vec();
    if order.directories_first && !columns.contains(&Column::Type) {
        columns.push(Column::Type);
    }
    let mut all = Vec::new();
    let mut scan = snapshot.scan(rows, &columns)?;
    while let Some(chunk) = scan.next_chunk()? {
        let first = chunk.first_row();
        all.extend((0..chunk.len()).zip(first..).map(|(at, row)| {
            let cells = Row { chunk, at };
            Sorted {
                key: key(order.key, cells),
                row,
                is_directory: order.directories_first && cells.is_directory(),
            }
        }));
    }
    all.sort_unstable_by(|a, b| compare(order, a, b));
    Ok(all.into_iter().map(|each| each.row).collect())
}

fn columns(key: SortKey) -> &'static [Column] {
    match key {
        SortKey::Alloc => &OF_ALLOC,
        SortKey::Size => &OF_SIZE,
        SortKey::Freeable => &OF_FREEABLE,
        SortKey::Entries => &[Column::TreeEntries],
        SortKey::Mtime => &OF_MTIME,
        SortKey::Name => &[],
        SortKey::Owner => &[Column::Uid],
    }
}

fn key(key: SortKey, row: Row<'_>) -> Option<i64> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    match key {
        SortKey::Alloc => Some(number(row.alloc())),
        SortKey::Size => Some(number(row.size())),
        SortKey::Freeable => row.freeable().map(number),
        SortKey::Entries => Some(number(row.entries())),
        SortKey::Mtime => row.mtime(),
        SortKey::Name => None,
        SortKey::Owner => row.uid().map(i64::from),
    }
}

fn compare(order: Order, a: &Sorted, b: &Sorted) -> Ordering {
    let directories = Reverse(a.is_directory).cmp(&Reverse(b.is_directory));
    let usual = match order.key {
        SortKey::Name => a.row.cmp(&b.row),
        SortKey::Owner => a.key.cmp(&b.key),
        _ => b.key.cmp(&a.key),
    };
    let by_key = match order.direction {
        Direction::Usual => usual,
        Direction::Reversed => usual.reverse(),
    };
    directories.then(by_key).then(a.row.cmp(&b.row))
}
