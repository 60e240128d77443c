//! What tests and formats may ask about a file.

use ringwalk::{FileType, Metadata};
use rustix::io::Errno;
use std::borrow::Cow;

/// What is known, or can be found out, about one file. Answers that cost a system call are kept by whoever implements
/// this, so asking twice costs one.
pub trait Facts {
    /// The path, beginning with the starting point as it was given.
    fn path(&self) -> &[u8];

    /// Bytes of [`path`](Self::path) that are the starting point.
    fn root_len(&self) -> usize;

    /// Levels below the starting point.
    fn depth(&self) -> usize;

    /// The type: of what a link leads to where the search follows links.
    fn file_type(&self) -> FileType;

    /// The metadata: of what a link leads to where the search follows links.
    ///
    /// # Errors
    ///
    /// Those of statx(2). Whoever implements this has told the user of it.
    fn metadata(&self) -> Result<&Metadata, Errno>;

    /// What a symbolic link holds; none for other files, and for links that are followed.
    fn link_target(&self) -> Option<Vec<u8>>;

    /// The type of what a link leads to, through all links; for files that are no links their type.
    ///
    /// # Errors
    ///
    /// Those of stat(2): `ENOENT` or `ENOTDIR` for a link that leads nowhere, `ELOOP` for one that
    /// leads in circles. The call itself has reported all other errors.
    fn target_type(&self) -> Result<FileType, Errno>;

    /// Returns true for a symbolic link that cannot be followed, for whatever reason. Reports
    /// nothing to the user.
    fn is_orphan(&self) -> bool;

    /// The type of the file system that the file is on: `ext4`, or `unknown`.
    fn file_system(&self) -> Cow<'_, [u8]>;

    /// The label of `SELinux`, if there is one.
    fn context(&self) -> Option<Vec<u8>>;

    /// The name of the account with this number.
    fn user_name(&self, uid: u32) -> Option<Cow<'_, [u8]>>;

    /// The name of the group with this number.
    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>>;
}
