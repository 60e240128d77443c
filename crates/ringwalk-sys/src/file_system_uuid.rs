//! The UUID of a file system, which no call returns with a file's metadata. On btrfs the number of
//! the subvolume too, since each subvolume numbers its inodes from the same beginning.
//!
//! `FS_IOC_GETFSUUID` (`linux/fs.h`, Linux 6.9) works on any file, without privilege. btrfs has a
//! call of its own instead.

use crate::{btrfs, magic};
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
    // SAFETY: the code is FS_IOC_GETFSUUID (asserted in the tests), for which the kernel writes one
    // `struct fsuuid2`, whose size is asserted above; any bytes are valid for it.
    let uuid = unsafe { ioctl(file, Getter::<GETFSUUID, Uuid>::new()) }?;
    let length = usize::from(uuid.length).min(uuid.bytes.len());
    Ok(uuid.bytes[..length].to_vec())
}

/// Where inode numbers are unique. It stays the same when the file system is mounted again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystemIdentity {
    /// UUID, 16 bytes on most file systems. `None` if it has none, or a nil one (RFC 9562), which
    /// identifies nothing: images that are made without a UUID have it.
    pub uuid: Option<Vec<u8>>,
    /// Number of the subvolume of btrfs. `None` on other file systems.
    pub subvolume: Option<u64>,
}

impl FileSystemIdentity {
    /// Returns the identity of the file system of an open regular file or directory. What cannot be
    /// found out is `None`.
    pub fn of(file: impl AsFd) -> Self {
        let is_btrfs = magic::of(&file) == Ok(magic::BTRFS);
        let uuid = file_system_uuid(&file).ok();
        Self {
            uuid: uuid.filter(|bytes| bytes.iter().any(|byte| *byte != 0)),
            subvolume: is_btrfs.then(|| btrfs::tree_of(&file).ok()).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_code_is_that_of_the_kernel() {
        // _IOR(0x15, 0, struct fsuuid2)
        assert_eq!(GETFSUUID, 0x8011_1500);
    }

    #[test]
    fn a_file_system_without_one() {
        let file = File::open("/proc/self").unwrap();
        assert_eq!(file_system_uuid(file), Err(Errno::NOTTY));
    }

    #[test]
    fn no_identity_without_uuid() {
        let file = File::open("/proc/self").unwrap();
        assert_eq!(FileSystemIdentity::of(file), FileSystemIdentity::default());
    }

    #[test]
    fn identity_agrees_with_the_single_calls() {
        let file = File::open(".").unwrap();
        let identity = FileSystemIdentity::of(&file);
        let uuid = file_system_uuid(&file).ok();
        assert_eq!(
            identity.uuid,
            uuid.filter(|bytes| *bytes != vec![0; bytes.len()])
        );
        assert_eq!(identity.subvolume, btrfs::tree_of(&file).ok());
    }
}
