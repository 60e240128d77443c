//! The `statx` system call into a buffer of the caller.
//!
//! rustix has `statx` too, but returns its 256 bytes by value: in a profile of a walk, moving them was the largest single
//! part of what happened in user space.

use crate::getdents::last_errno;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, RawFd};

const _: () = assert!(
    size_of::<libc::statx>() == 256,
    "struct statx of linux/stat.h"
);

/// What `statx` fills. One can be used for any number of calls.
#[derive(Clone, Copy)]
pub struct Statx(libc::statx);

impl Default for Statx {
    fn default() -> Self {
        // SAFETY: the structure consists of integers only, for which zero bytes are valid.
        Self(unsafe { MaybeUninit::zeroed().assume_init() })
    }
}

impl std::fmt::Debug for Statx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statx")
            .field("mask", &self.0.stx_mask)
            .finish_non_exhaustive()
    }
}

impl std::ops::Deref for Statx {
    type Target = libc::statx;

    fn deref(&self) -> &libc::statx {
        &self.0
    }
}

/// Asks for the `STATX_*` fields in `mask` of the file `path`, relative to the directory `fd`, and fills `stat`; its
/// `stx_mask` tells what was really returned.
///
/// # Errors
///
/// Those of statx(2). `stat` then holds what it held before.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
pub fn statx(
    fd: impl AsFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    statx_at(fd.as_fd().as_raw_fd(), path, flags, mask, stat)
}

/// As [`statx`], relative to the directory that is open under this number.
///
/// For bindings to other languages, whose programs have numbers where Rust has `BorrowedFd`.
///
/// # Errors
///
/// Those of statx(2): `EBADF` if the number is not open. `stat` then holds what it held
/// before.
pub fn statx_at(
    number: RawFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    // SAFETY: a number that is not open is an error; `path` ends with a NUL; the kernel
    // writes one `struct statx`, whose size the kernel's ABI fixes at 256 bytes, to a pointer that
    // is valid for that because
    // `stat` is borrowed mutably, and any bytes are valid for its integers.
    let status = unsafe {
        libc::syscall(
            libc::SYS_statx,
            number,
            path.as_ptr(),
            flags.bits(),
            mask,
            &raw mut stat.0,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, OFlags, open};
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn the_answer_is_the_standard_librarys() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), b"12345").unwrap();
        symlink("file", dir.path().join("link")).unwrap();
        let fd = open(
            dir.path(),
            OFlags::RDONLY | OFlags::DIRECTORY,
            Mode::empty(),
        )
        .unwrap();
        let mut stat = Statx::default();
        statx(&fd, c"file", AtFlags::SYMLINK_NOFOLLOW, 0x7ff, &mut stat).unwrap();
        let expected = fs::metadata(dir.path().join("file")).unwrap();
        assert_eq!(stat.stx_size, 5);
        assert_eq!(stat.stx_ino, expected.ino());
        assert_eq!(u32::from(stat.stx_mode), expected.mode());
        assert_eq!(stat.stx_mtime.tv_sec, expected.mtime());
        statx(&fd, c"link", AtFlags::SYMLINK_NOFOLLOW, 0x7ff, &mut stat).unwrap();
        assert_eq!(stat.stx_mode & 0o170_000, 0o120_000);
        statx(&fd, c"link", AtFlags::empty(), 0x7ff, &mut stat).unwrap();
        assert_eq!(stat.stx_ino, expected.ino());
    }

    #[test]
    fn errors_are_the_kernels() {
        let dir = tempfile::tempdir().unwrap();
        let missing = CString::new(dir.path().join("missing").as_os_str().as_bytes()).unwrap();
        let mut stat = Statx::default();
        let answer = statx(CWD, &missing, AtFlags::empty(), 0x7ff, &mut stat);
        assert_eq!(answer, Err(Errno::NOENT));
        let answer = statx_at(-1, c"missing", AtFlags::empty(), 0x7ff, &mut stat);
        assert_eq!(answer, Err(Errno::BADF));
    }
}
