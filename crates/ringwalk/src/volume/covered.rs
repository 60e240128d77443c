//! Entries that something else is mounted on.
//!
//! A file system knows nothing of what is mounted on its files: read past the VFS, a mount point looks like what lies under
//! it. The table of mounts tells which entries these are; they, and everything below them, are asked by system calls.

use super::{Mounted, Refused, read_mounts};
use crate::metadata::{Fields, Metadata};
use crate::mounts::Mount;
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ioctl_getflags, openat};
use rustix::io::Errno;
use rustix::path::Arg;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;

/// The entries of one mount that others are mounted on.
#[derive(Debug, Default)]
pub(crate) struct Covered {
    /// Names, by the inode number of the directory that they are in.
    names: HashMap<u64, Vec<Vec<u8>>>,
}

impl Covered {
    /// Those of the mount of `mounted`, as they are now.
    ///
    /// # Errors
    ///
    /// If it cannot be found out where something is mounted.
    pub(crate) fn of(mounted: &Mounted) -> Result<Self, Refused> {
        let mut covered = Self::default();
        for mount in read_mounts()? {
            if mount.parent == mounted.mount.id && mount.id != mounted.mount.id {
                covered.add(&mount, mounted)?;
            }
        }
        Ok(covered)
    }

    fn add(&mut self, mount: &Mount, mounted: &Mounted) -> Result<(), Refused> {
        // `/` itself is covered: by a mount that nobody gets below of any more.
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
            // Who is below it all the same, by a working directory or an open one, sees what this path does not lead to.
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

    /// Names in the directory with this inode number.
    pub(crate) fn names_in(&self, directory: u64) -> &[Vec<u8>] {
        self.names.get(&directory).map_or(&[], Vec::as_slice)
    }

    /// Whether something is mounted on this entry.
    pub(crate) fn contains(&self, directory: u64, name: &[u8]) -> bool {
        self.names_in(directory)
            .iter()
            .any(|covered| covered == name)
    }
}

/// Whether a directory finds names in whatever case they are asked for (`FS_CASEFOLD_FL`, linux/fs.h): the table of mounts has the name
/// that was asked for. File systems without flags have no such directories.
fn is_case_insensitive(path: &[u8]) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, path, flags, Mode::empty())?;
    match ioctl_getflags(&directory) {
        Ok(flags) => Ok(flags.bits() & 0x4000_0000 != 0),
        Err(Errno::NOTTY | Errno::OPNOTSUPP) => Ok(false),
        Err(errno) => Err(errno),
    }
}
