//! Errors of decoding.

use std::fmt;

/// How many times a structure with a wrong checksum is read. On a mounted file system the kernel
/// may be changing it at that moment. That takes about a microsecond, and so does another read. It
/// takes longer if the kernel is held up: a caller may read again after a pause.
pub(crate) const TRIES: usize = 4;

/// The reason why something could not be decoded.
#[derive(Debug)]
pub enum Error {
    /// Reading failed.
    Io(std::io::Error),
    /// Not an ext2, ext3 or ext4 file system: the magic number is missing.
    NotExt4,
    /// A feature that this reader does not know: its name in tune2fs(8), or its bit.
    Unsupported(String),
    /// A checksum does not match. Names the structure.
    Checksum(&'static str),
    /// An invalid value. Names it.
    Corrupt(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotExt4 => f.write_str("not an ext2, ext3 or ext4 file system"),
            Self::Unsupported(feature) => write!(f, "unknown feature {feature}"),
            Self::Checksum(what) => write!(f, "wrong checksum of {what}"),
            Self::Corrupt(what) => write!(f, "damaged: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
