//! Metadata from the columns of a snapshot.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of 32 bits, and rows within a page"
)]

use crate::entry::stored_errno;
use crate::read::{Chunk, Page, Snapshot};
use crate::schema::{ATTRIBUTES, Attributes, Column};
use crate::stored_entry::Cells;
use ringwalk::{Errno, Fields, Metadata};

/// Returns the fields that are in a file with these columns.
pub(super) fn fields(has: impl Fn(Column) -> bool) -> Fields {
    let others = [(Column::Type, Fields::TYPE), (Column::Fs, Fields::MNT_ID)];
    let attributes = ATTRIBUTES
        .iter()
        .map(|column| (*column, column.facts().fields));
    let known = attributes.chain(others).filter(|(column, _)| has(*column));
    known.map(|(_, fields)| fields).collect()
}

/// Returns the columns that hold these fields. Type and errors are always among them; the file
/// system is where an inode number is, and the number of a device where a mode is.
pub(super) fn columns(fields: Fields) -> Vec<Column> {
    let mut columns = vec![Column::Type, Column::Errno, Column::Operation];
    let is_wanted = |column: &Column| match column {
        Column::Fs => fields.intersects(Fields::MNT_ID | Fields::INO),
        Column::Rdev => fields.contains(Fields::MODE),
        column => fields.intersects(column.facts().fields),
    };
    columns.extend(ATTRIBUTES.iter().copied().filter(is_wanted));
    columns
}

/// Returns what the columns of a page say of a row.
pub(super) fn of_row(snapshot: &Snapshot, page: &Page, row: u64) -> Metadata {
    let chunk = page.chunk();
    let at = (row - page.rows().start) as usize;
    of_cells(snapshot, chunk, at)
}

/// Returns what the cells in the row `at` of a chunk say.
#[inline]
pub(super) fn of_cells(snapshot: &Snapshot, chunk: &Chunk, at: usize) -> Metadata {
    let mut metadata = Metadata::default();
    let mut cells = Cells {
        chunk,
        at,
        // A walk shows the times that the file has.
        is_clamped: false,
    };
    Attributes::put(&mut cells, &mut metadata);
    if let Some(fs) = chunk.integer(Column::Fs, at)
        && let Some(index) = usize::try_from(fs).ok()
        && let Some(file_system) = snapshot.info().file_systems.get(index)
    {
        metadata.set_dev(file_system.device);
        metadata.set_mnt_id(index as u64);
    }
    metadata.set_file_type(chunk.file_type(at));
    metadata
}

/// The operation that failed for a row when it was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavedError {
    Stat,
    Open,
    Read,
    /// The target of a link, or extended attributes.
    Other,
}

/// Returns the error in the row `at` of a chunk.
#[inline]
pub(super) fn error_of(chunk: &Chunk, at: usize) -> Option<(SavedError, Errno)> {
    let errno = chunk.integer(Column::Errno, at)?;
    let errno = stored_errno(errno).unwrap_or(Errno::IO);
    let operation = match chunk.bytes(Column::Operation, at) {
        Some(b"open") => SavedError::Open,
        Some(b"read") => SavedError::Read,
        Some(b"readlink" | b"xattr") => SavedError::Other,
        _ => SavedError::Stat,
    };
    Some((operation, errno))
}
