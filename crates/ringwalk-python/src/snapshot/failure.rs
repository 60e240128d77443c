//! Errors of snapshots as exceptions.

use crate::given::{Given, refused};
use crate::names::NameKind;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use ringwalk::{Errno, SourceError};
use ringwalk_answers::diff::DiffError;
use ringwalk_answers::report::ReportError;
use ringwalk_snapshot::cluster::TaskError;
use ringwalk_snapshot::{CaptureError, ReadError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Why work on snapshots has no result.
pub(crate) enum Failure {
    Read(ReadError),
    Capture(CaptureError),
    Task(TaskError),
    Source(SourceError),
    Diff(DiffError),
    Report(ReportError),
    /// A path within a snapshot has no meaning, or the snapshot does not have it.
    Under(io::Error),
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        Self::Task(error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<DiffError> for Failure {
    fn from(error: DiffError) -> Self {
        match error {
            DiffError::Read(error) => Self::Read(error),
            error => Self::Diff(error),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Read(error) => Self::Read(error),
            error => Self::Report(error),
        }
    }
}

/// The error for a path that a snapshot does not have.
pub(super) fn not_inside() -> Failure {
    Failure::Under(io::Error::from_raw_os_error(Errno::NOENT.raw_os_error()))
}

impl Failure {
    /// Returns the exception. `given` are the paths that the caller gave, and `under` is one within
    /// a snapshot.
    pub(crate) fn exception(
        &self,
        py: Python<'_>,
        given: &[&Given],
        under: Option<&Given>,
    ) -> PyErr {
        // Errors of three types, which have the same methods.
        macro_rules! of_path {
            ($error:expr) => {{
                let (path, io_error, reason) = ($error.path(), $error.io_error(), $error.reason());
                of_path(py, given, path, io_error, &reason, $error)
            }};
        }
        match self {
            Self::Read(error) => of_path!(error),
            Self::Capture(error) => of_path!(error),
            Self::Task(error) => of_path!(error),
            Self::Source(error) => refused(error),
            Self::Diff(error) => PyValueError::new_err(error.to_string()),
            Self::Report(error) => PyValueError::new_err(error.to_string()),
            Self::Under(error) => of_under(py, under, error),
        }
    }
}

/// Returns `OSError(errno, reason, filename)` for an error of the system, `ValueError` for
/// contents that are wrong.
fn of_path(
    py: Python<'_>,
    given: &[&Given],
    path: &Path,
    error: Option<&io::Error>,
    reason: &str,
    message: &dyn std::fmt::Display,
) -> PyErr {
    let Some(error) = error else {
        return PyValueError::new_err(message.to_string());
    };
    let Some(errno) = error.raw_os_error() else {
        return PyOSError::new_err(message.to_string());
    };
    let own = given.iter().find(|given| Path::new(&given.path) == path);
    let filename = match own {
        Some(given) => Ok(given.object.clone_ref(py)),
        None => NameKind::text(py)
            .and_then(|kind| kind.object(py, path.as_os_str().as_bytes()))
            .map(Bound::unbind),
    };
    match filename {
        Ok(filename) => PyOSError::new_err((errno, reason.to_owned(), filename)),
        Err(error) => error,
    }
}

fn of_under(py: Python<'_>, under: Option<&Given>, error: &io::Error) -> PyErr {
    let filename = under.map(|under| under.object.clone_ref(py));
    let noent = Errno::NOENT.raw_os_error();
    match error.raw_os_error() {
        Some(errno) if errno != noent => {
            let reason = error.to_string();
            PyOSError::new_err((errno, reason, filename))
        }
        _ => PyFileNotFoundError::new_err((noent, "not in the snapshot", filename)),
    }
}
