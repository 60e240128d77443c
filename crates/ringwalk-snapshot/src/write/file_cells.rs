//! The cells of a row that depend on its file alone.

#![expect(
    clippy::cast_possible_wrap,
    reason = "unsigned numbers of 64 bits are stored by their bits"
)]

use super::rows::Rows;
use crate::entry::{Attributes, Failure, Skipped};
use crate::kind::{extension, type_letter};
use crate::schema::{Column, Contents, HASH_BYTES};
use crate::time::clamp;
use ringwalk::FileType;

/// What is known of one file.
pub(crate) struct FileCells<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) file_type: FileType,
    pub(crate) attributes: &'a Attributes,
    pub(crate) target: Option<&'a [u8]>,
    pub(crate) failure: Option<Failure>,
    pub(crate) skipped: Option<Skipped>,
}

impl FileCells<'_> {
    /// Adds the cells to a row.
    #[inline]
    pub(crate) fn write(&self, contents: Contents, rows: &mut Rows) {
        let extension = extension(self.file_type, self.name);
        rows.bytes(Column::Ext, extension.map(str::as_bytes));
        let letter = type_letter(self.file_type);
        rows.bytes(Column::Type, letter.map(str::as_bytes));
        let is_clamped = times(self.attributes, contents, rows);
        rows.boolean(Column::Clamped, is_clamped);
        numbers(self.attributes, rows);
        rows.bytes(Column::Target, self.target);
        error(self.failure, self.skipped, rows);
        if contents.hash {
            let hash = self.attributes.hash.as_ref();
            rows.bytes(Column::Hash, hash.map(<[u8; HASH_BYTES]>::as_slice));
        }
    }
}

/// Adds the times. Returns true if one of them was clamped.
fn times(a: &Attributes, contents: Contents, rows: &mut Rows) -> bool {
    let mut clamped = false;
    let mut add = |column, time| {
        let value = match time {
            Some(time) => {
                let (nanoseconds, was_clamped) = clamp(time);
                clamped |= was_clamped;
                Some(nanoseconds)
            }
            None => None,
        };
        rows.number(column, value);
    };
    add(Column::Mtime, a.mtime);
    add(Column::Ctime, a.ctime);
    add(Column::Btime, a.btime);
    if contents.atime {
        add(Column::Atime, a.atime);
    }
    clamped
}

fn numbers(a: &Attributes, rows: &mut Rows) {
    // The largest size of a file is the largest `off_t`, which is signed.
    let bytes = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    rows.number(Column::Size, bytes(a.size));
    rows.number(Column::Alloc, bytes(a.alloc));
    rows.number(Column::Ino, a.ino.map(|ino| ino as i64));
    rows.number(Column::Mode, a.mode.map(i64::from));
    rows.number(Column::Nlink, a.nlink.map(i64::from));
    rows.number(Column::Uid, a.uid.map(i64::from));
    rows.number(Column::Gid, a.gid.map(i64::from));
    rows.number(Column::Rdev, a.rdev.map(|rdev| rdev as i64));
}

fn error(failure: Option<Failure>, skipped: Option<Skipped>, rows: &mut Rows) {
    let errno = failure.map(|failure| i64::from(failure.errno.raw_os_error()));
    rows.number(Column::Errno, errno);
    let operation = failure.map(|failure| failure.operation.as_str().as_bytes());
    rows.bytes(Column::Operation, operation);
    let skipped = skipped.map(|skipped| skipped.as_str().as_bytes());
    rows.bytes(Column::Skipped, skipped);
}
