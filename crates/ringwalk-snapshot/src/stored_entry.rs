//! The entry of a row: the way back from a file to a writer.

use crate::entry::{Attributes, Entry, FailedOperation, Failure, Skipped, stored_errno};
use crate::read::Chunk;
use crate::schema::Column;
use crate::time::unclamp;

/// The columns that make an entry, and place it.
pub(crate) const COLUMNS: [Column; 26] = [
    Column::Root,
    Column::Dir,
    Column::SelfDir,
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Size,
    Column::Alloc,
    Column::Mtime,
    Column::Ctime,
    Column::Btime,
    Column::Atime,
    Column::Ino,
    Column::Fs,
    Column::Mode,
    Column::Nlink,
    Column::Uid,
    Column::Gid,
    Column::Rdev,
    Column::Target,
    Column::Charged,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
    Column::Clamped,
    Column::Hash,
];

/// Returns the name that the root of a row has in the list of roots.
pub(crate) fn root_name(chunk: &Chunk, at: usize) -> [u8; 4] {
    let root = chunk.integer(Column::Root, at);
    let root = root.and_then(|root| u32::try_from(root).ok());
    // A writer finds out that there is no such root.
    root.unwrap_or(u32::MAX).to_be_bytes()
}

/// Returns the entry of a row of the columns [`COLUMNS`], with a name. `devices` has the device
/// number of each file system, by the column `fs`. The extended attributes are left to the caller.
///
/// [`Attributes::charged_once`] is the cell of the column `charged`, as a part has it.
///
/// # Errors
///
/// If a cell has a value that it cannot have: in words.
pub(crate) fn stored_entry<'c>(
    chunk: &'c Chunk,
    at: usize,
    name: &'c [u8],
    devices: &[u64],
) -> Result<Entry<'c>, String> {
    let mut entry = Entry::new(name, chunk.file_type(at));
    entry.attributes = attributes(chunk, at, devices)?;
    entry.target = chunk.bytes(Column::Target, at);
    let text = |column| chunk.bytes(column, at).map(String::from_utf8_lossy);
    if let Some(name) = text(Column::Operation) {
        let operation = FailedOperation::of_name(&name);
        let errno = chunk.integer(Column::Errno, at).and_then(stored_errno);
        entry.failure = Some(Failure {
            operation: operation.ok_or("an operation is not known")?,
            errno: errno.ok_or("an error has no number")?,
        });
    }
    if let Some(name) = text(Column::Skipped) {
        let skipped = Skipped::of_name(&name);
        entry.skipped = Some(skipped.ok_or("a reason for leaving out is not known")?);
    }
    Ok(entry)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "columns of 32 bits, and modes of 12 bits"
)]
fn attributes(chunk: &Chunk, at: usize, devices: &[u64]) -> Result<Attributes, String> {
    let number = |column| chunk.integer(column, at).map(i64::cast_unsigned);
    let narrow = |column| number(column).map(|number| number as u32);
    let is_set = |column| chunk.integer(column, at) == Some(1);
    let is_clamped = is_set(Column::Clamped);
    let time = |column| {
        let nanoseconds = chunk.integer(column, at)?;
        Some(unclamp(nanoseconds, is_clamped))
    };
    let device = |index: u64| {
        let index = usize::try_from(index).ok();
        let device = index.and_then(|index| devices.get(index));
        device
            .copied()
            .ok_or("a row is on a file system that the footer does not list")
    };
    Ok(Attributes {
        ino: number(Column::Ino),
        dev: number(Column::Fs).map(device).transpose()?,
        mode: narrow(Column::Mode).map(|mode| mode as u16),
        nlink: narrow(Column::Nlink),
        uid: narrow(Column::Uid),
        gid: narrow(Column::Gid),
        rdev: number(Column::Rdev),
        size: number(Column::Size),
        alloc: number(Column::Alloc),
        mtime: time(Column::Mtime),
        ctime: time(Column::Ctime),
        btime: time(Column::Btime),
        atime: time(Column::Atime),
        hash: chunk.hash(at).copied(),
        charged_once: is_set(Column::Charged),
    })
}
