//! Metadata of a file, and the set of fields that a caller asks for.

use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::Statx;

bitflags::bitflags! {
    /// Fields of a file's metadata: those that a walk asks for, and those that an answer holds. The
    /// values are the `STATX_*` bits of statx(2).
    ///
    /// If a walk asks for no field, it calls `statx` only for entries whose type is unknown, to
    /// find out whether they are directories.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
        /// Id of the mount through which the file is seen (`STATX_MNT_ID`, Linux 5.8).
        const MNT_ID = 0x1000;
        /// Project to which quotas charge the file. statx(2) does not return it: it costs one more
        /// call for each file, unless the source has it. It is unknown in these cases:
        ///
        /// - on file systems without project ids;
        /// - for links and special files on ext4 and btrfs;
        /// - before Linux 6.17, for all but regular files and directories that this process may
        ///   read.
        const PROJECT_ID = 0x4000_0000;
    }
}

impl Fields {
    /// All fields of statx(2).
    pub const STATX: Self = Self::all().difference(Self::PROJECT_ID);

    /// Returns the mask to call statx(2) with.
    pub(crate) const fn statx_mask(self) -> u32 {
        self.intersection(Self::STATX).bits()
    }

    /// Returns the known fields in the mask of a statx(2) answer. Drops other bits, as a later
    /// kernel may use any of them for a field of its own.
    pub(crate) const fn from_statx(mask: u32) -> Self {
        Self::from_bits_truncate(mask).intersection(Self::STATX)
    }
}

/// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, and nanoseconds from 0 to
/// 999 999 999 after that second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Timestamp {
    /// Seconds since the epoch.
    pub secs: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
}

/// Metadata of a file, from `statx` or another source. Only the fields named in
/// [`mask`](Self::mask) are valid; device and attributes always are.
///
/// The order of the members is fixed, because C reads them in place (`ringwalk-capi`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
#[doc(alias = "statx")]
pub struct Metadata {
    /// The fields that were returned.
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
    /// Mount id; comparable with the id of another file while both stay mounted.
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
    /// Project to which quotas charge the file.
    pub project_id: u32,
    /// Zero. New fields will take this space, so that all others keep their offsets for C programs.
    pub(crate) reserved: [u32; RESERVED.len()],
}

/// The value of the reserved space.
pub(crate) const RESERVED: [u32; 5] = [0; 5];

impl Metadata {
    /// Returns the type in the mode bits.
    pub fn file_type(&self) -> FileType {
        FileType::from_mode(self.mode)
    }

    /// Returns the identity of the file: its device and inode number.
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
            mask: Fields::from_statx(stat.stx_mask),
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
            project_id: 0,
            reserved: RESERVED,
        }
    }
}

/// Device and inode number. They identify a file while it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Device, in the form of `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}
