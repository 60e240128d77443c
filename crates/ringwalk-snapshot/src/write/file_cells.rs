//! The cells of a row that depend on its file alone.

use super::rows::Rows;
use crate::entry::{Entry, Failure};
use crate::kind::{extension, type_letter};
use crate::schema::{AttributeSink, Column, Contents, HASH_BYTES, Values};
use crate::time::clamp;
use ringwalk::Timestamp;

/// Adds the cells of an entry to a row, without its place and its extended attributes. `failure` is
/// what could not be read of it.
#[inline]
pub(crate) fn write(
    entry: &Entry<'_>,
    failure: Option<Failure>,
    contents: Contents,
    rows: &mut Rows,
) {
    let extension = extension(entry.file_type, entry.name);
    rows.bytes(Column::Ext, extension.map(str::as_bytes));
    let letter = type_letter(entry.file_type);
    rows.bytes(Column::Type, letter.map(str::as_bytes));
    let mut attributes = AttributeCells {
        contents,
        rows,
        is_clamped: false,
    };
    entry.attributes.give(&mut attributes);
    let is_clamped = attributes.is_clamped;
    rows.boolean(Column::Clamped, is_clamped);
    rows.bytes(Column::Target, entry.target);
    let errno = failure.map(|failure| i64::from(failure.errno.raw_os_error()));
    rows.number(Column::Errno, errno);
    let operation = failure.map(|failure| failure.operation.as_str().as_bytes());
    rows.bytes(Column::Operation, operation);
    let skipped = entry.skipped.map(|skipped| skipped.as_str().as_bytes());
    rows.bytes(Column::Skipped, skipped);
}

/// Adds the cells of attributes to a row.
struct AttributeCells<'r> {
    contents: Contents,
    rows: &'r mut Rows,
    /// True if a time was clamped.
    is_clamped: bool,
}

impl AttributeSink for AttributeCells<'_> {
    #[inline]
    fn number(&mut self, column: Column, value: Option<u64>) {
        // The number of a device becomes an index, which the caller adds.
        if column == Column::Fs || !self.contents.has(column) {
            return;
        }
        let cell = |value: u64| match column.facts().values {
            // The largest size of a file is the largest `off_t`, which is signed.
            Values::Int64 => i64::try_from(value).unwrap_or(i64::MAX),
            _ => value.cast_signed(),
        };
        self.rows.number(column, value.map(cell));
    }

    #[inline]
    fn time(&mut self, column: Column, value: Option<Timestamp>) {
        if !self.contents.has(column) {
            return;
        }
        let cell = value.map(|time| {
            let (nanoseconds, is_clamped) = clamp(time);
            self.is_clamped |= is_clamped;
            nanoseconds
        });
        self.rows.number(column, cell);
    }

    #[inline]
    fn bytes(&mut self, column: Column, value: Option<&[u8; HASH_BYTES]>) {
        if self.contents.has(column) {
            self.rows
                .bytes(column, value.map(<[u8; HASH_BYTES]>::as_slice));
        }
    }
}
