//! The two snapshots.

use crate::engine_options::{EngineOptions, Lacks};
use crate::quote::quoted;
use crate::snapshot::capture_unnamed;
use crate::status::{Ended, failed, trouble};
use ringwalk_answers::diff::contents_to_compare;
use ringwalk_snapshot::cluster::is_live;
use ringwalk_snapshot::{ReadError, Skipped, Snapshot};
use std::ffi::OsStr;
use std::path::Path;

/// Opens a snapshot.
pub(crate) fn open(path: &OsStr) -> Result<Snapshot, Ended> {
    let path = Path::new(path);
    if is_live(path) {
        return Err(trouble(format_args!(
            "{} is a directory, and OLD must be a snapshot; take one first with ringwalk snapshot",
            quoted(path)
        )));
    }
    ringwalk_snapshot::open(path).map_err(|error| unreadable(&error))
}

/// Opens a snapshot, or takes one of a directory, which goes into an unnamed temporary file.
pub(super) fn open_or_take(
    path: &OsStr,
    old: &Snapshot,
    options: &EngineOptions,
) -> Result<Snapshot, Ended> {
    if !is_live(Path::new(path)) {
        let refused = options.refuse(Lacks::Walk, "on two snapshots");
        refused.map_err(trouble)?;
        return open(path);
    }
    // A snapshot is compared with one that was taken the same way.
    let stays = old.has_skipped(Skipped::OtherFs);
    let stays = stays.map_err(|error| unreadable(&error))?;
    let contents = contents_to_compare(old);
    Ok(capture_unnamed(Path::new(path), stays, contents, options)?.0)
}

/// Reports a file that is no readable snapshot.
pub(super) fn unreadable(error: &ReadError) -> Ended {
    failed(error.path(), error.reason())
}
