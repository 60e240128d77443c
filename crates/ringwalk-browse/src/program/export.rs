//! Writing a snapshot, or a part of it, in the format of a file.

use crate::saved::join;
use crate::service::{Export, Format, Matches};
use ringwalk_answers::exchange::{ExportError, write_ncdu_json, write_ndjson};
use ringwalk_output::Unpublished;
use ringwalk_snapshot::{RowCounter, Snapshot, excerpt};
use std::path::Path;

/// Writes all of a snapshot. The file appears whole or not at all, and never takes the place of
/// another one. Returns what is missing in it.
pub(super) fn export_all(
    snapshot: &Snapshot,
    export: &Export<'_>,
) -> Result<Option<String>, String> {
    let unpublished = new_file(export.file)?;
    let rows = RowCounter::default();
    let output = unpublished.file();
    let written = match export.format {
        Format::Ndjson => write_ndjson(snapshot, None, &rows, output),
        Format::Ncdu if snapshot.info().roots.len() > 1 => {
            return Err("ncdu's format has one root".to_owned());
        }
        Format::Ncdu => write_ncdu_json(snapshot, 0, &rows, output),
        Format::Snapshot => std::io::copy(&mut snapshot_file(snapshot)?, &mut &*output)
            .map(|_| ())
            .map_err(ExportError::Write),
    };
    written.map_err(|error| error.to_string())?;
    // It replaces nothing, so there are no rights that it could not keep.
    let published = unpublished.publish();
    published.map_err(|error| ringwalk_gnu::reason(&error))?;
    let is_complete = snapshot.info().verdict.complete;
    Ok((!is_complete).then(|| "some files could not be read".to_owned()))
}

/// Writes the file in a row of a snapshot, and everything below it, or what matches of that. `path`
/// is the path of the file, relative to the top of the browser. Returns what is missing.
pub(super) fn export_row(
    snapshot: &Snapshot,
    row: u64,
    path: &[u8],
    export: &Export<'_>,
) -> Result<Option<String>, String> {
    // Before work that may take long.
    drop(new_file(export.file)?);
    let keep = |below: &[u8]| match export.matches {
        Some(matches) => is_match(matches, &join(path, below)),
        None => true,
    };
    let part = excerpt(snapshot, row, keep).map_err(|error| error.to_string())?;
    let missing = export_all(&part, export)?;
    let unsearched = export.matches.and_then(Matches::error);
    Ok(unsearched.or(missing))
}

fn is_match(matches: &dyn Matches, path: &[u8]) -> bool {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    match slash {
        Some(slash) => matches.matched(&path[..slash], &path[slash + 1..]),
        None => matches.matched(b"", path),
    }
}

/// Begins a file that must not exist.
pub(super) fn new_file(file: &Path) -> Result<Unpublished, String> {
    if file.symlink_metadata().is_ok() {
        return Err("the file exists".to_owned());
    }
    Unpublished::new(file).map_err(|error| ringwalk_gnu::reason(&error))
}

/// Returns the file of a snapshot, from its begin.
fn snapshot_file(snapshot: &Snapshot) -> Result<std::fs::File, String> {
    use std::io::Seek as _;
    let reopened = format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(snapshot.file())
    );
    let file = std::fs::File::open(reopened).and_then(|mut file| file.rewind().map(|()| file));
    file.map_err(|error| ringwalk_gnu::reason(&error))
}
