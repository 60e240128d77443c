//! Mounts: the types of file systems (`-fstype`, `%F`), and where something is mounted.
//!
//! | file | what is in it |
//! |---|---|
//! | `points.rs` | the entries of directories at which something is mounted |

mod points;

use crate::once_map::OnceMap;
pub(crate) use points::{MountPoints, Names};
use ringwalk::mounts::{self, Mount};
use ringwalk::{Fields, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;

/// What is said where the type is not known.
pub(crate) const UNKNOWN: &[u8] = b"unknown";

/// Types of file systems by the mount that a file is seen through. For use by all workers at once; one that is known costs no
/// lock.
///
/// The table of mounts is read when the first file is asked about, and again for every mount that is not in it, which came
/// later (an automounter's). The kernel may give the id of a mount that is gone to another: a search during which that
/// happens takes the new one for the old.
#[derive(Debug, Default)]
pub struct FileSystems {
    by_mount: OnceMap<Vec<u8>>,
    by_device: OnceMap<Vec<u8>>,
}

impl FileSystems {
    /// Returns the type of the file system that a file is on: `ext4`, `fuse.sshfs`; `unknown` if
    /// the table of mounts does not have it.
    ///
    /// By the id of the mount if the metadata has one ([`Fields::MNT_ID`], Linux 5.8), else by the number of the device, which
    /// for btrfs is not the table's.
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
        let has_mount = metadata.mask.contains(Fields::MNT_ID);
        let (known, key) = if has_mount {
            (&self.by_mount, metadata.mnt_id)
        } else {
            (&self.by_device, metadata.dev)
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
        // A mount that this process cannot see, of a device that it may see elsewhere.
        let device = self.by_device.get(metadata.dev);
        Ok(known.insert(key, device.map_or(UNKNOWN, Vec::as_slice).to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_sys::{Statx, statx};
    use rustix::fs::{AtFlags, CWD};
    use std::cell::Cell;
    use std::ffi::CStr;

    fn metadata(path: &CStr, fields: Fields) -> Metadata {
        let mut stat = Statx::default();
        statx(CWD, path, AtFlags::empty(), fields.bits(), &mut stat).unwrap();
        let mut metadata = Metadata::from(&stat);
        metadata.mask &= fields;
        metadata
    }

    fn mount(id: u64, minor: u64, file_system: &str) -> Mount {
        let line = format!("{id} 1 0:{minor} / / rw - {file_system} none rw\n");
        mounts::parse(line.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn what_is_always_mounted() {
        let types = FileSystems::default();
        let of_id = metadata(c"/proc/self", Fields::TYPE | Fields::MNT_ID);
        assert_eq!(types.type_of(&of_id).unwrap(), b"proc");
        let of_device = metadata(c"/proc/self", Fields::TYPE);
        assert_eq!(types.type_of(&of_device).unwrap(), b"proc");
        let others = FileSystems::default();
        assert_eq!(others.type_of(&of_device).unwrap(), b"proc");
    }

    #[test]
    fn the_table_is_read_again_for_what_is_new() {
        let types = FileSystems::default();
        let mut file = metadata(c"/", Fields::MNT_ID);
        file.mask = Fields::MNT_ID;
        let reads = Cell::new(0);
        let ask = |mnt_id, dev, table: &[(u64, u64, &str)]| {
            (file.mnt_id, file.dev) = (mnt_id, dev);
            let read = || {
                reads.set(reads.get() + 1);
                let mounts = table.iter();
                Ok(mounts
                    .map(|(id, dev, name)| mount(*id, *dev, name))
                    .collect())
            };
            types.look_up(&file, read).unwrap().to_vec()
        };
        let mut ask = ask;
        let first = [(30, 5, "xfs"), (31, 6, "btrfs")];
        assert_eq!(ask(30, 5, &first), b"xfs");
        assert_eq!(ask(31, 99, &first), b"btrfs", "the id counts");
        assert_eq!(reads.get(), 1);
        assert_eq!(ask(32, 7, &[(32, 7, "nfs4")]), b"nfs4");
        assert_eq!(reads.get(), 2);
        assert_eq!(ask(40, 6, &first), b"btrfs", "by its device");
        assert_eq!(ask(41, 8, &first), b"unknown");
        assert_eq!(reads.get(), 4);
        assert_eq!(ask(41, 8, &first), b"unknown");
        assert_eq!(reads.get(), 4, "that too is remembered");
    }

    #[test]
    fn a_table_that_cannot_be_read_is_an_error_and_is_read_again() {
        let types = FileSystems::default();
        let mut file = metadata(c"/", Fields::MNT_ID);
        (file.mnt_id, file.dev) = (30, 5);
        let failed = types.look_up(&file, || Err(io::ErrorKind::OutOfMemory.into()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        let found = types.look_up(&file, || Ok(vec![mount(30, 5, "xfs")]));
        assert_eq!(found.unwrap(), b"xfs");
    }
}
