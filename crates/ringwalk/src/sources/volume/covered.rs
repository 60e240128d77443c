//! Entries that are mount points.
//!
//! A file system does not know which of its files are mount points: read past the VFS, a mount
//! point looks like the directory that it covers. The mount table names these entries. System calls
//! read them, and everything below them.

use super::{OpenMount, Refused, read_mounts};
use crate::system::mounts::Mount;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ioctl_getflags, openat};
use rustix::io::Errno;
use rustix::path::Arg;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;

/// The entries of one mount on which others are mounted.
#[derive(Debug, Default)]
pub(crate) struct Covered {
    /// Names of the entries, by the inode number of their directory.
    names: HashMap<u64, Vec<Vec<u8>>>,
}

impl Covered {
    /// Returns the covered entries of a mount, as they are now.
    ///
    /// # Errors
    ///
    /// If the function cannot find out where something is mounted.
    pub(crate) fn of(mounted: &OpenMount) -> Result<Self, Refused> {
        let mut covered = Self::default();
        for mount in read_mounts()? {
            if mount.parent == mounted.mount.id && mount.id != mounted.mount.id {
                covered.add(&mount, mounted)?;
            }
        }
        Ok(covered)
    }

    fn add(&mut self, mount: &Mount, mounted: &OpenMount) -> Result<(), Refused> {
        // Another mount covers `/` itself, and no path leads below it any more.
        let (Some(above), Some(name)) = (mount.point.parent(), mount.point.file_name()) else {
            return Ok(());
        };
        let mut stat = Statx::default();
        let fields = Fields::INO | Fields::MNT_ID;
        let flags = AtFlags::NO_AUTOMOUNT | AtFlags::SYMLINK_NOFOLLOW;
        let path = above.as_os_str().as_bytes();
        let looked = path
            .into_c_str()
            .and_then(|path| statx(CWD, &path, flags, fields.bits(), &mut stat));
        let unknown = |why: &str| {
            let point = mount.point.display();
            Refused::because(format!(
                "where {point} is mounted cannot be looked at: {why}"
            ))
        };
        looked.map_err(|errno| unknown(&errno.to_string()))?;
        let found = Metadata::from(&stat);
        if (found.mnt_id, found.dev) != (mounted.metadata.mnt_id, mounted.metadata.dev) {
            // A process may still be below it, through its working directory or an open one, and
            // see files to which this path does not lead.
            return Err(unknown("something else is mounted above"));
        }
        let spellings = is_case_insensitive(path);
        if spellings.map_err(|errno| unknown(&errno.to_string()))? {
            return Err(unknown("names there have many spellings"));
        }
        let names = self.names.entry(found.ino).or_default();
        names.push(name.as_bytes().to_vec());
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the names in the directory with this inode number.
    pub(crate) fn names_in(&self, directory: u64) -> &[Vec<u8>] {
        self.names.get(&directory).map_or(&[], Vec::as_slice)
    }

    /// Returns true if another mount covers this entry.
    pub(crate) fn contains(&self, directory: u64, name: &[u8]) -> bool {
        self.names_in(directory)
            .iter()
            .any(|covered| covered == name)
    }
}

/// `FS_CASEFOLD_FL` of linux/fs.h: a directory finds names in any case.
const CASEFOLD: u32 = 0x4000_0000;

/// Returns true if a directory finds names in any case. The mount table has the name that the mount
/// was made with, which may differ from the name on the disk. File systems without flags have no
/// such directories.
fn is_case_insensitive(path: &[u8]) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, path, flags, Mode::empty())?;
    match ioctl_getflags(&directory) {
        Ok(flags) => Ok(flags.bits() & CASEFOLD != 0),
        Err(Errno::NOTTY | Errno::OPNOTSUPP) => Ok(false),
        Err(errno) => Err(errno),
    }
}
