//! Renaming to a name that must be free, on each file system.
//!
//! FUSE and some network file systems have no `RENAME_NOREPLACE`. There a program that makes a file
//! in the moment between two calls can lose it, but only under a name in the trash: the record of
//! that name belongs to this program.

use super::super::identity::Found;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

/// Says that a file system has no such flag of renameat2(2).
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Renames a file to a name that is free in the trash.
pub(super) fn rename_to_new(
    directory: BorrowedFd<'_>,
    old: &[u8],
    files: BorrowedFd<'_>,
    new: &[u8],
) -> Result<(), Errno> {
    match renameat_with(directory, old, files, new, RenameFlags::NOREPLACE) {
        Err(errno) if is_unsupported(errno) => match Found::at(files, new) {
            Err(Errno::NOENT) => renameat(directory, old, files, new),
            Err(errno) => Err(errno),
            Ok(_) => Err(Errno::EXIST),
        },
        renamed => renamed,
    }
}

/// Renames a file in the trash to the name that it had, unless another one has that by now.
pub(super) fn rename_back(
    files: BorrowedFd<'_>,
    name: &[u8],
    directory: BorrowedFd<'_>,
    old: &[u8],
) -> Result<(), Errno> {
    match renameat_with(files, name, directory, old, RenameFlags::NOREPLACE) {
        // The kernel refuses a name that is taken before it asks the file system. Later a directory
        // can take the place of nothing but an empty directory.
        Err(errno) if is_unsupported(errno) && Found::at(files, name)?.is_directory => {
            renameat(files, name, directory, old)
        }
        // A link fails if the name is taken.
        Err(errno) if is_unsupported(errno) => {
            linkat(files, name, directory, old, AtFlags::empty())?;
            unlinkat(files, name, AtFlags::empty())
        }
        renamed => renamed,
    }
}
