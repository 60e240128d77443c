//! Reads ext2, ext3 and ext4 from the block device.
//!
//! A mounted ext4 keeps its metadata in the page cache of its block device. Reading the device
//! through that cache (never with `O_DIRECT`) returns the data that the file system itself works
//! with, a moment after each change, synced or not. The cache lacks the sizes and blocks of files
//! whose data waits for write-back. So system calls read the metadata of files that were changed
//! lately.
//!
//! **A directory** is read as it was at one moment: the reader reads its inode, then its blocks,
//! then its inode again. Every change of a directory changes its inode (`i_version`, times). The
//! driver moves entries between blocks only after it has added the target block to the inode. So
//! the blocks belong together if two conditions hold: the inode is unchanged, and the last block,
//! where a new one would be, was the same before the others were read. The entry `..` must name the
//! directory in which this one was found. So an inode that was freed, and is another directory by
//! now, is not mistaken for the old one.
//!
//! **Metadata** comes from the inode tables, read after the names. The inodes of a batch are read
//! in the order of the table, and neighbours together. An inode that has no links any more, or
//! another type than its name was listed with, is asked for by name.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | opens the device; declines file systems that the tables do not describe |
//! | `reader.rs` | lists directories |
//! | `places.rs` | where the blocks of a directory are |
//! | `inodes.rs` | inodes of many entries at once |
//! | `metadata.rs` | the metadata that statx(2) would return for an inode |
//! | `state.rs` | file systems whose tables lack changes that their driver has in memory |
//! | `torn.rs` | reads again what the kernel was changing |

mod inodes;
mod metadata;
mod places;
mod reader;
mod state;
pub(crate) mod sweep;
mod torn;

pub(crate) use metadata::{is_unsure, to_metadata};

use crate::shown::one_line;
use crate::sources::registry::DeviceProblem;
use crate::sources::volume::{CopyMemory, OpenMount, Reader, Refused, Volume};
use crate::system::device;
use reader::Ext4Reader;
use ringwalk_ext4::{Error, FileSystem};
use rustix::fs::{major, minor};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A mounted file system, and its block device open for reading.
#[derive(Debug)]
pub(crate) struct Ext4 {
    pub(crate) device: Arc<File>,
    path: PathBuf,
    pub(crate) file_system: FileSystem,
    pub(crate) mounted: Arc<OpenMount>,
    /// The memory for copies of large directories.
    copies: Arc<CopyMemory>,
}

/// Opens the volume of `mounted`. Copies of its large directories are held within `copies`.
///
/// # Errors
///
/// If the device cannot be read, or would not give the same answers as system calls.
pub(crate) fn open(
    mounted: Arc<OpenMount>,
    copies: &Arc<CopyMemory>,
) -> Result<Arc<dyn Volume>, Refused> {
    Ok(Arc::new(Ext4 {
        copies: Arc::clone(copies),
        ..Ext4::open(mounted)?
    }))
}

impl Ext4 {
    pub(crate) fn open(mounted: Arc<OpenMount>) -> Result<Self, Refused> {
        let mount = &mounted.mount;
        if mount.has_option("nouid32") {
            return Err(Refused::because("it is mounted with nouid32"));
        }
        if mount.has_option("dax") || mount.has_option("dax=always") {
            return Err(Refused::because("it is mounted with dax"));
        }
        let dev = mounted.metadata.dev;
        if mount.file_system == "ext2" && !is_driven_by_ext4(dev) {
            // The old driver keeps directories in page caches of their own. The page cache of the
            // device can be older, even when nothing changes any more.
            return Err(Refused::because("it is driven by ext2, not ext4"));
        }
        let (major, minor) = (major(dev), minor(dev));
        let node = device::node(mount, major, minor).filter(|(_, found)| *found == (major, minor));
        let (path, _) = node.ok_or_else(|| {
            Refused::because(format!("block device {major}:{minor} has no node in /dev"))
        })?;
        let device = device::open(&path, dev)
            .map_err(|why| Refused::because(format!("{}: {why}", path.display())))?;
        let file_system = torn::read_settled(|| FileSystem::open(&device))
            .map_err(|why| Refused::because(format!("{}: {why}", path.display())))?;
        if let Some(doubt) = state::doubt(mount, file_system.superblock().state) {
            return Err(Refused::because(doubt));
        }
        let unknown = file_system.superblock().unknown_features;
        if unknown != 0 {
            // Reading is allowed, but the effect of such a feature on the fields of an inode is
            // unknown.
            return Err(Refused::because(format!(
                "it has features that are not known here (RO_COMPAT {unknown:#x})"
            )));
        }
        Ok(Self {
            device: Arc::new(device),
            path,
            file_system,
            mounted,
            copies: Arc::default(),
        })
    }
}

/// Checks whether a block device holds a file system that this source and prefetch can read.
///
/// # Errors
///
/// If it does not: returns the problem, and the remedy.
pub(super) fn check_device(device: &File) -> Result<(), DeviceProblem> {
    let Err(error) = torn::read_settled(|| FileSystem::open(device)) else {
        return Ok(());
    };
    let remedy = match error {
        Error::Unsupported(_) => "a version of ringwalk that knows this feature",
        Error::Io(_) | Error::NotExt4 | Error::Checksum(_) | Error::Corrupt(_) => {
            "check the file system with e2fsck"
        }
    };
    Err(DeviceProblem {
        problem: error.to_string(),
        remedy,
    })
}

/// Returns true if the ext4 driver serves this file system, whatever its type is called. Returns
/// false if sysfs does not say; the file system is then declined.
fn is_driven_by_ext4(dev: u64) -> bool {
    let link = format!("/sys/dev/block/{}:{}", major(dev), minor(dev));
    let Ok(target) = std::fs::read_link(link) else {
        return false;
    };
    let name = target.file_name();
    name.is_some_and(|name| Path::new("/sys/fs/ext4").join(name).exists())
}

impl Volume for Ext4 {
    fn describe(&self) -> String {
        let path = self.path.to_string_lossy();
        format!("{}; {}", one_line(path), self.mounted.describe())
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(Ext4Reader::new(self))
    }
}
