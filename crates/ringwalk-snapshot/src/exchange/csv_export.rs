//! CSV as RFC 4180 defines it.

use std::io::Write;

use super::export_error::ExportError;
use super::json_text::{push_number, push_signed};
use super::table::{Field, RowFormat, Value, push_time, write};
use crate::{RowCounter, Snapshot};

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
            Value::Text(text) => push_text(text, out),
        }
    }

    fn push_end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends text, in quotes if it needs them.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let at_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    if !text.iter().any(special) && !at_end(text.first()) && !at_end(text.last()) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
