//! Refusal of polled completions where the device has none.
//!
//! Kernels differ. If a driver cannot poll, Linux 6.1 waits for the interrupt instead
//! (`submit_bio_noacct` in `block/blk-core.c`), and newer kernels answer `EOPNOTSUPP` to each read
//! (`blk_mq_submit_bio` in `block/blk-mq.c`). So sysfs is asked first, and a read decides where
//! sysfs does not say.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use ringwalk_sys::ReadRing;
use ringwalk_sys::rustix::fs::{major, minor};

use super::backend::wait_for_ring;
use crate::system::device;

/// Checks that the device of `file` can be polled, or that sysfs does not say.
///
/// # Errors
///
/// `Unsupported` if it cannot; the errors of [`File::metadata`].
pub(super) fn check_device(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    let number = if metadata.file_type().is_block_device() {
        metadata.rdev()
    } else {
        metadata.dev()
    };
    let (major, minor) = (major(number), minor(number));
    match device::is_polled(major, minor) {
        Some(false) => Err(refusal(&format!(
            "device {major}:{minor} cannot be polled for completions: its queue/io_poll is 0"
        ))),
        Some(true) | None => Ok(()),
    }
}

/// Checks that a first read succeeds. A file system that cannot poll answers `EOPNOTSUPP`.
///
/// # Errors
///
/// `Unsupported`, with the error of the read.
pub(super) fn check_read(ring: &mut ReadRing, buffer_size: u32) -> io::Result<()> {
    ring.start(0, 0, 0, buffer_size.min(4096));
    let mut over = Vec::new();
    let waited = wait_for_ring(ring, &mut over);
    match over[..] {
        [(_, Ok(_))] if waited.is_ok() => Ok(()),
        [(_, Err(errno))] => Err(refusal(&format!(
            "the file cannot be polled for completions: {}",
            io::Error::from(errno)
        ))),
        _ => Err(refusal("the kernel does not let this process use a ring")),
    }
}

/// Returns the error for options that the kernel or the device does not support.
pub(super) fn refusal(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}
