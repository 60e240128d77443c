//! CSV as RFC 4180 defines it.

use super::rows::{columns, for_each};
use crate::{Found, Group};
use ringwalk_answers::table_file::{push_csv_names, push_csv_row};
use std::io::{self, Write};

/// Writes a record for each name of each file, after a record of the names of the columns.
///
/// | column | contents |
/// |---|---|
/// | `group` | number of the group, from 1 |
/// | `size` | bytes of the file |
/// | `hash` | BLAKE3 of the contents; null if no file of the group was read |
/// | `keep` | `true` for the first file of the group, the one to keep, else `false` |
/// | `reference` | `true` if the file lies in a reference, else `false` |
/// | `snapshot` | number of the snapshot that has the file, from 0; null if it is live |
/// | `file` | number of the file in its group, from 1. Names of one file have the same number. |
/// | `ino` | inode number |
/// | `link` | number of the name among those of its file, from 1 |
/// | `shares_with` | path of the file of the group whose extents it shares, or null |
/// | `shares_with_raw` | bytes of that path if it is not UTF-8, else null |
/// | `path` | the path, with `\xHH` for each byte that is not UTF-8 |
/// | `path_raw` | bytes of the path if it is not UTF-8, else null |
///
/// Lines end in CR LF, a null is an empty field, and bytes are hexadecimal digits, as in the CSV of
/// snapshots. Control characters stay as they are. Directories and similar directories are left
/// out.
///
/// `out` gets a record at a time. It is flushed at the end.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn csv(found: &Found, out: &mut impl Write) -> io::Result<()> {
    write(found.groups(), out)
}

pub(super) fn write(groups: impl Iterator<Item = Group>, out: &mut impl Write) -> io::Result<()> {
    let columns = columns();
    let mut record = Vec::new();
    push_csv_names(&columns, &mut record);
    out.write_all(&record)?;
    for_each(groups, |row| {
        record.clear();
        push_csv_row(&columns, &row, &mut record);
        out.write_all(&record)
    })?;
    out.flush()
}
