//! Commits the running transaction of a btrfs.

use super::{MAGIC, ioctl};
use rustix::io::Errno;
use rustix::ioctl::opcode;
use std::os::fd::AsFd;

/// Begins to commit the running transaction of the file system of `fd`. Returns the number of the
/// transaction, to [wait](wait_for_commit) for it. If none is running, returns the number of the
/// last one.
///
/// The commit does not write back data. Data that files have only in memory stays there, and with
/// it their new sizes and blocks.
///
/// # Errors
///
/// `ENOTTY` on another file system; `EROFS`, `EIO` and `ENOSPC` if the file system can no longer be
/// written to.
#[doc(alias = "BTRFS_IOC_START_SYNC")]
pub fn start_commit(fd: impl AsFd) -> Result<u64, Errno> {
    let mut transaction = 0_u64;
    // SAFETY: BTRFS_IOC_START_SYNC writes one 64-bit integer, to one that is borrowed mutably for
    // the call.
    unsafe {
        ioctl(
            fd.as_fd(),
            opcode::read::<u64>(MAGIC, 24),
            &raw mut transaction,
        )?;
    }
    Ok(transaction)
}

/// Waits until the transaction with this number has been committed.
///
/// # Errors
///
/// `ENOTTY` if `fd` is on another file system, `EINVAL` for a transaction that has not begun.
#[doc(alias = "BTRFS_IOC_WAIT_SYNC")]
pub fn wait_for_commit(fd: impl AsFd, transaction: u64) -> Result<(), Errno> {
    let mut transaction = transaction;
    // SAFETY: BTRFS_IOC_WAIT_SYNC reads one 64-bit integer, which lives for the call.
    unsafe {
        ioctl(
            fd.as_fd(),
            opcode::write::<u64>(MAGIC, 22),
            &raw mut transaction,
        )
    }
}
