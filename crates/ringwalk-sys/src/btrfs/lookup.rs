//! The tree that a file is in, and the path of a directory in its tree.

use super::{MAGIC, ioctl};
use rustix::io::Errno;
use rustix::ioctl::opcode;
use std::os::fd::AsFd;

/// `BTRFS_INO_LOOKUP_PATH_MAX`.
const PATH_MAX: usize = 4080;

/// `BTRFS_FIRST_FREE_OBJECTID`: the inode number of the root of every subvolume.
const FIRST_FREE_OBJECTID: u64 = 256;

/// `struct btrfs_ioctl_ino_lookup_args`.
#[repr(C)]
struct LookupArguments {
    treeid: u64,
    objectid: u64,
    name: [u8; PATH_MAX],
}

const _: () = assert!(
    size_of::<LookupArguments>() == 4096,
    "struct btrfs_ioctl_ino_lookup_args of linux/btrfs.h is one page"
);

fn look_up(fd: impl AsFd, tree: u64, directory: u64) -> Result<Box<LookupArguments>, Errno> {
    let mut arguments = Box::new(LookupArguments {
        treeid: tree,
        objectid: directory,
        name: [0; PATH_MAX],
    });
    // SAFETY: BTRFS_IOC_INO_LOOKUP reads and writes one structure of this layout, which lives for
    // the call and consists of integers.
    unsafe {
        let opcode = opcode::read_write::<LookupArguments>(MAGIC, 18);
        ioctl(fd.as_fd(), opcode, &raw mut *arguments)?;
    }
    Ok(arguments)
}

/// Returns the id of the tree that the open file is in: the tree of its subvolume. Needs no
/// privilege.
///
/// # Errors
///
/// `ENOTTY` on another file system.
#[doc(alias = "BTRFS_IOC_INO_LOOKUP")]
pub fn tree_of(fd: impl AsFd) -> Result<u64, Errno> {
    look_up(fd, 0, FIRST_FREE_OBJECTID).map(|found| found.treeid)
}

/// Returns the path of the directory with this inode number, from the root of its subvolume: names
/// separated by slashes. The path of the root itself is empty. `tree` must be a tree of the file
/// system that `fd` is on.
///
/// # Errors
///
/// `EPERM` without `CAP_SYS_ADMIN`, `ENOENT` if no such tree or directory exists, `ENAMETOOLONG`
/// for a path of more than about 4070 bytes.
#[doc(alias = "BTRFS_IOC_INO_LOOKUP")]
pub fn path_in_tree(fd: impl AsFd, tree: u64, directory: u64) -> Result<Vec<u8>, Errno> {
    let found = look_up(fd, tree, directory)?;
    let path = found.name.split(|byte| *byte == 0).next();
    let path = path.unwrap_or_default();
    // The kernel puts a slash after every name.
    Ok(path.strip_suffix(b"/").unwrap_or(path).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no ioctls")]
    fn another_file_system_refuses() {
        let proc = std::fs::File::open("/proc").unwrap();
        assert_eq!(tree_of(&proc), Err(Errno::NOTTY));
        assert_eq!(super::super::start_commit(&proc), Err(Errno::NOTTY));
        assert_eq!(super::super::wait_for_commit(&proc, 1), Err(Errno::NOTTY));
    }
}
