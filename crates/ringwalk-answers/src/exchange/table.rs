//! The rows of a snapshot as values, for formats that have one row after the other.

use std::io::Write;
use std::ops::Range;

use ringwalk_text::{push_escaped, push_hex};

use ringwalk_snapshot::{
    Chunk, Column, ExportError, RowCounter, Snapshot, Values, rfc3339, timestamp,
};

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Number(i64),
    Unsigned(u64),
    Boolean(bool),
    /// A time, written by [`push_time`].
    Time(i64),
    /// Text in UTF-8.
    Text(&'a [u8]),
}

/// How a column of the output comes from the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Unsigned,
    Boolean,
    Time,
    Text,
    /// Bytes as hexadecimal digits.
    Hex,
    /// Bytes with those that are not UTF-8 escaped.
    Escaped,
    /// Bytes that are not UTF-8 as hexadecimal digits.
    HexUnlessText,
    /// The path of a root.
    Root,
}

/// A column of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    column: Column,
    form: Form,
}

/// Returns the columns of the output: the columns of the file, the path of the root, and the bytes
/// of link targets that are not UTF-8.
pub(crate) fn fields(snapshot: &Snapshot) -> Vec<Field> {
    let mut fields = Vec::new();
    for column in Column::all().filter(|column| snapshot.has(*column)) {
        let form = match column.facts().values {
            _ if column == Column::Target => Form::Escaped,
            Values::Int32 | Values::Int64 => Form::Number,
            Values::Uint32 | Values::Uint64 => Form::Unsigned,
            Values::Time => Form::Time,
            Values::Boolean => Form::Boolean,
            Values::Text => Form::Text,
            Values::Bytes => Form::Hex,
        };
        let name = column.name();
        fields.push(Field { name, column, form });
        let more = match column {
            Column::Root => Some(("root_path", Form::Root)),
            Column::Target => Some(("target_raw", Form::HexUnlessText)),
            _ => None,
        };
        fields.extend(more.map(|(name, form)| Field { name, column, form }));
    }
    fields
}

/// A format with one row after the other.
pub(crate) trait RowFormat {
    /// Appends what comes before the first row.
    fn push_head(fields: &[Field], out: &mut Vec<u8>);

    /// Appends a value. `index` is the index of its field.
    fn push_value(index: usize, field: &Field, value: Value<'_>, out: &mut Vec<u8>);

    /// Appends the end of a row.
    fn push_end(out: &mut Vec<u8>);
}

/// Writes the rows of a snapshot, or of one of its roots. `progress` counts them.
pub(crate) fn write<F: RowFormat, W: Write>(
    snapshot: &Snapshot,
    root: Option<usize>,
    progress: &RowCounter,
    mut output: W,
) -> Result<(), ExportError> {
    let mut table = Table::new(snapshot);
    let fields = fields(snapshot);
    let mut columns: Vec<Column> = fields.iter().map(|field| field.column).collect();
    columns.dedup();
    let rows = rows_of(snapshot, root)?;
    progress.begin(rows.end - rows.start);
    let mut scan = snapshot.scan(rows, &columns)?;
    let mut text = Vec::new();
    F::push_head(&fields, &mut text);
    while let Some(chunk) = scan.next_chunk()? {
        for at in 0..chunk.len() {
            for (index, field) in fields.iter().enumerate() {
                let value = table.value(chunk, at, field);
                F::push_value(index, field, value, &mut text);
            }
            F::push_end(&mut text);
            if text.len() > BUFFER {
                output.write_all(&text)?;
                text.clear();
            }
        }
        progress.add(chunk.len() as u64);
    }
    output.write_all(&text)?;
    output.flush()?;
    Ok(())
}

/// Makes values from the cells of a snapshot.
struct Table {
    /// The paths of the roots, as text.
    roots: Vec<String>,
    scratch: Vec<u8>,
    text: String,
}

impl Table {
    fn new(snapshot: &Snapshot) -> Self {
        let roots = snapshot.info().roots.iter().map(|root| {
            let mut text = String::new();
            push_escaped(&root.path.0, &mut text);
            text
        });
        Self {
            roots: roots.collect(),
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    fn value<'a>(&'a mut self, chunk: &'a Chunk, at: usize, field: &Field) -> Value<'a> {
        let number = || chunk.integer(field.column, at);
        let bytes = || chunk.bytes(field.column, at);
        match field.form {
            Form::Number => number().map_or(Value::Null, Value::Number),
            Form::Unsigned => number().map_or(Value::Null, |n| Value::Unsigned(n.cast_unsigned())),
            Form::Boolean => number().map_or(Value::Null, |n| Value::Boolean(n != 0)),
            Form::Time => number().map_or(Value::Null, Value::Time),
            Form::Text => bytes().map_or(Value::Null, Value::Text),
            Form::Hex => self.hex(bytes()),
            Form::HexUnlessText => self.hex(bytes().filter(|b| std::str::from_utf8(b).is_err())),
            Form::Escaped => match bytes() {
                Some(bytes) => {
                    self.text.clear();
                    push_escaped(bytes, &mut self.text);
                    Value::Text(self.text.as_bytes())
                }
                None => Value::Null,
            },
            Form::Root => {
                let root = number().and_then(|root| usize::try_from(root).ok());
                let path = root.and_then(|root| self.roots.get(root));
                path.map_or(Value::Null, |path| Value::Text(path.as_bytes()))
            }
        }
    }

    fn hex(&mut self, bytes: Option<&[u8]>) -> Value<'_> {
        let Some(bytes) = bytes else {
            return Value::Null;
        };
        self.scratch.clear();
        push_hex(bytes, &mut self.scratch);
        Value::Text(&self.scratch)
    }
}

/// Returns the rows of a root, or all rows.
pub(crate) fn rows_of(snapshot: &Snapshot, root: Option<usize>) -> Result<Range<u64>, ExportError> {
    let Some(root) = root else {
        return Ok(0..snapshot.rows());
    };
    // The row of a root is the last one of its tree.
    let end = |root| -> Result<u64, ExportError> {
        let none = || ExportError::Format(format!("there is no root {root}"));
        Ok(snapshot.locate(root, b"")?.ok_or_else(none)? + 1)
    };
    let start = match root.checked_sub(1) {
        Some(before) => end(before)?,
        None => 0,
    };
    Ok(start..end(root)?)
}

/// Appends a time as `2026-11-23T02:21:01.123456789Z` (RFC 3339).
pub(crate) fn push_time(nanoseconds: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(rfc3339(timestamp(nanoseconds)).as_bytes());
}
