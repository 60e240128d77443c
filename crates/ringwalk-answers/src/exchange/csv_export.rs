//! CSV as RFC 4180 defines it.

use std::io::Write;

use ringwalk_text::push_csv;

use super::json_text::{push_number, push_signed};
use super::table::{Field, RowFormat, Value, push_time, write};
use ringwalk_snapshot::{ExportError, RowCounter, Snapshot};

/// Writes each row of `snapshot`, or of one of its roots, as a record, after a record of the names
/// of the columns. A null is an empty field, an empty text is `""`.
/// `progress` counts the rows.
///
/// # Errors
///
/// If the snapshot cannot be read, or the output cannot be written.
pub fn write_csv<W: Write>(
    snapshot: &Snapshot,
    root: Option<usize>,
    progress: &RowCounter,
    output: W,
) -> Result<(), ExportError> {
    write::<Csv, W>(snapshot, root, progress, output)
}

struct Csv;

impl RowFormat for Csv {
    fn push_head(fields: &[Field], out: &mut Vec<u8>) {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(field.name.as_bytes());
        }
        Self::push_end(out);
    }

    fn push_value(index: usize, _: &Field, value: Value<'_>, out: &mut Vec<u8>) {
        if index > 0 {
            out.push(b',');
        }
        match value {
            Value::Null => {}
            Value::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Number(value) => push_signed(value, out),
            Value::Unsigned(value) => push_number(value, out),
            Value::Time(value) => push_time(value, out),
            Value::Text(text) => push_csv(text, out),
        }
    }

    fn push_end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
    }
}
