//! The snapshot that is reported on: a file, or a new one of a directory.

use super::BAD_INPUT;
use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::quote::quoted;
use crate::snapshot::capture_unnamed;
use ringwalk_snapshot::Snapshot;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// Opens a snapshot, or reads a directory into a file without a name.
pub(super) fn open(input: &OsStr, options: &EngineOptions) -> Result<Snapshot, ExitCode> {
    let path = Path::new(input);
    if path.is_dir() {
        return Ok(capture_unnamed(path, false, options)?.0);
    }
    let refused = options.refuse(Lacks::Walk, "on a snapshot");
    refused.map_err(|message| {
        console::error(message);
        ExitCode::from(BAD_INPUT)
    })?;
    Snapshot::open(path).map_err(|error| {
        console::error(format_args!("{}: {}", quoted(error.path()), error.reason()));
        ExitCode::from(BAD_INPUT)
    })
}
