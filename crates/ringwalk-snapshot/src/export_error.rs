//! Errors of an export.

use std::fmt;
use std::io;

use crate::read::ReadError;

/// An export that failed.
#[derive(Debug)]
pub enum ExportError {
    /// The snapshot could not be read.
    Read(ReadError),
    /// The output could not be written.
    Write(io::Error),
    /// The format cannot hold what the snapshot has.
    Format(String),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Format(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<ReadError> for ExportError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}
