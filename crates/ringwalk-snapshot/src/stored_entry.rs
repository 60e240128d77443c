//! The entry of a row: the way back from a file to a writer.

use crate::entry::{Entry, FailedOperation, Failure, Skipped, stored_errno};
use crate::read::Chunk;
use crate::schema::{ATTRIBUTES, AttributeSource, Attributes, Column, HASH_BYTES};
use crate::time::unclamp;
use ringwalk::Timestamp;

/// Returns the columns that make an entry, and place it.
pub fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::Root,
        Column::Dir,
        Column::SelfDir,
        Column::Path,
        Column::PathRaw,
        Column::Type,
        Column::Target,
        Column::Charged,
        Column::Errno,
        Column::Operation,
        Column::Skipped,
        Column::Clamped,
    ];
    columns.extend(ATTRIBUTES);
    columns
}

/// Returns the name that the root of a row has in the list of roots.
pub(crate) fn root_name(chunk: &Chunk, at: usize) -> [u8; 4] {
    let root = chunk.integer(Column::Root, at);
    let root = root.and_then(|root| u32::try_from(root).ok());
    // A writer finds out that there is no such root.
    root.unwrap_or(u32::MAX).to_be_bytes()
}

/// Returns the entry of a row of these [`columns`], with a name. `devices` has the device
/// number of each file system, by the column `fs`. The extended attributes are left to the caller.
///
/// [`Attributes::charged_once`] is the cell of the column `charged`, as a part has it.
///
/// # Errors
///
/// If a cell has a value that it cannot have: in words.
pub fn stored_entry<'c>(
    chunk: &'c Chunk,
    at: usize,
    name: &'c [u8],
    devices: &[u64],
) -> Result<Entry<'c>, String> {
    let mut entry = Entry::new(name, chunk.file_type(at));
    entry.attributes = Attributes::take(&mut Cells {
        chunk,
        at,
        is_clamped: chunk.integer(Column::Clamped, at) == Some(1),
    });
    entry.attributes.dev = device(chunk, at, devices)?;
    entry.attributes.charged_once = chunk.integer(Column::Charged, at) == Some(1);
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

/// Returns the device of a row.
fn device(chunk: &Chunk, at: usize, devices: &[u64]) -> Result<Option<u64>, String> {
    let Some(index) = chunk.integer(Column::Fs, at) else {
        return Ok(None);
    };
    let index = usize::try_from(index).ok();
    match index.and_then(|index| devices.get(index)) {
        Some(device) => Ok(Some(*device)),
        None => Err("a row is on a file system that the footer does not list".to_owned()),
    }
}

/// The attributes in the row `at` of a chunk, without the device: only the footer has it.
pub(crate) struct Cells<'c> {
    pub(crate) chunk: &'c Chunk,
    pub(crate) at: usize,
    /// True if a time of the row was clamped.
    pub(crate) is_clamped: bool,
}

impl AttributeSource for Cells<'_> {
    #[inline]
    fn number(&mut self, column: Column) -> Option<u64> {
        if column == Column::Fs {
            return None;
        }
        self.chunk.integer(column, self.at).map(i64::cast_unsigned)
    }

    #[inline]
    fn time(&mut self, column: Column) -> Option<Timestamp> {
        let nanoseconds = self.chunk.integer(column, self.at)?;
        Some(unclamp(nanoseconds, self.is_clamped))
    }

    #[inline]
    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
        // The length was checked when the column was read.
        self.chunk.bytes(column, self.at)?.try_into().ok()
    }
}
