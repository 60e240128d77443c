//! NDJSON: one object of JSON on each line.

use std::io::Write;

use super::json_text::{push_number, push_signed, push_string};
use super::table::{Field, RowFormat, Value, push_time, write};
use ringwalk_snapshot::{ExportError, RowCounter, Snapshot};

/// Writes each row of `snapshot`, or of one of its roots, as an object of JSON on a line of its
/// own. The members are the columns; a null is `null`. `progress` counts the rows.
///
/// # Errors
///
/// If the snapshot cannot be read, or the output cannot be written.
pub fn write_ndjson<W: Write>(
    snapshot: &Snapshot,
    root: Option<usize>,
    progress: &RowCounter,
    output: W,
) -> Result<(), ExportError> {
    write::<Ndjson, W>(snapshot, root, progress, output)
}

struct Ndjson;

impl RowFormat for Ndjson {
    fn push_head(_: &[Field], _: &mut Vec<u8>) {}

    fn push_value(index: usize, field: &Field, value: Value<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
        out.extend_from_slice(field.name.as_bytes());
        out.extend_from_slice(b"\":");
        match value {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Number(value) => push_signed(value, out),
            Value::Unsigned(value) => push_number(value, out),
            Value::Time(value) => {
                out.push(b'"');
                push_time(value, out);
                out.push(b'"');
            }
            Value::Text(text) => {
                out.push(b'"');
                push_text(text, out);
                out.push(b'"');
            }
        }
    }

    fn push_end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n");
    }
}

/// Appends text, with control characters beyond ASCII escaped, too: a terminal may obey them.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    push_string(text, out);
    if out[start..].is_ascii() {
        return;
    }
    let text = String::from_utf8_lossy(&out[start..]).into_owned();
    let text = ringwalk::shown::json(text);
    out.truncate(start);
    out.extend_from_slice(text.as_bytes());
}
