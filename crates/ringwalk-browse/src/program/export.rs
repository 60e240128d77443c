//! Writing a snapshot in the format of a file.

use crate::service::Format;
use ringwalk_snapshot::exchange::{ExportError, write_ncdu_json, write_ndjson};
use ringwalk_snapshot::{RowCounter, Snapshot, Unpublished};
use std::path::Path;

/// Writes the tree of a root of a snapshot, or all for `None`. The file appears whole or not at
/// all, and never takes the place of another one.
pub(super) fn export(
    snapshot: &Snapshot,
    root: Option<usize>,
    format: Format,
    file: &Path,
) -> Result<(), String> {
    let unpublished = new_file(file)?;
    let rows = RowCounter::default();
    let output = unpublished.file();
    let written = match format {
        Format::Ndjson => write_ndjson(snapshot, root, &rows, output),
        Format::Ncdu if root.is_none() && snapshot.info().roots.len() > 1 => {
            return Err("ncdu's format has one root".to_owned());
        }
        Format::Ncdu => write_ncdu_json(snapshot, root.unwrap_or(0), &rows, output),
        Format::Snapshot => std::io::copy(&mut snapshot_file(snapshot)?, &mut &*output)
            .map(|_| ())
            .map_err(ExportError::Write),
    };
    written.map_err(|error| error.to_string())?;
    unpublished
        .publish()
        .map_err(|error| ringwalk_gnu::reason(&error))
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
