//! Finds and opens the block device of a file system.

use crate::system::mounts::Mount;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Returns the path of the block device that a file system is on, with its numbers. Returns `None`
/// if no device is found, for any reason; the caller then reads no device.
///
/// The source in the mount table can be a node of another namespace, `/dev/root`, or plain text. So
/// its numbers must agree; otherwise the function looks for the node by number in sysfs. For btrfs,
/// whose device numbers are its own, the source counts alone.
pub fn node(mount: &Mount, major: u32, minor: u32) -> Option<(PathBuf, (u32, u32))> {
    let block = |path: &Path| {
        let metadata = std::fs::metadata(path)
            .ok()
            .filter(|metadata| metadata.file_type().is_block_device())?;
        let number = metadata.rdev();
        Some((
            path.to_owned(),
            (rustix::fs::major(number), rustix::fs::minor(number)),
        ))
    };
    let of_source = mount
        .source
        .is_absolute()
        .then(|| block(&mount.source))
        .flatten();
    if let Some(found) = of_source
        && (found.1 == (major, minor) || mount.file_system == "btrfs")
    {
        return Some(found);
    }
    let event = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).ok()?;
    let name = event
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME="))?;
    block(&Path::new("/dev").join(name)).filter(|(_, numbers)| *numbers == (major, minor))
}

/// Opens the block device with the number `dev` for reading, through the page cache. If another
/// file is at `path` by now, opening it does not wait.
///
/// # Errors
///
/// If the device cannot be opened, or `path` is another device.
pub(crate) fn open(path: &Path, dev: u64) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let device = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let metadata = device.metadata()?;
    if !metadata.file_type().is_block_device() || metadata.rdev() != dev {
        return Err(io::Error::other("another device by now"));
    }
    Ok(device)
}

/// Returns true if the kernel classes the disk as rotating (`queue/rotational` in sysfs,
/// Documentation/ABI/stable/sysfs-block). For virtual disks the kernel is often wrong. Returns
/// `None` if sysfs does not say. A partition uses the queue of its disk.
pub fn is_rotational(major: u32, minor: u32) -> Option<bool> {
    queue_flag(major, minor, "rotational")
}

/// Returns true if the driver of the disk can poll for completions of reads (`queue/io_poll` in
/// sysfs, Documentation/ABI/stable/sysfs-block), as `nvme` can with its parameter
/// `poll_queues`. Returns `None` if sysfs does not say, as for file systems with device numbers of
/// their own. A partition uses the queue of its disk.
pub(crate) fn is_polled(major: u32, minor: u32) -> Option<bool> {
    queue_flag(major, minor, "io_poll")
}

fn queue_flag(major: u32, minor: u32, name: &str) -> Option<bool> {
    let directory = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let text = ["queue", "../queue"]
        .iter()
        .find_map(|queue| std::fs::read_to_string(directory.join(queue).join(name)).ok())?;
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}
