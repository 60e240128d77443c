//! Why a snapshot cannot be reported on.

use ringwalk_snapshot::ReadError;
use std::fmt;

/// The reason why a snapshot cannot be reported on.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The snapshot cannot be read.
    Read(ReadError),
    /// The path is not in the snapshot.
    NotInside(Vec<u8>),
    /// There is no key.
    NoKeys,
    /// The key [`Key::Project`](super::Key::Project) was given for a snapshot without project ids.
    NoProjects,
    /// The work was stopped by [`ReportOptions::stop`](super::ReportOptions::stop).
    Stopped,
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::NotInside(path) => {
                let path = String::from_utf8_lossy(path);
                let path = ringwalk::shown::one_line(&*path);
                write!(f, "'{path}' is not in the snapshot")
            }
            Self::NoKeys => f.write_str("a report needs at least one key"),
            Self::NoProjects => f.write_str(
                "the snapshot has no project ids: `ringwalk snapshot --projid` saves them",
            ),
            Self::Stopped => f.write_str("the report was stopped"),
        }
    }
}

impl std::error::Error for ReportError {}

impl From<ReadError> for ReportError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
