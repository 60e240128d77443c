//! Why a task cannot be done, or parts cannot become a snapshot.

use crate::capture::CaptureError;
use crate::read::ReadError;
use ringwalk_gnu::quote::file_always;
use ringwalk_gnu::reason;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a task cannot be done, or parts cannot become a snapshot.
#[derive(Debug)]
pub struct TaskError(What);

#[derive(Debug)]
enum What {
    /// A file or a root cannot be read or written.
    Io(PathBuf, io::Error),
    /// A file does not have what it must have.
    Damaged(PathBuf, String),
    Capture(Box<CaptureError>),
    Reading(ReadError),
}

impl TaskError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self(What::Io(path.to_owned(), error))
    }

    pub(super) fn damaged(path: &Path, what: &str) -> Self {
        Self(What::Damaged(path.to_owned(), what.to_owned()))
    }

    /// Adds what to do about a file that is damaged.
    pub(super) fn with_remedy(self, remedy: &str) -> Self {
        match self.0 {
            What::Damaged(path, what) => Self(What::Damaged(path, format!("{what}: {remedy}"))),
            other => Self(other),
        }
    }

    /// Returns the path that the error is about.
    pub fn path(&self) -> &Path {
        match &self.0 {
            What::Io(path, _) | What::Damaged(path, _) => path,
            What::Capture(error) => error.path(),
            What::Reading(error) => error.path(),
        }
    }

    /// Returns the reason, as text that follows the path.
    pub fn reason(&self) -> String {
        match &self.0 {
            What::Io(_, error) => reason(error),
            What::Damaged(_, what) => what.clone(),
            What::Capture(error) => error.reason(),
            What::Reading(error) => error.reason(),
        }
    }

    /// Returns the error of the system; `None` if something else is wrong.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.0 {
            What::Io(_, error) => Some(error),
            What::Damaged(..) => None,
            What::Capture(error) => error.io_error(),
            What::Reading(error) => error.io_error(),
        }
    }
}

impl TaskError {
    /// Returns the error as one of a snapshot that cannot be read.
    pub(crate) fn into_read_error(self) -> ReadError {
        let (path, reason) = (self.path().to_owned(), self.reason());
        match self.0 {
            What::Reading(error) => error,
            What::Io(_, error) => ReadError::parts(&path, Some(error), reason),
            What::Damaged(..) | What::Capture(_) => ReadError::parts(&path, None, reason),
        }
    }
}

impl From<CaptureError> for TaskError {
    fn from(error: CaptureError) -> Self {
        Self(What::Capture(Box::new(error)))
    }
}

impl From<ReadError> for TaskError {
    fn from(error: ReadError) -> Self {
        Self(What::Reading(error))
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = file_always(self.path().as_os_str().as_bytes());
        write!(f, "{path}: {}", self.reason())
    }
}

impl std::error::Error for TaskError {}
