//! ext2, ext3 and ext4 from the block device.
//!
//! A mounted ext4 keeps its metadata in the page cache of its block device: reading the device through that cache (never
//! with `O_DIRECT`) gives what the file system itself works with, a moment after each change, synced or not. What is not
//! there are sizes and blocks of files whose data waits for write-back, so lately changed files are asked by system calls.
//!
//! **A directory** is listed in steps that make it a snapshot: its inode is read, then its blocks, then its inode again. Every change
//! of a directory changes its inode (`i_version`, times), and entries are moved between blocks only after the block
//! that they go to has been added to the inode. So if the inode is the same, and the last block, where a new one would be, was the same before the others were read, the blocks
//! belong together. Its `..` must be the directory
//! that it was found in: an inode that was freed and is another directory by now is not taken for the old one.
//!
//! **Metadata** comes from the inode tables, read after the names, the inodes of a batch in the order of the table and neighbours
//! together. An inode that has no links any more, or is of another type than its name was listed with, is asked for by name.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | opening the device, and what is refused from the beginning |
//! | `reader.rs` | listing directories |
//! | `places.rs` | where the blocks of a directory are |
//! | `inodes.rs` | inodes of many entries at once |
//! | `metadata.rs` | an inode as statx(2) would tell of it |
//! | `state.rs` | file systems whose tables lack what their driver has in memory |

mod inodes;
mod metadata;
mod places;
mod reader;
mod state;

pub(crate) use metadata::{is_unsure, to_metadata};

use super::{Budget, Mounted, Reader, Refused, Volume};
use crate::device;
use crate::shown::one_line;
use reader::Ext4Reader;
use ringwalk_ext4::FileSystem;
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
    pub(crate) mounted: Arc<Mounted>,
    /// What snapshots of large directories may take.
    snapshots: Arc<Budget>,
}

/// Opens the volume that `mounted` is on, whose large directories are held within `snapshots`.
///
/// # Errors
///
/// If it cannot be read past the VFS, or not with the same answers.
pub(crate) fn open(
    mounted: Arc<Mounted>,
    snapshots: &Arc<Budget>,
) -> Result<Arc<dyn Volume>, Refused> {
    Ok(Arc::new(Ext4 {
        snapshots: Arc::clone(snapshots),
        ..Ext4::open(mounted)?
    }))
}

impl Ext4 {
    pub(crate) fn open(mounted: Arc<Mounted>) -> Result<Self, Refused> {
        let mount = &mounted.mount;
        if mount.has_option("nouid32") {
            return Err(Refused::because("it is mounted with nouid32"));
        }
        if mount.has_option("dax") || mount.has_option("dax=always") {
            return Err(Refused::because("it is mounted with dax"));
        }
        let dev = mounted.metadata.dev;
        if mount.file_system == "ext2" && !is_driven_by_ext4(dev) {
            // The old driver has directories in page caches of their own. What the device's has can be older even where nothing
            // changes any more.
            return Err(Refused::because("it is driven by ext2, not ext4"));
        }
        let (major, minor) = (major(dev), minor(dev));
        let node = device::node(mount, major, minor).filter(|(_, found)| *found == (major, minor));
        let (path, _) = node.ok_or_else(|| {
            Refused::because(format!("block device {major}:{minor} has no node in /dev"))
        })?;
        let device = device::open(&path, dev)
            .map_err(|why| Refused::because(format!("{}: {why}", path.display())))?;
        let file_system = FileSystem::open(&device)
            .map_err(|why| Refused::because(format!("{}: {why}", path.display())))?;
        if let Some(trouble) = state::trouble(mount, file_system.superblock().state) {
            return Err(Refused::because(trouble));
        }
        let unknown = file_system.superblock().unknown_features;
        if unknown != 0 {
            // Reading is allowed, but what such a feature makes of an inode's fields is not known.
            return Err(Refused::because(format!(
                "it has features that are not known here (RO_COMPAT {unknown:#x})"
            )));
        }
        Ok(Self {
            device: Arc::new(device),
            path,
            file_system,
            mounted,
            snapshots: Arc::default(),
        })
    }
}

/// Whether the ext4 driver has this file system, whatever it is called. No, if that cannot be told:
/// it is declined then.
fn is_driven_by_ext4(dev: u64) -> bool {
    let link = format!("/sys/dev/block/{}:{}", major(dev), minor(dev));
    let Ok(target) = std::fs::read_link(link) else {
        return false;
    };
    let name = target.file_name();
    name.is_some_and(|name| Path::new("/sys/fs/ext4").join(name).exists())
}

impl Volume for Ext4 {
    fn name(&self) -> &'static str {
        "ext4"
    }

    fn describe(&self) -> String {
        let path = self.path.to_string_lossy();
        format!("{}; {}", one_line(path), self.mounted.describe())
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(Ext4Reader::new(self))
    }
}
