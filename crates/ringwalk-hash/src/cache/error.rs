//! What can go wrong, and why a hash is not kept.

use ringwalk::shown::one_line;
use ringwalk_gnu::reason;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a cache cannot be used, or could not be written.
#[derive(Debug)]
pub struct CacheError {
    path: PathBuf,
    kind: CacheErrorKind,
}

/// What is wrong with a cache.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheErrorKind {
    /// It cannot be opened or created.
    Open(io::Error),
    /// It cannot be read.
    Read(io::Error),
    /// New hashes could not be written. Those that were in the cache before are still there.
    Write(io::Error),
    /// Another process has it open.
    InUse,
    /// It is another kind of file. It has not been changed.
    NotACache,
    /// It is of another version of this program. It has not been changed.
    OtherVersion(u32),
    /// Its header is damaged. It has not been changed.
    Damaged,
}

impl CacheError {
    pub(super) fn new(path: &Path, kind: CacheErrorKind) -> Self {
        Self {
            path: path.to_owned(),
            kind,
        }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> &CacheErrorKind {
        &self.kind
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string_lossy();
        let path = one_line(path);
        match &self.kind {
            CacheErrorKind::Open(error) => {
                write!(f, "cannot open cache '{path}': {}", reason(error))
            }
            CacheErrorKind::Read(error) => {
                write!(f, "cannot read cache '{path}': {}", reason(error))
            }
            CacheErrorKind::Write(error) => {
                write!(f, "cannot write cache '{path}': {}", reason(error))
            }
            CacheErrorKind::InUse => write!(f, "cache '{path}' is in use by another process"),
            CacheErrorKind::NotACache => {
                write!(f, "'{path}' is not a cache of hashes: name another file")
            }
            CacheErrorKind::OtherVersion(version) => write!(
                f,
                "cache '{path}' has format {version}, which this version does not know: name \
                 another file"
            ),
            CacheErrorKind::Damaged => {
                write!(
                    f,
                    "the header of cache '{path}' is damaged: remove the file"
                )
            }
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            CacheErrorKind::Open(error)
            | CacheErrorKind::Read(error)
            | CacheErrorKind::Write(error) => Some(error),
            _ => None,
        }
    }
}

/// Why the hash of a file is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotKept {
    /// The file system is not btrfs, ext4 (or ext2, ext3), f2fs or XFS. Others may number inodes
    /// anew, or let a file change with its times unchanged.
    OtherType,
    /// The file system has no UUID of 16 bytes.
    NoUuid,
    /// The file system is mounted with `lazytime`. After a crash, a changed file can have its old
    /// times.
    LazyTime,
    /// The table of mounts cannot be read, so `lazytime` would stay unseen.
    NoMounts,
    /// The cache has not been shown the file system of this device
    /// ([`HashCache::file_system`](super::HashCache::file_system)).
    UnknownDevice,
    /// The file has no time of birth.
    NoBirthTime,
    /// A time of the file is before 1677 or after 2262.
    FarTime,
    /// The file was changed a short time before the cache was opened, or later, or has a time in
    /// the future. Its next version could have the same times.
    Young,
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherType => "the file system is not btrfs, ext4, f2fs or XFS",
            Self::NoUuid => "the file system has no UUID",
            Self::LazyTime => "the file system is mounted with lazytime",
            Self::NoMounts => "/proc/self/mountinfo cannot be read",
            Self::UnknownDevice => "the file system is not known",
            Self::NoBirthTime => "the file system has no birth times",
            Self::FarTime => "a time of the file is too far from now",
            Self::Young => "the file was changed a short time ago",
        })
    }
}

impl std::error::Error for NotKept {}
