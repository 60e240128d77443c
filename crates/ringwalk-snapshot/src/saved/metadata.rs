//! Metadata from the columns of a snapshot.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of 32 bits, and rows within a page"
)]

use crate::entry::stored_errno;
use crate::read::{Chunk, Page, Snapshot};
use crate::schema::Column;
use crate::time::timestamp;
use ringwalk::{Errno, Fields, Metadata, Timestamp};

/// The column of each field of metadata.
pub(super) const FIELDS: [(Fields, Column); 13] = [
    (Fields::TYPE, Column::Type),
    (Fields::MODE, Column::Mode),
    (Fields::NLINK, Column::Nlink),
    (Fields::UID, Column::Uid),
    (Fields::GID, Column::Gid),
    (Fields::ATIME, Column::Atime),
    (Fields::MTIME, Column::Mtime),
    (Fields::CTIME, Column::Ctime),
    (Fields::INO, Column::Ino),
    (Fields::SIZE, Column::Size),
    (Fields::BLOCKS, Column::Alloc),
    (Fields::BTIME, Column::Btime),
    (Fields::MNT_ID, Column::Fs),
];

/// Returns the columns that hold these fields. Type and errors are always among them; the file
/// system is where an inode number is, and the number of a device where a mode is.
pub(super) fn columns(fields: Fields) -> Vec<Column> {
    let mut columns = vec![Column::Type, Column::Errno, Column::Operation];
    let wanted = FIELDS.iter().filter(|(field, _)| fields.contains(*field));
    columns.extend(wanted.map(|(_, column)| *column));
    if fields.contains(Fields::INO) {
        columns.push(Column::Fs);
    }
    if fields.contains(Fields::MODE) {
        columns.push(Column::Rdev);
    }
    columns
}

/// Returns what the columns of a page say of a row.
pub(super) fn of_row(snapshot: &Snapshot, page: &Page, row: u64) -> Metadata {
    let chunk = page.chunk();
    let at = (row - page.rows().start) as usize;
    of_cells(snapshot, chunk, at, row)
}

/// Returns what the cells in the row `at` of a chunk say, which is the row `row` of the file.
#[inline]
pub(super) fn of_cells(snapshot: &Snapshot, chunk: &Chunk, at: usize, row: u64) -> Metadata {
    // No other file has this number, as no file system has so many inodes.
    let mut metadata = Metadata::default();
    metadata.ino = !row;
    // A damaged file may hold any number.
    let word = |cell: i64| u32::try_from(cell).unwrap_or(u32::MAX);
    let mut mask = Fields::empty();
    let mut take = |field, column| {
        let cell = chunk.integer(column, at);
        mask.set(field, cell.is_some());
        cell
    };
    if let Some(mode) = take(Fields::MODE, Column::Mode) {
        metadata.mode = word(mode & 0o7777);
    }
    if let Some(nlink) = take(Fields::NLINK, Column::Nlink) {
        metadata.nlink = word(nlink);
    }
    if let Some(uid) = take(Fields::UID, Column::Uid) {
        metadata.uid = word(uid);
    }
    if let Some(gid) = take(Fields::GID, Column::Gid) {
        metadata.gid = word(gid);
    }
    if let Some(ino) = take(Fields::INO, Column::Ino) {
        metadata.ino = ino.cast_unsigned();
    }
    if let Some(size) = take(Fields::SIZE, Column::Size) {
        metadata.size = size.cast_unsigned();
    }
    if let Some(bytes) = take(Fields::BLOCKS, Column::Alloc) {
        metadata.blocks = bytes.cast_unsigned().div_ceil(512);
    }
    let mut time = |field, column, time: &mut Timestamp| {
        if let Some(nanoseconds) = take(field, column) {
            *time = timestamp(nanoseconds);
        }
    };
    time(Fields::ATIME, Column::Atime, &mut metadata.atime);
    time(Fields::MTIME, Column::Mtime, &mut metadata.mtime);
    time(Fields::CTIME, Column::Ctime, &mut metadata.ctime);
    time(Fields::BTIME, Column::Btime, &mut metadata.btime);
    if let Some(fs) = chunk.integer(Column::Fs, at)
        && let Some(index) = usize::try_from(fs).ok()
        && let Some(file_system) = snapshot.info().file_systems.get(index)
    {
        mask |= Fields::MNT_ID;
        metadata.dev = file_system.device;
        metadata.mnt_id = index as u64;
    }
    if let Some(rdev) = chunk.integer(Column::Rdev, at) {
        metadata.rdev = rdev.cast_unsigned();
    }
    let file_type = chunk.file_type(at);
    if file_type != ringwalk::FileType::Unknown {
        mask |= Fields::TYPE;
        metadata.mode |= u32::from(file_type as u8) << 12;
    }
    metadata.mask = mask;
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
