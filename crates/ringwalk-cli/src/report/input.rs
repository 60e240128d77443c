//! The snapshot that is reported on: a file, or a new one of a directory.

use crate::engine_options::{EngineOptions, Lacks};
use crate::snapshot::capture_unnamed;
use crate::status::{Ended, failed, trouble};
use ringwalk_snapshot::cluster::is_live;
use ringwalk_snapshot::{Contents, Snapshot};
use std::ffi::OsStr;
use std::path::Path;

/// Opens a snapshot, or reads a directory into a file without a name, with these contents. With
/// `one_file_system`, other file systems below the directory are left out.
pub(super) fn open(
    input: &OsStr,
    one_file_system: bool,
    contents: Contents,
    options: &EngineOptions,
) -> Result<Snapshot, Ended> {
    let path = Path::new(input);
    if is_live(path) {
        return Ok(capture_unnamed(path, one_file_system, contents, options)?.0);
    }
    let refused = options.refuse(Lacks::Walk, "on a snapshot");
    refused.map_err(trouble)?;
    ringwalk_snapshot::open(path).map_err(|error| failed(error.path(), error.reason()))
}
