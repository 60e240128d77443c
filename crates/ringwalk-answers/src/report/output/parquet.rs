//! Parquet: the columns of the CSV.

use super::cells::{table, table_columns};
use crate::report::{Ranking, Report};
use crate::table_file::write;
use std::io::{self, Write};

/// Writes a report as a Parquet file.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn parquet(report: &Report, ranking: &Ranking<'_>, out: impl Write + Send) -> io::Result<()> {
    let rows: Vec<_> = table(report, ranking).collect();
    let rows: Vec<_> = rows.iter().collect();
    write("report", &table_columns(report), &rows, out)
}
