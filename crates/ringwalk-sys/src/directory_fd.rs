//! An open directory that closes with fewer steps.

use crate::getdents::last_errno;
use rustix::io::Errno;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// The descriptor of an open directory. It closes the directory when dropped, as [`OwnedFd`] does.
///
/// `OwnedFd` calls the C library's `close`, which is a cancellation point: in a program with
/// several threads it notes before and after the call that the thread may be cancelled. No thread
/// of this project is ever cancelled. A walk closes every directory that it opens, and a direct
/// system call saves 1 % of a walk from the page cache.
#[derive(Debug)]
pub struct DirectoryFd(RawFd);

impl DirectoryFd {
    /// Closes the directory and returns the error of the call.
    ///
    /// # Errors
    ///
    /// The errors of [close(2)](https://man7.org/linux/man-pages/man2/close.2.html). The descriptor
    /// is closed even after an error.
    pub fn close(self) -> Result<(), Errno> {
        let fd = ManuallyDrop::new(self).0;
        // SAFETY: the descriptor came from an `OwnedFd`, so it is ours to close; `self` is gone,
        // and is not dropped.
        let status = unsafe { libc::syscall(libc::SYS_close, fd) };
        if status == 0 {
            Ok(())
        } else {
            Err(last_errno())
        }
    }
}

impl From<OwnedFd> for DirectoryFd {
    fn from(fd: OwnedFd) -> Self {
        Self(fd.into_raw_fd())
    }
}

impl AsFd for DirectoryFd {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor came from an `OwnedFd` and stays open until this is dropped, which
        // the borrow forbids; an `OwnedFd` is never -1.
        unsafe { BorrowedFd::borrow_raw(self.0) }
    }
}

impl AsRawFd for DirectoryFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

impl Drop for DirectoryFd {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the descriptor came from an `OwnedFd`, so it is ours to close, and nobody can
        // borrow it any more. As with `OwnedFd`, an error is not reported: on Linux close(2) always
        // removes the descriptor.
        unsafe {
            libc::syscall(libc::SYS_close, self.0);
        }
    }
}

/// Returns a new descriptor for the open file of the descriptor `number`. Both share one position.
///
/// This is for bindings to other languages, whose programs use numbers where Rust uses
/// [`BorrowedFd`]. If the number was closed and used again, it is another file: the caller must
/// prevent that.
///
/// # Errors
///
/// The errors of fcntl(2), `F_DUPFD_CLOEXEC`: `EBADF` if `number` is not an open descriptor.
pub fn duplicate(number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: no memory is given to the kernel; a number that is no descriptor's is an error.
    let fd = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if fd < 0 {
        return Err(last_errno());
    }
    // SAFETY: the call has made this descriptor, so it is open and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::fcntl_getfd;

    #[test]
    fn duplicates_are_of_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = std::fs::File::open(dir.path()).unwrap();
        let copy = std::fs::File::from(duplicate(file.as_raw_fd()).unwrap());
        let ino =
            |file: &std::fs::File| std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
        assert_eq!(ino(&copy), ino(&file));
        assert_eq!(duplicate(-1).unwrap_err(), Errno::BADF);
    }

    #[test]
    fn it_is_closed_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let fd = DirectoryFd::from(OwnedFd::from(std::fs::File::open(dir.path()).unwrap()));
        assert!(fcntl_getfd(&fd).is_ok());
        // A number that no other test opens meanwhile.
        let high = rustix::io::fcntl_dupfd_cloexec(&fd, 700).unwrap();
        let number = high.as_raw_fd();
        drop(DirectoryFd::from(high));
        // SAFETY: the descriptor is only tested for whether it is open.
        let gone = unsafe { BorrowedFd::borrow_raw(number) };
        assert_eq!(fcntl_getfd(gone), Err(Errno::BADF));
        let high = rustix::io::fcntl_dupfd_cloexec(&fd, 700).unwrap();
        assert_eq!(DirectoryFd::from(high).close(), Ok(()));
        assert_eq!(fcntl_getfd(gone), Err(Errno::BADF));
    }
}
