//! The UUID of a btrfs, which has no `FS_IOC_GETFSUUID`.

use super::{MAGIC, ioctl};
use rustix::io::Errno;
use rustix::ioctl::opcode;
use std::os::fd::AsFd;

/// `struct btrfs_ioctl_fs_info_args`, with the fields behind the UUID left out.
#[repr(C)]
struct Info {
    devices: [u64; 2],
    uuid: [u8; 16],
    rest: [u64; 124],
}

const _: () = assert!(
    size_of::<Info>() == 1024 && std::mem::offset_of!(Info, uuid) == 16,
    "struct btrfs_ioctl_fs_info_args of linux/btrfs.h"
);

/// Returns the UUID of the file system of `fd` (`fsid`). Needs no privilege.
///
/// # Errors
///
/// `ENOTTY` on another file system.
#[doc(alias = "BTRFS_IOC_FS_INFO")]
pub fn uuid(fd: impl AsFd) -> Result<[u8; 16], Errno> {
    let mut info = Info {
        devices: [0; 2],
        uuid: [0; 16],
        rest: [0; 124],
    };
    // SAFETY: BTRFS_IOC_FS_INFO reads and writes one structure of this size, which is borrowed
    // mutably for the call; any bytes are valid for its integers.
    unsafe { ioctl(fd.as_fd(), opcode::read::<Info>(MAGIC, 31), &raw mut info)? };
    Ok(info.uuid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_code_is_that_of_the_kernel() {
        // _IOR(0x94, 31, struct btrfs_ioctl_fs_info_args)
        assert_eq!(opcode::read::<Info>(MAGIC, 31), 0x8400_941f);
    }

    #[test]
    fn other_file_systems_refuse() {
        let file = File::open("/proc/self").unwrap();
        assert_eq!(uuid(file), Err(Errno::NOTTY));
    }
}
