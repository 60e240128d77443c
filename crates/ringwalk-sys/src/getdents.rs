//! The `getdents64` system call.

use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Reads the next entries of the directory `fd` into `buffer`. Returns the number of bytes of
/// records, 0 at the end of the directory. [`Dirents`](crate::Dirents) reads the records.
///
/// The position belongs to the open file: calls of several threads on one descriptor each get
/// different entries. glibc's `readdir` uses 32 KiB. The kernel accepts up to `INT_MAX` bytes.
///
/// # Errors
///
/// The errors of getdents(2): `EINVAL` if `buffer` is too small for the next entry (280 bytes hold
/// any name of a local file system), `ENOENT` if the directory has been deleted, `ENOTDIR`, `EIO`.
/// A network file system may return any error. The caller handles `EINTR`.
///
/// [getdents(2)](https://man7.org/linux/man-pages/man2/getdents.2.html)
#[doc(alias = "readdir")]
pub fn getdents64(fd: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let length = buffer.len().min(i32::MAX as usize);
    // SAFETY: `fd` is open for the length of the call because it is borrowed; the kernel writes at
    // most `length` bytes to the pointer, which is valid for writes of that many bytes, as `buffer`
    // is borrowed mutably; any byte pattern is valid for `u8`.
    let filled = unsafe {
        libc::syscall(
            libc::SYS_getdents64,
            fd.as_fd().as_raw_fd(),
            buffer.as_mut_ptr(),
            length,
        )
    };
    match usize::try_from(filled) {
        Ok(filled) => Ok(filled),
        Err(_) => Err(last_errno()),
    }
}

/// The largest errno (`include/linux/err.h`).
const MAX_ERRNO: i32 = 4095;

/// Returns the error that the kernel has put into a field as a negative number; `EIO` for a number
/// that is not an errno.
pub(crate) fn errno_of(negative: i32) -> Errno {
    match negative.saturating_neg() {
        errno @ 1..=MAX_ERRNO => Errno::from_raw_os_error(errno),
        _ => Errno::IO,
    }
}

#[cold]
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dirents;
    use rustix::fs::{Mode, OFlags, open};
    use std::collections::BTreeSet;
    use std::fs;

    #[test]
    fn small_and_large_buffers_agree_with_read_dir() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..300 {
            fs::write(dir.path().join(format!("file-{i}")), b"").unwrap();
        }
        let expected: BTreeSet<Vec<u8>> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_encoded_bytes())
            .collect();
        for size in [280, 4096, 1 << 20] {
            let fd = open(
                dir.path(),
                OFlags::RDONLY | OFlags::DIRECTORY,
                Mode::empty(),
            )
            .unwrap();
            let mut buffer = vec![0; size];
            let mut names = BTreeSet::new();
            loop {
                let filled = getdents64(&fd, &mut buffer).unwrap();
                if filled == 0 {
                    break;
                }
                for dirent in Dirents::new(&buffer[..filled]) {
                    let dirent = dirent.unwrap();
                    if !dirent.is_dot() {
                        assert!(names.insert(dirent.name().to_bytes().to_vec()));
                    }
                }
            }
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn errors_are_the_kernels() {
        let dir = tempfile::tempdir().unwrap();
        let fd = open(
            dir.path(),
            OFlags::RDONLY | OFlags::DIRECTORY,
            Mode::empty(),
        )
        .unwrap();
        assert_eq!(getdents64(&fd, &mut [0; 8]), Err(Errno::INVAL));
        let file = dir.path().join("file");
        fs::write(&file, b"").unwrap();
        let fd = open(&file, OFlags::RDONLY, Mode::empty()).unwrap();
        assert_eq!(getdents64(&fd, &mut [0; 512]), Err(Errno::NOTDIR));
        let gone = dir.path().join("gone");
        fs::create_dir(&gone).unwrap();
        let fd = open(&gone, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        fs::remove_dir(&gone).unwrap();
        assert_eq!(getdents64(&fd, &mut [0; 512]), Err(Errno::NOENT));
    }
}
