//! Mounts: the types of file systems (`-fstype`, `%F`), and the mount points.
//!
//! | file | contents |
//! |---|---|
//! | `points.rs` | the mount points in each directory |

mod points;

use crate::once_map::OnceMap;
use crate::saved::SavedSearch;
pub(crate) use points::{MountPoints, Names};
use ringwalk::Metadata;
use ringwalk::mounts::{self, Mount};
use std::io;
use std::os::unix::ffi::OsStringExt;

/// The type that is shown when it is not known.
pub(crate) const UNKNOWN: &[u8] = b"unknown";

/// Types of file systems, by the mount through which a file is seen. All workers may use it at
/// once; a known type costs no lock.
///
/// The table of mounts is read for the first file, and again for every mount that is missing in it:
/// such a mount came later, perhaps from an automounter. The kernel may give the id of an unmounted
/// mount to a new one. If that happens during a search, the search mistakes the new mount for the
/// old one.
#[derive(Debug, Default)]
pub struct FileSystems {
    by_mount: OnceMap<Vec<u8>>,
    by_device: OnceMap<Vec<u8>>,
}

impl FileSystems {
    /// Creates the types that were saved with a tree.
    pub(crate) fn saved(saved: &SavedSearch) -> Self {
        let types = Self::default();
        for (mount, name) in &saved.file_systems {
            types.by_mount.insert(*mount, name.clone());
        }
        types
    }

    /// Returns the type of the file system that a file is on: `ext4`, `fuse.sshfs`; `unknown` if
    /// the table of mounts does not have it.
    ///
    /// The key is the id of the mount if the metadata has one (Linux 5.8).
    /// Otherwise it is the number of the device, which for btrfs differs from the table's.
    ///
    /// # Errors
    ///
    /// If the table of mounts cannot be read.
    pub fn type_of(&self, metadata: &Metadata) -> io::Result<&[u8]> {
        self.look_up(metadata, mounts::read)
    }

    fn look_up(
        &self,
        metadata: &Metadata,
        read: impl FnOnce() -> io::Result<Vec<Mount>>,
    ) -> io::Result<&[u8]> {
        let (known, key) = match (metadata.mnt_id(), metadata.dev()) {
            (Some(mount), _) => (&self.by_mount, mount),
            (None, Some(dev)) => (&self.by_device, dev),
            (None, None) => return Ok(UNKNOWN),
        };
        if let Some(found) = known.get(key) {
            return Ok(found);
        }
        for mount in read()? {
            let device = rustix::fs::makedev(mount.major, mount.minor);
            let name = mount.file_system.into_vec();
            self.by_device.insert(device, name.clone());
            self.by_mount.insert(mount.id, name);
        }
        if let Some(found) = known.get(key) {
            return Ok(found);
        }
        // This process cannot see the mount, but may see the same device elsewhere.
        let device = metadata.dev().and_then(|dev| self.by_device.get(dev));
        Ok(known.insert(key, device.map_or(UNKNOWN, Vec::as_slice).to_vec()))
    }
}

#[cfg(test)]
mod tests;
