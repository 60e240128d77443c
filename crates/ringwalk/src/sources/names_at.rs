//! What the names of a batch are relative to: a directory, or the working directory.

use crate::visit::metadata::Fields;
use crate::walk::root::Root;
use ringwalk_sys::{DirectoryFd, Statx, statx};
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

/// The base of the names of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamesAt<'a> {
    Directory(&'a DirectoryFd),
    /// A directory that was read without being opened.
    Unopened(&'a dyn OpenOnDemand),
    /// Paths relative to the working directory, or open descriptors, at the same index as their
    /// entries.
    Roots(&'a [Root]),
}

/// A directory that is opened when it is first needed, if it can be.
pub(crate) trait OpenOnDemand: std::fmt::Debug {
    /// Returns the directory, and opens it if it is not yet open.
    fn open(&self) -> Result<&DirectoryFd, Errno>;
}

impl<'a> NamesAt<'a> {
    /// Returns the open directory; `None` for roots.
    pub(crate) fn directory(&self) -> Result<Option<BorrowedFd<'a>>, Errno> {
        match *self {
            Self::Directory(fd) => Ok(Some(fd.as_fd())),
            Self::Unopened(directory) => directory.open().map(|fd| Some(fd.as_fd())),
            Self::Roots(_) => Ok(None),
        }
    }

    /// Calls `statx` once, relative to the directory: the path is one component.
    #[inline]
    pub(super) fn statx(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
        stat: &mut Statx,
    ) -> Result<(), Errno> {
        // As with stat(2) since Linux 4.11, the call triggers no automount.
        let mut flags = AtFlags::NO_AUTOMOUNT;
        if !follow {
            flags |= AtFlags::SYMLINK_NOFOLLOW;
        }
        let mask = fields.statx_mask();
        match self {
            Self::Directory(fd) => statx(fd, name, flags, mask, stat),
            Self::Unopened(directory) => statx(directory.open()?, name, flags, mask, stat),
            Self::Roots(roots) => match &roots[index].fd {
                Some(fd) => statx(fd, c"", flags | AtFlags::EMPTY_PATH, mask, stat),
                None => statx(CWD, name, flags, mask, stat),
            },
        }
    }
}
