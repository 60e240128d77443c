//! Opening what a user names as a snapshot.

use crate::cluster::{Compact, TaskError, is_shared_walk};
use crate::read::{ReadError, Snapshot};
use std::path::Path;

/// Opens the snapshot at `path`. If the path is the folder of a finished walk that several
/// processes have shared, makes a snapshot in an unnamed temporary file.
///
/// # Errors
///
/// As [`Snapshot::open`]; and if the walk is not finished, or a part cannot be read.
pub fn open(path: &Path) -> Result<Snapshot, ReadError> {
    if is_shared_walk(path) {
        let compact = Compact::new(path);
        return compact.run_unnamed().map_err(TaskError::into_read_error);
    }
    Snapshot::open(path)
}
