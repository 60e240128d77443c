//! Why a file has no hash.

use ringwalk::Errno;

/// Why a file has no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It could not be opened.
    Open(Errno),
    /// Its metadata could not be read.
    Stat(Errno),
    /// It could not be read.
    Read(Errno),
    /// It is no regular file.
    Irregular,
    /// It was changed while it was read, or after it was found.
    Changed,
    /// It has more bytes than its file system says. A FUSE server can report a wrong size.
    FalseSize,
}

impl Fault {
    /// Returns the error of the system, if there is one.
    pub fn errno(self) -> Option<Errno> {
        match self {
            Self::Open(errno) | Self::Stat(errno) | Self::Read(errno) => Some(errno),
            Self::Irregular | Self::Changed | Self::FalseSize => None,
        }
    }

    /// Returns the reason in words, for a fault that is no error of the system.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Open(_) | Self::Stat(_) | Self::Read(_) => None,
            Self::Irregular => Some("not a regular file"),
            Self::Changed => Some("changed while it was read"),
            Self::FalseSize => Some("has more bytes than the size that its file system reports"),
        }
    }
}
