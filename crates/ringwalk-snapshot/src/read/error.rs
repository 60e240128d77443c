//! Why a file cannot be read as a snapshot.

use crate::schema::VERSION;
use ringwalk_gnu::quote::file_always;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be read as a snapshot.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    reason: Reason,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum Reason {
    Io(io::Error),
    /// What the file is instead.
    NotASnapshot(String),
    /// The version of its schema.
    OtherVersion(String),
    /// What is wrong.
    Damaged(String),
    /// Why no snapshot can be made of the folder of a walk.
    Parts(String),
}

impl Reason {
    /// Adds where the damage is.
    pub(super) fn within(self, place: &str) -> Self {
        match self {
            Self::Damaged(what) => Self::Damaged(format!("{place}: {what}")),
            other => other,
        }
    }
}

impl ReadError {
    pub(crate) fn new(path: &Path, reason: Reason) -> Self {
        Self {
            path: path.to_owned(),
            reason,
        }
    }

    /// Creates the error that no snapshot can be made of the folder of a walk.
    pub(crate) fn parts(path: &Path, error: Option<io::Error>, what: String) -> Self {
        Self::new(path, error.map_or(Reason::Parts(what), Reason::Io))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the error of the system; `None` if the contents of the file are wrong.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.reason {
            Reason::Io(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the reason, without the path.
    pub fn reason(&self) -> String {
        match &self.reason {
            Reason::Io(error) => ringwalk_gnu::reason(error),
            Reason::NotASnapshot(why) => format!("this is no snapshot: {why}"),
            Reason::OtherVersion(version) => format!(
                "its schema has version {version}, and this program reads version {VERSION}"
            ),
            Reason::Damaged(what) => format!("the snapshot is damaged: {what}"),
            Reason::Parts(what) => what.clone(),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = file_always(self.path.as_os_str().as_encoded_bytes());
        write!(f, "{path}: {}", self.reason())
    }
}

impl std::error::Error for ReadError {}
