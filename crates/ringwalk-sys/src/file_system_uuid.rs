//! The UUID of a file system, which no call returns with a file's metadata.
//!
//! `FS_IOC_GETFSUUID` (`linux/fs.h`, Linux 6.9) works on any file, without privilege. btrfs has a
//! call of its own instead.

use crate::btrfs;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};
use std::os::fd::AsFd;

/// `struct fsuuid2`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Uuid {
    length: u8,
    bytes: [u8; 16],
}

const _: () = assert!(size_of::<Uuid>() == 17, "struct fsuuid2 of linux/fs.h");

/// `FS_IOC_GETFSUUID`.
const GETFSUUID: Opcode = opcode::read::<Uuid>(0x15, 0);

/// Returns the UUID of the file system of an open file: 16 bytes on most file systems.
///
/// `file` must be a regular file or a directory: to a driver of a device the same number may mean
/// another call.
///
/// # Errors
///
/// `ENOTTY` if the file system has no UUID, or the kernel is older than Linux 6.9. On btrfs every
/// kernel answers.
#[doc(alias = "FS_IOC_GETFSUUID")]
pub fn file_system_uuid(file: impl AsFd) -> Result<Vec<u8>, Errno> {
    if let Ok(uuid) = btrfs::uuid(&file) {
        return Ok(uuid.to_vec());
    }
    // SAFETY: the code is that of FS_IOC_GETFSUUID (asserted in the tests), for which the kernel
    // writes one `struct fsuuid2`, whose size is asserted above; any bytes are valid for it.
    let uuid = unsafe { ioctl(file, Getter::<GETFSUUID, Uuid>::new()) }?;
    let length = usize::from(uuid.length).min(uuid.bytes.len());
    Ok(uuid.bytes[..length].to_vec())
}

#[cfg(test)]
mod tests;
