//! The btrfs ioctls that read trees.
//!
//! | file | contents |
//! |---|---|
//! | `search.rs` | items of a tree in a range of keys (`BTRFS_IOC_TREE_SEARCH_V2`) |
//! | `lookup.rs` | the tree of a file, and the path of a directory in it (`BTRFS_IOC_INO_LOOKUP`) |
//! | `commit.rs` | commits the running transaction (`BTRFS_IOC_START_SYNC`, `BTRFS_IOC_WAIT_SYNC`) |
//! | `info.rs` | the UUID of the file system (`BTRFS_IOC_FS_INFO`) |
//!
//! Numbers and layouts are from `linux/btrfs.h` and `linux/btrfs_tree.h`. The caller decodes the
//! items, which needs no unsafe code.

mod commit;
mod info;
mod lookup;
mod search;

pub use commit::{start_commit, wait_for_commit};
pub use info::uuid;
pub use lookup::{path_in_tree, tree_of};
pub use search::{Found, Item, Key, TreeSearch};

use crate::getdents::last_errno;
use rustix::io::Errno;
use rustix::ioctl::Opcode;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `BTRFS_IOCTL_MAGIC`.
const MAGIC: u8 = 0x94;

/// Calls an ioctl of btrfs that reads and writes `argument`.
///
/// # Safety
///
/// `argument` must point to the initialized input of the operation, with room for its output. Any
/// bytes must be a valid output.
unsafe fn ioctl<T>(fd: BorrowedFd<'_>, opcode: Opcode, argument: *mut T) -> Result<(), Errno> {
    #[expect(
        clippy::cast_lossless,
        reason = "musl takes an int, glibc an unsigned long"
    )]
    let request = opcode as libc::Ioctl;
    // SAFETY: the descriptor is open because it is borrowed; the caller vouches for the argument. A
    // descriptor of another file system refuses the number (ENOTTY): 0x94 is registered for btrfs
    // in Documentation/userspace-api/ioctl.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) };
    if status < 0 {
        Err(last_errno())
    } else {
        Ok(())
    }
}
