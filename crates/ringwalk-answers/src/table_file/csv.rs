//! Tables as CSV (RFC 4180). Lines end in CR LF.

use super::{Cell, Column, Values};
use ringwalk_snapshot::{rfc3339, timestamp};
use ringwalk_text::{hex, push_csv};

/// Appends the names of the columns as a record.
pub fn push_csv_names<R>(columns: &[Column<'_, R>], out: &mut Vec<u8>) {
    push_record(columns, out, |column, out| {
        push_csv(column.name().as_bytes(), out);
    });
}

/// Appends a row as a record. A null is an empty field, an empty text is `""`. Bytes are written as
/// hexadecimal digits.
pub fn push_csv_row<R>(columns: &[Column<'_, R>], row: &R, out: &mut Vec<u8>) {
    push_record(columns, out, |column, out| {
        let text = match column.cell(row) {
            Cell::Null => return,
            Cell::Text(bytes) if column.values() == Values::Bytes => hex(&bytes),
            Cell::Text(text) => return push_csv(&text, out),
            Cell::Number(time) if column.values() == Values::Time => rfc3339(timestamp(time)),
            Cell::Number(number) if column.values() == Values::Unsigned => {
                number.cast_unsigned().to_string()
            }
            Cell::Number(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
            Cell::Boolean(boolean) => boolean.to_string(),
        };
        out.extend_from_slice(text.as_bytes());
    });
}

fn push_record<R>(
    columns: &[Column<'_, R>],
    out: &mut Vec<u8>,
    push: impl Fn(&Column<'_, R>, &mut Vec<u8>),
) {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push(column, out);
    }
    out.extend_from_slice(b"\r\n");
}
