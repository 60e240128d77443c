//! CSV.

use super::cells::{table, table_columns};
use crate::report::{Ranking, Report};
use crate::table_file::{push_csv_names, push_csv_row};

/// Returns a report as CSV (RFC 4180): a line of names, then a line for each row. Null is an empty
/// field.
pub fn csv(report: &Report, ranking: &Ranking<'_>) -> Vec<u8> {
    let columns = table_columns(report);
    let mut out = Vec::new();
    push_csv_names(&columns, &mut out);
    for row in table(report, ranking) {
        push_csv_row(&columns, &row, &mut out);
    }
    out
}
