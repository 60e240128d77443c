//! What could not be read: an item of the walk's result, never its end.

use rustix::io::Errno;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What was being done when an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `statx` of an entry or of a root.
    Stat,
    /// Opening a directory.
    Open,
    /// `getdents64` of an open directory.
    Read,
    /// Descending, through a symbolic link here or above, into a directory that the walk is already inside of.
    Loop,
}

impl Operation {
    /// The operation as the beginning of a message: `cannot open directory`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stat => "cannot access",
            Self::Open => "cannot open directory",
            Self::Read => "cannot read directory",
            Self::Loop => "not followed again, file system loop at",
        }
    }
}

/// One thing that could not be read: operation, path and errno. The walk goes on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub(crate) operation: Operation,
    pub(crate) path: Vec<u8>,
    pub(crate) errno: Errno,
    pub(crate) vanished: bool,
    pub(crate) loops_with: Option<Vec<u8>>,
}

impl Error {
    /// Of an operation that somebody asked for by this path.
    #[cfg(feature = "async")]
    pub(crate) fn new(operation: Operation, path: Vec<u8>, errno: Errno) -> Self {
        Self {
            operation,
            path,
            errno,
            vanished: false,
            loops_with: None,
        }
    }

    /// What was being done.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The path, beginning with the root as it was given.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// The kernel's answer.
    pub fn errno(&self) -> Errno {
        self.errno
    }

    /// The path of the directory that this one, reached through a link, is once more; for
    /// [`Operation::Loop`].
    pub fn loops_with(&self) -> Option<&Path> {
        let path = self.loops_with.as_deref()?;
        Some(Path::new(OsStr::from_bytes(path)))
    }

    /// Whether this is a race rather than a failure: the entry was listed by its directory, and had been removed,
    /// moved or replaced by something else when the walk came to it. What is at its new place, or has taken its place,
    /// may not have been seen.
    pub fn is_vanished(&self) -> bool {
        self.vanished
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escaped: a name may hold anything, and messages go to terminals and logs.
        write!(
            f,
            "{} \"{}\": {}",
            self.operation.describe(),
            self.path.escape_ascii(),
            std::io::Error::from(self.errno)
        )
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        Self::new(std::io::Error::from(error.errno).kind(), error)
    }
}

/// A failed call before it has a path: most failures are turned into an [`Error`] by the worker that met them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) operation: Operation,
    pub(crate) errno: Errno,
}

impl Failure {
    /// Whether the entry, listed a moment ago as what the operation expects, is no longer there as such.
    ///
    /// `ENOTDIR` and `ELOOP` come from opening with `O_DIRECTORY | O_NOFOLLOW` what the directory had listed as a
    /// directory: something else has taken its place.
    pub(crate) fn is_race(self) -> bool {
        match self.operation {
            Operation::Stat | Operation::Read => self.errno == Errno::NOENT,
            Operation::Open => matches!(self.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP),
            Operation::Loop => false,
        }
    }

    /// Whether descriptors have run out, in the process or in the system.
    pub(crate) fn is_out_of_descriptors(self) -> bool {
        matches!(self.errno, Errno::MFILE | Errno::NFILE)
    }
}
