//! Parquet: the columns of the CSV.

use super::rows::{columns, for_each};
use crate::{Found, Group};
use ringwalk_answers::table_file::TableWriter;
use std::io::{self, Write};

/// Writes a Parquet file with the rows and columns of [`csv`](super::csv()). `hash` and the columns
/// `_raw` are bytes, as in snapshots: `hash` can be joined with the column of a snapshot.
///
/// Directories and similar directories are left out. Rows are in memory until there are
/// [`GROUP_ROWS`](ringwalk_snapshot::GROUP_ROWS) of them.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn parquet(found: &Found, out: &mut (impl Write + Send)) -> io::Result<()> {
    write(found.groups(), out)
}

pub(super) fn write(
    groups: impl Iterator<Item = Group>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut table = TableWriter::new("dupes", columns(), &mut *out)?;
    for_each(groups, |row| table.push(row))?;
    table.finish()?;
    out.flush()
}
