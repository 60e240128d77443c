//! ncdu's JSON, written (<https://dev.yorhel.nl/ncdu/jsonfmt>).

use std::io::Write;

use super::json_text::push_string;
use super::ncdu_object::{push_field, push_named};
use super::pages::{Pages, Row};
use super::table::rows_of;
use ringwalk_snapshot::{ExportError, Info, RowCounter, Snapshot};

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

/// A directory whose entries are being written.
struct Level {
    /// The next row of its listing.
    next: u64,
    /// The last one.
    last: u64,
    device: Option<u64>,
}

/// Writes the tree of one root of `snapshot` as ncdu's JSON with extended information. Memory does
/// not depend on the snapshot, apart from the depth of its trees. `progress` counts the rows.
///
/// # Errors
///
/// If the snapshot cannot be read, the output cannot be written, or the root is no directory.
pub fn write_ncdu_json<W: Write>(
    snapshot: &Snapshot,
    root: usize,
    progress: &RowCounter,
    output: W,
) -> Result<(), ExportError> {
    let mut writer = Writer {
        pages: Pages::new(snapshot),
        text: header(snapshot.info()),
        progress,
        output,
    };
    writer.tree(snapshot, root)?;
    writer.text.extend_from_slice(b"]\n");
    writer.output.write_all(&writer.text)?;
    writer.output.flush()?;
    Ok(())
}

/// Returns the beginning: the versions of the format, and metadata.
fn header(info: &Info) -> Vec<u8> {
    let mut out = b"[1,2,{\"progname\":\"".to_vec();
    push_string(info.tool.name.as_bytes(), &mut out);
    out.extend_from_slice(b"\",\"progver\":\"");
    push_string(info.tool.version.as_bytes(), &mut out);
    out.push(b'"');
    push_field("timestamp", Some(info.run.start.seconds), &mut out);
    out.push(b'}');
    out
}

struct Writer<'a, W> {
    pages: Pages<'a>,
    text: Vec<u8>,
    progress: &'a RowCounter,
    output: W,
}

impl<W: Write> Writer<'_, W> {
    fn tree(&mut self, snapshot: &Snapshot, root: usize) -> Result<(), ExportError> {
        let not_there = || ExportError::Format(format!("there is no root {root}"));
        let info = snapshot.info().roots.get(root).ok_or_else(not_there)?;
        let rows = rows_of(snapshot, Some(root))?;
        self.progress.begin(rows.end - rows.start);
        // The row of a root is the last one of its tree.
        let id = rows.end - 1;
        let row = self.pages.row(id)?;
        if !row.is_directory {
            let message = "ncdu's format needs a directory at the top";
            return Err(ExportError::Format(message.to_owned()));
        }
        let mut levels = Vec::new();
        let mut object = Vec::new();
        self.pages.push_object(id, &mut object)?;
        self.text.extend_from_slice(b",\n[");
        // The name of the root is its path; the row has an empty name.
        push_named(&info.path.0, &mut self.text);
        self.text
            .extend_from_slice(&object[b"{\"name\":\"\"".len()..]);
        self.progress.add(1);
        self.begin(id, row, None, &mut levels)?;
        let mut left = snapshot.rows();
        while let Some(level) = levels.last_mut() {
            if level.next > level.last {
                levels.pop();
                self.text.push(b']');
                continue;
            }
            let (id, device) = (level.next, level.device);
            level.next += 1;
            left = left.checked_sub(1).ok_or_else(damaged)?;
            self.entry(id, device, &mut levels)?;
            if self.text.len() > BUFFER {
                self.output.write_all(&self.text)?;
                self.text.clear();
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        id: u64,
        parent: Option<u64>,
        levels: &mut Vec<Level>,
    ) -> Result<(), ExportError> {
        let row = self.pages.row(id)?;
        self.progress.add(1);
        self.text
            .extend_from_slice(if row.is_directory { b",\n[" } else { b",\n" });
        self.pages.push_object(id, &mut self.text)?;
        if row.is_directory {
            return self.begin(id, row, parent, levels);
        }
        self.end_object(row, parent);
        Ok(())
    }

    /// Ends the object of a directory and begins its entries.
    fn begin(
        &mut self,
        id: u64,
        row: Row,
        parent: Option<u64>,
        levels: &mut Vec<Level>,
    ) -> Result<(), ExportError> {
        self.end_object(row, parent);
        let (next, last) = match (row.below, row.own) {
            (Some((first, last)), Some(own)) if first <= last && last < id => {
                (self.listing(own, first, last)?, last)
            }
            (None, _) => (1, 0),
            _ => return Err(damaged()),
        };
        levels.push(Level {
            next,
            last,
            device: row.device.or(parent),
        });
        Ok(())
    }

    /// Ends an object. ncdu writes the device number if it differs from the directory's.
    fn end_object(&mut self, row: Row, parent: Option<u64>) {
        if row.device != parent {
            let device = row.device.map(u64::cast_signed);
            push_field("dev", device, &mut self.text);
        }
        self.text.push(b'}');
    }

    /// Returns the first row of a directory's listing, which are the last rows below it.
    fn listing(&mut self, own: i64, first: u64, last: u64) -> Result<u64, ExportError> {
        // Rows from `inside` on belong to the listing, the row `outside - 1` does not.
        let (mut inside, mut outside) = (last, first);
        let mut step = 1;
        while inside > outside {
            let probe = inside.saturating_sub(step).max(outside);
            if self.pages.row(probe)?.dir == Some(own) {
                inside = probe;
                step *= 2;
            } else {
                outside = probe + 1;
                break;
            }
        }
        while outside < inside {
            let probe = outside + (inside - outside) / 2;
            if self.pages.row(probe)?.dir == Some(own) {
                inside = probe;
            } else {
                outside = probe + 1;
            }
        }
        Ok(inside)
    }
}

fn damaged() -> ExportError {
    ExportError::Format("the snapshot is damaged: rows of directories overlap".to_owned())
}
