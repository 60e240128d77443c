//! Project ids of files, which statx(2) does not return.
//!
//! Two calls return a project id. `file_getattr(2)`, of Linux 6.17, takes a name and opens nothing.
//! `FS_IOC_FSGETXATTR` takes an open file. Numbers and layouts are from `linux/fs.h` and
//! `asm-generic/unistd.h`.

use crate::getdents::last_errno;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};
use std::ffi::{CStr, c_long};
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd};

/// The number of `file_getattr`. Since Linux 5.1, calls have the same number on every architecture
/// whose `clone3` is number 435.
const SYS_FILE_GETATTR: c_long = 468;

const _: () = assert!(libc::SYS_clone3 == 435, "numbers of asm-generic/unistd.h");

/// `struct file_attr`, which the kernel fills as far as the size says that it is passed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct FileAttributes {
    xflags: u64,
    extent_size: u32,
    extents: u32,
    project_id: u32,
    cow_extent_size: u32,
}

const _: () = assert!(
    size_of::<FileAttributes>() == 24 && offset_of!(FileAttributes, project_id) == 16,
    "struct file_attr of linux/fs.h"
);

/// `struct fsxattr`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct ExtendedAttributes {
    xflags: u32,
    extent_size: u32,
    extents: u32,
    project_id: u32,
    cow_extent_size: u32,
    padding: [u8; 8],
}

const _: () = assert!(
    size_of::<ExtendedAttributes>() == 28 && offset_of!(ExtendedAttributes, project_id) == 12,
    "struct fsxattr of linux/fs.h"
);

const FSGETXATTR: Opcode = opcode::read::<ExtendedAttributes>(b'X', 31);

/// Returns the project id of the file `path`, relative to the directory `fd`. Opens nothing.
///
/// # Errors
///
/// `ENOSYS` before Linux 6.17; `EOPNOTSUPP` if the file system has no attributes for such a file;
/// the errors of looking up the path.
#[doc(alias = "file_getattr")]
pub fn project_id_at(fd: impl AsFd, path: &CStr, flags: AtFlags) -> Result<u32, Errno> {
    let mut attributes = FileAttributes::default();
    // SAFETY: the descriptor is borrowed for the call; `path` ends with a NUL; the kernel writes at
    // most the number of bytes that it is passed, which is the size of `attributes`, borrowed
    // mutably; any bytes are valid for its integers. A kernel without the call writes nothing.
    let status = unsafe {
        libc::syscall(
            SYS_FILE_GETATTR,
            fd.as_fd().as_raw_fd(),
            path.as_ptr(),
            &raw mut attributes,
            size_of::<FileAttributes>(),
            flags.bits(),
        )
    };
    if status == 0 {
        Ok(attributes.project_id)
    } else {
        Err(last_errno())
    }
}

/// Returns the project id of an open file.
///
/// `file` must be a regular file or a directory: to a driver of a device the same number may mean
/// another call.
///
/// # Errors
///
/// `ENOTTY` or `EOPNOTSUPP` if the file system has no such attributes; `EBADF` for a descriptor
/// that was opened with `O_PATH`.
#[doc(alias = "FS_IOC_FSGETXATTR")]
pub fn project_id(file: impl AsFd) -> Result<u32, Errno> {
    // SAFETY: the code is FS_IOC_FSGETXATTR (asserted in the tests), for which the kernel writes
    // one `struct fsxattr`, whose size and layout are asserted above; any bytes are valid for its
    // integers.
    let attributes = unsafe { ioctl(file, Getter::<FSGETXATTR, ExtendedAttributes>::new()) }?;
    Ok(attributes.project_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, OFlags, open};
    use std::fs::File;

    #[test]
    fn the_code_is_that_of_the_kernels_header() {
        assert_eq!(FSGETXATTR, 0x801c_581f);
    }

    #[test]
    fn both_calls_return_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, b"").unwrap();
        let opened = project_id(File::open(&path).unwrap());
        let at = File::open(directory.path()).unwrap();
        match project_id_at(&at, c"file", AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(Errno::OPNOTSUPP) => assert_eq!(opened, Err(Errno::NOTTY)),
            named => assert_eq!(named, opened),
        }
    }

    #[test]
    fn what_cannot_be_asked_is_an_error() {
        let path = open("/", OFlags::PATH, Mode::empty()).unwrap();
        assert_eq!(project_id(path), Err(Errno::BADF));
        let missing = project_id_at(CWD, c"/missing/file", AtFlags::empty());
        assert!(matches!(
            missing,
            Err(Errno::NOENT | Errno::NOSYS | Errno::PERM)
        ));
    }
}
