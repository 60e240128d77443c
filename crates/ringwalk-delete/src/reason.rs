//! Why an entry was kept.

use rustix::io::Errno;
use std::fmt;

/// Why an entry was not deleted. Its text follows the path: `'a/b': contains a mount point`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The entry is a root of the view.
    Root,
    /// The name is empty, `.` or `..`, or has a slash or NUL.
    Name,
    /// Something is mounted on the entry.
    MountPoint,
    /// The entry lies on another file system, subvolume or mount than the root.
    OtherFileSystem,
    /// The directory would take a mount point into the trash.
    HoldsMountPoint,
    /// No entry has this name any more.
    Missing,
    /// Another file has this name now.
    Replaced,
    /// The file has changed, and its file system has no time of birth that says whether it is still
    /// the same one.
    Changed,
    /// A directory above the entry is missing, or another one has its name now.
    PathChanged,
    /// The directory has entries that were not shown.
    NotShown,
    /// Entries in the directory were kept. Each has its own reason.
    HoldsKept,
    /// The entry is the log of deletions.
    Log,
    /// The log of deletions is in the directory.
    HoldsLog,
    /// The trash is on another file system, and no trash can be used on this one.
    NoTrash,
    /// The directory of the trash exists but is not safe: a symbolic link, not a directory, of
    /// another user, or writable by others.
    UnsafeTrash,
    /// The entry is in a trash, and would lose its origin.
    InTrash,
    /// The name is taken in the trash, with each number that was tried.
    TrashNames,
    /// Another file took the name at the moment of the move. That file is in the trash and could
    /// not be moved back.
    WrongFileInTrash,
    /// A call failed.
    Failed {
        /// What failed: `remove`, `open`, `read`.
        action: &'static str,
        /// The system's error.
        errno: Errno,
    },
}

impl Reason {
    /// Returns the reason of a failed call about a name. Some errors say that the name has changed.
    pub(super) fn of(action: &'static str, errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            // openat2 found a symbolic link, or no directory, where a directory was shown.
            Errno::LOOP | Errno::NOTDIR => Self::Replaced,
            _ => Self::Failed { action, errno },
        }
    }

    /// Returns the reason for an entry below a directory that this is the reason of.
    pub(super) fn below(self) -> Self {
        match self {
            Self::Missing | Self::Replaced => Self::PathChanged,
            Self::MountPoint => Self::OtherFileSystem,
            other => other,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "is a root of this view",
            Self::Name => "the name cannot be an entry of a directory",
            Self::MountPoint => "is a mount point",
            Self::OtherFileSystem => "lies on another file system",
            Self::HoldsMountPoint => "contains a mount point",
            Self::Missing => "is no longer there",
            Self::Replaced => "is another file than the one shown",
            Self::Changed => {
                "has changed since it was shown, and may be another file: read it again"
            }
            Self::PathChanged => "a directory above was moved or replaced",
            Self::NotShown => "contains entries that were not shown",
            Self::HoldsKept => "contains entries that were kept",
            Self::Log => "is the log of deletions",
            Self::HoldsLog => "contains the log of deletions",
            Self::NoTrash => "there is no trash on this file system",
            Self::UnsafeTrash => {
                "the trash is not a directory of this user alone: check its owner and permissions"
            }
            Self::InTrash => "is in a trash already",
            Self::TrashNames => "too many files of this name are in the trash: empty it",
            Self::WrongFileInTrash => {
                "another file had taken its name, and is in the trash now: restore it from there"
            }
            Self::Failed { action, errno } => {
                let text = ringwalk_gnu::reason(&(*errno).into());
                return write!(f, "cannot {action}: {text}");
            }
        })
    }
}
