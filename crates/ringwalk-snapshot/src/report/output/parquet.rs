//! Parquet: the columns of the CSV.

use super::cells::{Cell, Kind, columns, table};
use crate::report::{Ranking, Report};
use crate::table_file::{self, Column, Values};
use parquet::errors::ParquetError;
use std::io::Write;

/// Writes a report as a Parquet file.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn parquet(
    report: &Report,
    ranking: &Ranking<'_>,
    out: impl Write + Send,
) -> Result<(), ParquetError> {
    let mut columns = columns(report);
    columns.push(("others", Kind::Integer));
    let columns = columns.into_iter().enumerate().map(|(at, (name, kind))| {
        let values = match kind {
            Kind::Text => Values::Text,
            Kind::Integer => Values::Number,
            Kind::Real => Values::Real,
        };
        Column::new(name, values, move |row: &Vec<Cell>| (&row[at]).into())
    });
    let columns: Vec<_> = columns.collect();
    let rows: Vec<_> = table(report, ranking).collect();
    let rows: Vec<_> = rows.iter().collect();
    table_file::write("report", &columns, &rows, out)
}

impl From<&Cell> for table_file::Cell {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Text(text) => text.as_str().into(),
            Cell::Integer(number) => Self::Number(*number),
            Cell::Real(number) => Self::Real(*number),
        }
    }
}
