//! Metadata of a file, and which fields of it are wanted.

use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::{Statx, statx, statx_at};
use rustix::fs::{AtFlags, CWD};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

bitflags::bitflags! {
    /// Fields of a file's metadata: what a walk asks for, and what an answer holds. The values are statx(2)'s
    /// `STATX_*`.
    ///
    /// Asking for none means that no `statx` is called for an entry, unless its type has to be found out to know
    /// whether it is a directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(transparent)]
    #[doc(alias = "statx mask")]
    pub struct Fields: u32 {
        /// File type (`STATX_TYPE`).
        const TYPE = 0x0001;
        /// Permission bits (`STATX_MODE`).
        const MODE = 0x0002;
        /// Number of hard links (`STATX_NLINK`).
        const NLINK = 0x0004;
        /// Owner (`STATX_UID`).
        const UID = 0x0008;
        /// Group (`STATX_GID`).
        const GID = 0x0010;
        /// Time of last access (`STATX_ATIME`).
        const ATIME = 0x0020;
        /// Time of last change of the contents (`STATX_MTIME`).
        const MTIME = 0x0040;
        /// Time of last change of the inode (`STATX_CTIME`).
        const CTIME = 0x0080;
        /// Inode number (`STATX_INO`).
        const INO = 0x0100;
        /// Apparent size in bytes (`STATX_SIZE`).
        const SIZE = 0x0200;
        /// Allocated blocks of 512 bytes (`STATX_BLOCKS`).
        const BLOCKS = 0x0400;
        /// Time of birth (`STATX_BTIME`).
        const BTIME = 0x0800;
        /// Mount the file is seen through (`STATX_MNT_ID`, Linux 5.8).
        const MNT_ID = 0x1000;
    }
}

/// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, and nanoseconds from 0 to 999 999 999 after
/// that second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Timestamp {
    /// Seconds since the epoch.
    pub secs: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
}

/// What `statx` or another source says of a file. Only the fields named in [`mask`](Self::mask) hold an answer;
/// device and attributes always do.
///
/// In the order of its members, which C reads in place (`ringwalk-capi`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "statx")]
pub struct Metadata {
    /// The fields that were really returned.
    pub mask: Fields,
    /// Type and permission bits, as in `st_mode`.
    pub mode: u32,
    /// Number of hard links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Preferred size of an I/O request in bytes.
    pub block_size: u32,
    /// Inode number.
    pub ino: u64,
    /// Apparent size in bytes.
    pub size: u64,
    /// Allocated size in units of 512 bytes.
    pub blocks: u64,
    /// Device the file is on, in the form of `st_dev`.
    pub dev: u64,
    /// Device that a device file stands for, in the form of `st_rdev`.
    pub rdev: u64,
    /// Mount id; comparable with that of another file while both stay mounted.
    pub mnt_id: u64,
    /// `STATX_ATTR_*` bits.
    pub attributes: u64,
    /// Time of last access.
    pub atime: Timestamp,
    /// Time of last change of the contents.
    pub mtime: Timestamp,
    /// Time of last change of the inode.
    pub ctime: Timestamp,
    /// Time of birth.
    pub btime: Timestamp,
}

impl Metadata {
    /// Asks the kernel for these fields of a file. A relative path is below the directory whose
    /// descriptor has the number `base`, or below the working directory. Nothing is mounted for an
    /// answer.
    ///
    /// # Errors
    ///
    /// Those of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html); `EINVAL` if the
    /// path has a NUL byte.
    pub fn of_path(
        base: Option<RawFd>,
        path: impl AsRef<Path>,
        follow: bool,
        fields: Fields,
    ) -> Result<Self, Errno> {
        let path = CString::new(path.as_ref().as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        let mut stat = Statx::default();
        retry_on_intr(|| match base {
            None => statx(CWD, &path, flags, fields.bits(), &mut stat),
            Some(number) => statx_at(number, &path, flags, fields.bits(), &mut stat),
        })?;
        Ok(Self::from(&stat))
    }

    /// The type in the mode bits.
    pub fn file_type(&self) -> FileType {
        FileType::from_mode(self.mode)
    }

    /// What makes this file the same as another: device and inode number.
    pub fn identity(&self) -> Identity {
        Identity {
            dev: self.dev,
            ino: self.ino,
        }
    }
}

impl From<&Statx> for Metadata {
    #[inline]
    fn from(stat: &Statx) -> Self {
        macro_rules! time {
            ($time:ident) => {
                Timestamp {
                    secs: stat.$time.tv_sec,
                    nanos: stat.$time.tv_nsec,
                }
            };
        }
        Self {
            mask: Fields::from_bits_truncate(stat.stx_mask),
            mode: u32::from(stat.stx_mode),
            nlink: stat.stx_nlink,
            uid: stat.stx_uid,
            gid: stat.stx_gid,
            block_size: stat.stx_blksize,
            ino: stat.stx_ino,
            size: stat.stx_size,
            blocks: stat.stx_blocks,
            dev: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            rdev: rustix::fs::makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
            mnt_id: stat.stx_mnt_id,
            attributes: stat.stx_attributes,
            atime: time!(stx_atime),
            mtime: time!(stx_mtime),
            ctime: time!(stx_ctime),
            btime: time!(stx_btime),
        }
    }
}

/// Device and inode number: what tells one file from every other while it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Device, in the form of `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_path_below_a_descriptor_is_that_below_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), b"12345").unwrap();
        std::os::unix::fs::symlink("file", dir.path().join("link")).unwrap();
        let open = std::fs::File::open(dir.path()).unwrap();
        let ask = |base, path: &Path, follow| Metadata::of_path(base, path, follow, Fields::SIZE);
        for (base, path) in [
            (None, dir.path().join("link")),
            (Some(open.as_raw_fd()), "link".into()),
        ] {
            assert_eq!(ask(base, &path, true).unwrap().size, 5);
            assert_eq!(ask(base, &path, false).unwrap().size, 4);
        }
        assert_eq!(ask(Some(-1), "link".as_ref(), true), Err(Errno::BADF));
        assert_eq!(ask(None, "a\0b".as_ref(), true), Err(Errno::INVAL));
    }
}
