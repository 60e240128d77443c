//! The facts about a file that tests and formats ask for.

use ringwalk::{FileType, Metadata};
use rustix::io::Errno;
use std::borrow::Cow;

/// What a symbolic link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A file of this type.
    File(FileType),
    /// Nothing: a component of its path does not exist (`ENOENT`, `ENOTDIR`).
    Missing,
    /// A loop of links (`ELOOP`).
    Loop,
    /// The target could not be looked at.
    Unknown,
}

impl From<Result<FileType, Errno>> for LinkTarget {
    /// Returns the meaning of an answer of stat(2).
    fn from(answer: Result<FileType, Errno>) -> Self {
        match answer {
            Ok(file_type) => Self::File(file_type),
            Err(Errno::NOENT | Errno::NOTDIR) => Self::Missing,
            Err(Errno::LOOP) => Self::Loop,
            Err(_) => Self::Unknown,
        }
    }
}

/// The facts about one file that tests and formats ask for.
///
/// An implementation keeps answers that cost a system call, so asking twice costs one call. It also
/// reports each failure to the user, except where a method says otherwise: the answer then says
/// only that the fact is unknown.
pub trait Facts {
    /// Returns the path, beginning with the starting point as it was given.
    fn path(&self) -> &[u8];

    /// Returns the number of bytes of [`path`](Self::path) that are the starting point.
    fn root_len(&self) -> usize;

    /// Returns the number of levels below the starting point.
    fn depth(&self) -> usize;

    /// Returns the type. Where the search follows links, returns the type of the link's target.
    fn file_type(&self) -> FileType;

    /// Returns the metadata. Where the search follows links, returns the metadata of the link's
    /// target.
    ///
    /// # Errors
    ///
    /// The errors of statx(2).
    fn metadata(&self) -> Result<&Metadata, Errno>;

    /// Returns the target that a symbolic link holds. None for other files, and for followed links.
    fn link_target(&self) -> Option<Vec<u8>>;

    /// Returns what a link leads to through all links; for other files their own type.
    fn target(&self) -> LinkTarget;

    /// Returns true for a symbolic link that cannot be followed, for whatever reason. Reports
    /// nothing to the user.
    fn is_orphan(&self) -> bool;

    /// Returns the type of the file system that the file is on: `ext4`, or `unknown`.
    fn file_system(&self) -> Cow<'_, [u8]>;

    /// Returns the label of `SELinux`, if there is one.
    fn context(&self) -> Option<Vec<u8>>;

    /// Returns the name of the account with this number.
    fn user_name(&self, uid: u32) -> Option<Cow<'_, [u8]>>;

    /// Returns the name of the group with this number.
    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>>;
}
