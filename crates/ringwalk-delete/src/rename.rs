//! Renaming to a name that must be free, on each file system.
//!
//! FUSE and some network file systems have no `RENAME_NOREPLACE`. There a program that makes a file
//! in the moment between two calls can lose it. So the new name must be one that only this program
//! uses: a name in the trash, whose record belongs to it, or a random one.

use super::identity::Found;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

/// Returns true if an error says that a file system has no such flag of renameat2(2).
pub fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Renames a file to a name that must be free.
///
/// # Errors
///
/// `EEXIST` if the name is taken; the errors of
/// [renameat2(2)](https://man7.org/linux/man-pages/man2/rename.2.html).
pub fn rename_to_new(
    directory: BorrowedFd<'_>,
    old: &[u8],
    to: BorrowedFd<'_>,
    new: &[u8],
) -> Result<(), Errno> {
    match renameat_with(directory, old, to, new, RenameFlags::NOREPLACE) {
        Err(errno) if is_unsupported(errno) => match Found::at(to, new) {
            Err(Errno::NOENT) => renameat(directory, old, to, new),
            Err(errno) => Err(errno),
            Ok(_) => Err(Errno::EXIST),
        },
        renamed => renamed,
    }
}

/// Renames a file back to the name that it had, unless another one has that by now.
///
/// # Errors
///
/// As [`rename_to_new`].
pub fn rename_back(
    from: BorrowedFd<'_>,
    name: &[u8],
    directory: BorrowedFd<'_>,
    old: &[u8],
) -> Result<(), Errno> {
    match renameat_with(from, name, directory, old, RenameFlags::NOREPLACE) {
        // The kernel refuses a name that is taken before it asks the file system. Later a directory
        // can take the place of nothing but an empty directory.
        Err(errno) if is_unsupported(errno) && Found::at(from, name)?.is_directory => {
            renameat(from, name, directory, old)
        }
        // A link fails if the name is taken.
        Err(errno) if is_unsupported(errno) => {
            linkat(from, name, directory, old, AtFlags::empty())?;
            unlinkat(from, name, AtFlags::empty())
        }
        renamed => renamed,
    }
}
