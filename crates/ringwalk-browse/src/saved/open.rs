//! Opening what a user names: a snapshot, the folder of a shared walk, or a file of ncdu.

use super::SnapshotView;
use ringwalk_answers::exchange::{ImportError, import_unnamed, may_be_ncdu};
use ringwalk_gnu::quote::file_always;
use ringwalk_snapshot::{ReadError, SnapshotTree, WriteOptions};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

impl SnapshotView {
    /// Opens a snapshot. For the folder of a shared walk, or a file of ncdu (JSON or binary), first
    /// makes a snapshot in an unnamed temporary file, which takes seconds for a million entries.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is in no known format, or is damaged. The error names the file
    /// and the reason.
    pub fn open(path: &Path) -> io::Result<Self> {
        let snapshot = match ncdu_file(path)? {
            Some(file) => import_unnamed(file, WriteOptions::default(), path).map_err(|error| {
                let kind = match &error {
                    ImportError::Read { error, .. } | ImportError::Write(error) => error.kind(),
                    ImportError::Content { .. } => io::ErrorKind::InvalidData,
                };
                named(path, kind, &error)
            })?,
            None => ringwalk_snapshot::open(path).map_err(|error| read_error(&error))?,
        };
        Self::new(Arc::new(SnapshotTree::new(snapshot)))
    }
}

/// Opens a file that may be one of ncdu. Returns `None` if it is something else.
fn ncdu_file(path: &Path) -> io::Result<Option<File>> {
    let failed = |error: io::Error| named(path, error.kind(), &ringwalk_gnu::reason(&error));
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Ok(None);
    }
    let mut first = [0; 8];
    let length = file.read_at(&mut first, 0).map_err(failed)?;
    Ok(may_be_ncdu(&first[..length]).then_some(file))
}

/// Returns an error that names a file.
fn named(path: &Path, kind: io::ErrorKind, reason: &dyn Display) -> io::Error {
    let name = file_always(path.as_os_str().as_encoded_bytes());
    io::Error::new(kind, format!("{name}: {reason}"))
}

/// Returns the error of a snapshot, which names the file.
pub(crate) fn read_error(error: &ReadError) -> io::Error {
    let kind = error.io_error().map(io::Error::kind);
    io::Error::new(
        kind.unwrap_or(io::ErrorKind::InvalidData),
        error.to_string(),
    )
}
