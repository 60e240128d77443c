//! Errors of a walk: items of its result, never its end.

use rustix::io::Errno;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The operation that failed. Each has a number, which C programs compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// `statx` of an entry or of a root.
    Stat = 1,
    /// Opening a directory.
    Open = 2,
    /// `getdents64` of an open directory.
    Read = 3,
    /// Descending, through a symbolic link here or above, into a directory that the walk is already
    /// inside of.
    Loop = 4,
}

impl Operation {
    /// All operations, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Stat, Self::Open, Self::Read, Self::Loop];

    /// Returns the number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name, in lower case: `open`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Open => "open",
            Self::Read => "read",
            Self::Loop => "loop",
        }
    }

    /// Returns the operation as the beginning of a message: `cannot open directory`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stat => "cannot access",
            Self::Open => "cannot open directory",
            Self::Read => "cannot read directory",
            Self::Loop => "not followed again, file system loop at",
        }
    }
}

/// A file or directory that could not be read: operation, path and errno. The walk goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub(crate) operation: Operation,
    pub(crate) path: Vec<u8>,
    pub(crate) depth: usize,
    pub(crate) errno: Errno,
    pub(crate) vanished: bool,
    pub(crate) loops_with: Option<Vec<u8>>,
}

impl Error {
    /// Creates the error of an operation on a path that the caller gave.
    pub(crate) fn new(operation: Operation, path: Vec<u8>, errno: Errno) -> Self {
        Self {
            operation,
            path,
            depth: 0,
            errno,
            vanished: false,
            loops_with: None,
        }
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the path, beginning with the root as it was given.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Returns the depth of the path below the root; 0 for a root itself, and for an error without
    /// a walk.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the error number of the kernel.
    pub fn errno(&self) -> Errno {
        self.errno
    }

    /// Returns, for [`Operation::Loop`], the path of the ancestor that is the same directory as
    /// this one.
    pub fn loops_with(&self) -> Option<&Path> {
        let path = self.loops_with.as_deref()?;
        Some(Path::new(OsStr::from_bytes(path)))
    }

    /// Returns true if the error is a race: a directory listed the entry, but the entry was
    /// removed, moved or replaced before the walk came to it. The walk may not have seen the entry
    /// at its new place, nor its replacement.
    pub fn is_vanished(&self) -> bool {
        self.vanished
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names are escaped: they may hold any bytes, and messages go to terminals and logs.
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

/// A failed call without a path. The worker makes an [`Error`] of most failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) operation: Operation,
    pub(crate) errno: Errno,
}

impl Failure {
    /// Returns true if the entry is gone, or has another type than the directory had listed.
    ///
    /// `ENOTDIR` and `ELOOP` come from opening with `O_DIRECTORY | O_NOFOLLOW`: something else has
    /// replaced an entry that was listed as a directory.
    pub(crate) fn is_race(self) -> bool {
        match self.operation {
            Operation::Stat | Operation::Read => self.errno == Errno::NOENT,
            Operation::Open => matches!(self.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP),
            Operation::Loop => false,
        }
    }

    /// Returns true if descriptors have run out, in the process or in the system.
    pub(crate) fn is_out_of_descriptors(self) -> bool {
        matches!(self.errno, Errno::MFILE | Errno::NFILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_operations_are_listed_by_their_numbers() {
        for (operation, number) in Operation::ALL.into_iter().zip(1..) {
            assert_eq!(operation.number(), number);
            // An operation that is added must be counted here, and so in `ALL`.
            let at = match operation {
                Operation::Stat => 0,
                Operation::Open => 1,
                Operation::Read => 2,
                Operation::Loop => 3,
            };
            assert_eq!(Operation::ALL[at], operation);
        }
        assert_eq!(Operation::ALL.len(), 4);
    }
}
