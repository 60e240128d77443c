//! The times of a file.

use ringwalk::{Fields, Metadata, Timestamp};

/// One of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Time {
    /// Last access.
    Access,
    /// Birth.
    Birth,
    /// Last change of the inode.
    Change,
    /// Last change of the contents.
    Modification,
}

impl Time {
    /// The times by their letters in `-newerXY`.
    pub(crate) const LETTERS: [(u8, Self); 4] = [
        (b'a', Self::Access),
        (b'B', Self::Birth),
        (b'c', Self::Change),
        (b'm', Self::Modification),
    ];

    /// Returns that time of a file. None if the file system does not keep it.
    pub fn of(self, metadata: &Metadata) -> Option<Timestamp> {
        match self {
            Self::Access => metadata.atime(),
            Self::Birth => metadata.btime(),
            Self::Change => metadata.ctime(),
            Self::Modification => metadata.mtime(),
        }
    }

    /// Returns the field of metadata that holds the time.
    pub(crate) fn field(self) -> Fields {
        match self {
            Self::Access => Fields::ATIME,
            Self::Birth => Fields::BTIME,
            Self::Change => Fields::CTIME,
            Self::Modification => Fields::MTIME,
        }
    }
}
