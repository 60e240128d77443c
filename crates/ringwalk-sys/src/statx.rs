//! The `statx` system call into a buffer of the caller.
//!
//! rustix has `statx` too, but returns its 256 bytes by value. In a profile of a walk, moving them
//! was the largest single cost in user space.

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

/// The buffer that `statx` fills. It can be used for any number of calls.
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

/// Asks for the `STATX_*` fields in `mask` of the file `path`, relative to the directory `fd`, and
/// fills `stat`. `stx_mask` says which fields the kernel returned.
///
/// # Errors
///
/// Those of statx(2). `stat` then keeps its contents.
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

/// Asks as [`statx`] does, relative to the directory that is open as descriptor number `fd`.
///
/// This is for bindings to other languages, whose programs use numbers where Rust uses
/// `BorrowedFd`.
///
/// # Errors
///
/// Those of statx(2): `EBADF` if the number is not an open descriptor. `stat` then keeps its
/// contents.
pub fn statx_at(
    number: RawFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    // SAFETY: a number that is not open is an error. `path` ends with a NUL. The kernel writes one
    // `struct statx`, whose size the kernel's ABI fixes at 256 bytes. The pointer is valid for
    // that, because `stat` is borrowed mutably, and any bytes are valid for its integers.
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
mod tests;
