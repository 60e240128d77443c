//! Why a file was kept.

use ringwalk::Errno;
use std::fmt;
use std::path::PathBuf;

/// Why nothing was done with a file. Its text follows the path: `'a/b': is open for writing`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The root cannot be opened.
    Root(Errno),
    /// The system has no `openat2`, or a filter, for example of a container, forbids it.
    NoOpenat2,
    /// The path cannot be one of a file below a root.
    Name,
    /// A directory above the file is missing, or something else has its name now.
    PathChanged,
    /// No file has this name any more.
    Missing,
    /// Another file has this name now, or a link, or a directory.
    Replaced,
    /// The file has changed since it was read.
    Changed,
    /// The file has more bytes than its file system says.
    FalseSize,
    /// The contents differ from the contents of the file to keep.
    Differs,
    /// A program has the file open for writing.
    OpenForWriting,
    /// A program wants to write to the file at this moment.
    BeingWritten,
    /// The file is the file to keep, under another name.
    Same,
    /// It is not sure that the file to keep will stay. Nothing more is done in its group.
    Keep(Box<Reason>),
    /// The file lies on another file system than the file to keep.
    OtherFileSystem,
    /// A hard link would change the owner or group.
    OtherOwner,
    /// A hard link would change the permissions.
    OtherPermissions,
    /// A hard link would change the extended attributes, such as access control lists.
    OtherAttributes,
    /// The file system allows no more hard links to the file to keep.
    TooManyLinks,
    /// Something is mounted on the file.
    MountPoint,
    /// The file system, or this mount of it, is read-only.
    ReadOnly,
    /// Files cannot share blocks here.
    NoSharing,
    /// These two files cannot share blocks, though others here can.
    CannotShare,
    /// The file shares all of its blocks with the file to keep already, or has none.
    AlreadyShared,
    /// The file is the log of deletions.
    Log,
    /// Another program took the name in the last moment, while the file that had it was moved aside
    /// and could not go. That file has this path now, in the same directory.
    Displaced(PathBuf),
    /// A temporary link to the file to keep could not be removed.
    LinkLeft(PathBuf),
    /// The trash could not take the file.
    Trash(ringwalk_delete::Reason),
    /// A call failed.
    Failed {
        /// What failed: `remove`, `open`, `read`.
        action: &'static str,
        /// The system's error.
        errno: Errno,
    },
}

impl Reason {
    /// Returns the reason of a failed call about a name.
    pub(super) fn of(action: &'static str, errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            // A symbolic link, or no directory, where there was none or one.
            Errno::LOOP | Errno::NOTDIR | Errno::ISDIR => Self::Replaced,
            Errno::BUSY => Self::MountPoint,
            Errno::ROFS => Self::ReadOnly,
            Errno::XDEV => Self::OtherFileSystem,
            Errno::MLINK => Self::TooManyLinks,
            _ => Self::Failed { action, errno },
        }
    }

    /// Returns this as the reason for the files of a group whose file to keep it concerns.
    pub(super) fn of_keep(self) -> Self {
        match self {
            Self::Keep(_) => self,
            other => Self::Keep(Box::new(other)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = |f: &mut fmt::Formatter<'_>, action: &str, errno: Errno| {
            let text = ringwalk_gnu::reason(&errno.into());
            write!(f, "cannot {action}: {text}")
        };
        f.write_str(match self {
            Self::Root(errno) => return failed(f, "open the root", *errno),
            Self::NoOpenat2 => {
                "nothing can be changed safely here, as openat2 fails: use Linux 5.6 or later, or a \
                 container that allows openat2"
            }
            Self::Name => "the path cannot lead to a file below the root",
            Self::PathChanged => "a directory above was moved or replaced",
            Self::Missing => "is no longer there",
            Self::Replaced => "is another file than the one that was read",
            Self::Changed => "has changed since it was read",
            Self::FalseSize => "has more bytes than the size that its file system reports",
            Self::Differs => "its contents differ now",
            Self::OpenForWriting => "is open for writing",
            Self::BeingWritten => "is being written at this moment",
            Self::Same => "is the file to keep under another name",
            Self::Keep(reason) => return write!(f, "the file to keep: {reason}"),
            Self::OtherFileSystem => "lies on another file system",
            Self::OtherOwner => "has another owner or group than the file to keep",
            Self::OtherPermissions => "has other permissions than the file to keep",
            Self::OtherAttributes => "has other extended attributes than the file to keep",
            Self::TooManyLinks => "the file to keep has as many hard links as the file system allows",
            Self::MountPoint => "is a mount point",
            Self::ReadOnly => "lies on a read-only file system",
            Self::NoSharing => "files cannot share blocks on this file system",
            Self::CannotShare => {
                "the file system lets it share no blocks with the file to keep, as if one of them \
                 is not copied on write (chattr +C)"
            }
            Self::AlreadyShared => "shares its blocks already",
            Self::Log => "is the log of deletions",
            Self::Displaced(path) => {
                let path = ringwalk_gnu::quote::file_always(path.as_os_str().as_encoded_bytes());
                return write!(
                    f,
                    "another program took its name in the last moment; the file that had the name \
                     is {path} now"
                );
            }
            Self::LinkLeft(path) => {
                let path = ringwalk_gnu::quote::file_always(path.as_os_str().as_encoded_bytes());
                return write!(f, "cannot remove {path}, a temporary link to the file to keep");
            }
            Self::Trash(reason) => return reason.fmt(f),
            Self::Failed { action, errno } => return failed(f, action, *errno),
        })
    }
}
