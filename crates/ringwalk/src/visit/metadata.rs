//! Metadata of a file, and the set of fields that a caller asks for.

use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::Statx;
use std::mem::offset_of;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

    /// The fields that every file has: `STATX_BASIC_STATS`.
    const BASIC: Self = Self::from_bits_truncate(0x07ff);

    /// The fields of statx(2) that are taken from file systems past the VFS. A source must not say
    /// that it knows another one.
    pub(crate) const VOLUME: Self = Self::BASIC.union(Self::BTIME).union(Self::MNT_ID);

    /// Returns the mask to call statx(2) with.
    pub(crate) const fn statx_mask(self) -> u32 {
        self.intersection(Self::STATX).bits()
    }

    /// Returns those of the fields without which an answer is none: every file has them.
    #[inline]
    pub(crate) const fn required(self) -> Self {
        self.intersection(Self::BASIC)
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

impl Timestamp {
    /// Returns the time in the form of the standard library; `None` if that cannot hold it.
    pub fn to_system_time(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.secs.unsigned_abs());
        let second = if self.secs < 0 {
            UNIX_EPOCH.checked_sub(whole)
        } else {
            UNIX_EPOCH.checked_add(whole)
        };
        second?.checked_add(Duration::from_nanos(self.nanos.into()))
    }
}

/// Metadata of a file, from `statx` or another source.
///
/// Each accessor returns `None` if its field is not known: nobody asked for it, or the source does
/// not have it. So no value is made up. More fields than those asked for may be known.
///
/// ```
/// use ringwalk::{Fields, Metadata};
///
/// let file = Metadata::of_path(None, "Cargo.toml", false, Fields::SIZE)?;
/// assert!(file.size() > Some(0));
/// assert_eq!(file.project_id(), None);
/// # Ok::<(), rustix::io::Errno>(())
/// ```
///
/// The order of the members is fixed, because C reads them in place (`ringwalk-capi`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "statx")]
pub struct Metadata {
    /// The fields that are known. The others hold nothing of use.
    pub(crate) mask: Fields,
    /// Type and permission bits.
    pub(crate) mode: u32,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// 0 if it is not known.
    pub(crate) block_size: u32,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    /// [`UNKNOWN_DEVICE`] if it is not known.
    pub(crate) dev: u64,
    /// [`UNKNOWN_DEVICE`] if it is not known.
    pub(crate) rdev: u64,
    pub(crate) mnt_id: u64,
    pub(crate) attributes: u64,
    pub(crate) atime: Timestamp,
    pub(crate) mtime: Timestamp,
    pub(crate) ctime: Timestamp,
    pub(crate) btime: Timestamp,
    pub(crate) project_id: u32,
    /// Zero. New fields will take this space, so that all others keep their offsets for C programs.
    pub(crate) reserved: [u32; RESERVED.len()],
}

/// The value of the reserved space.
pub(crate) const RESERVED: [u32; 5] = [0; 5];

/// A device number that no device has: those of the kernel have 32 bits.
const UNKNOWN_DEVICE: u64 = u64::MAX;

impl Default for Metadata {
    /// Returns metadata of which nothing is known.
    fn default() -> Self {
        Self {
            mask: Fields::empty(),
            mode: 0,
            nlink: 0,
            uid: 0,
            gid: 0,
            block_size: 0,
            ino: 0,
            size: 0,
            blocks: 0,
            dev: UNKNOWN_DEVICE,
            rdev: UNKNOWN_DEVICE,
            mnt_id: 0,
            attributes: 0,
            atime: Timestamp::default(),
            mtime: Timestamp::default(),
            ctime: Timestamp::default(),
            btime: Timestamp::default(),
            project_id: 0,
            reserved: RESERVED,
        }
    }
}

/// Bits of a mode that are not its type.
const PERMISSIONS: u32 = 0o7777;

/// Defines what returns a field and what sets it, for fields that a bit of the mask stands for.
macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident, $set:ident: $value:ty = $bit:ident;)*) => {
        impl Metadata {
            $(
                $(#[$doc])*
                #[inline]
                pub const fn $field(&self) -> Option<$value> {
                    if self.mask.contains(Fields::$bit) {
                        Some(self.$field)
                    } else {
                        None
                    }
                }

                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](Self::", stringify!($field), ")."
                )]
                #[inline]
                pub fn $set(&mut self, value: $value) {
                    self.$field = value;
                    self.mask |= Fields::$bit;
                }
            )*
        }
    };
}

fields! {
    /// Returns the number of hard links.
    nlink, set_nlink: u32 = NLINK;
    /// Returns the number of the owner.
    uid, set_uid: u32 = UID;
    /// Returns the number of the group.
    gid, set_gid: u32 = GID;
    /// Returns the inode number.
    ino, set_ino: u64 = INO;
    /// Returns the apparent size in bytes.
    size, set_size: u64 = SIZE;
    /// Returns the allocated size in units of 512 bytes.
    blocks, set_blocks: u64 = BLOCKS;
    /// Returns the mount id; comparable with the id of another file while both stay mounted.
    mnt_id, set_mnt_id: u64 = MNT_ID;
    /// Returns the time of last access.
    atime, set_atime: Timestamp = ATIME;
    /// Returns the time of last change of the contents.
    mtime, set_mtime: Timestamp = MTIME;
    /// Returns the time of last change of the inode.
    ctime, set_ctime: Timestamp = CTIME;
    /// Returns the time of birth.
    btime, set_btime: Timestamp = BTIME;
    /// Returns the project to which quotas charge the file.
    project_id, set_project_id: u32 = PROJECT_ID;
}

impl Metadata {
    /// Where the members lie that C reads in place, in their order, without the reserved space.
    #[doc(hidden)]
    pub const OFFSETS: [usize; 18] = [
        offset_of!(Self, mask),
        offset_of!(Self, mode),
        offset_of!(Self, nlink),
        offset_of!(Self, uid),
        offset_of!(Self, gid),
        offset_of!(Self, block_size),
        offset_of!(Self, ino),
        offset_of!(Self, size),
        offset_of!(Self, blocks),
        offset_of!(Self, dev),
        offset_of!(Self, rdev),
        offset_of!(Self, mnt_id),
        offset_of!(Self, attributes),
        offset_of!(Self, atime),
        offset_of!(Self, mtime),
        offset_of!(Self, ctime),
        offset_of!(Self, btime),
        offset_of!(Self, project_id),
    ];

    /// Returns the fields that are known.
    #[inline]
    pub const fn mask(&self) -> Fields {
        self.mask
    }

    /// Forgets all fields but these.
    pub fn retain(&mut self, fields: Fields) {
        self.mask &= fields;
        if !fields.contains(Fields::TYPE) {
            self.mode &= PERMISSIONS;
        }
    }

    /// Returns the type; [`Unknown`](FileType::Unknown) if it is not known.
    #[inline]
    pub fn file_type(&self) -> FileType {
        // A mode without a type gives `Unknown`. A kernel that reports one without its bit in the
        // mask is right as well: no inode changes its type.
        FileType::from_mode(self.mode)
    }

    /// Sets the type.
    #[inline]
    pub fn set_file_type(&mut self, file_type: FileType) {
        self.mode = self.mode & PERMISSIONS | u32::from(file_type as u8) << 12;
        self.mask.set(Fields::TYPE, file_type != FileType::Unknown);
    }

    /// Returns the permission bits: those of a mode below 0o10000.
    #[inline]
    pub fn permissions(&self) -> Option<u32> {
        let is_known = self.mask.contains(Fields::MODE);
        is_known.then_some(self.mode & PERMISSIONS)
    }

    /// Sets the permission bits.
    #[inline]
    pub fn set_permissions(&mut self, permissions: u32) {
        self.mode = self.mode & !PERMISSIONS | permissions & PERMISSIONS;
        self.mask |= Fields::MODE;
    }

    /// Returns type and permission bits, as in `st_mode`, if both are known.
    #[inline]
    pub fn mode(&self) -> Option<u32> {
        let is_known = self.mask.contains(Fields::TYPE.union(Fields::MODE));
        is_known.then_some(self.mode)
    }

    /// Returns the device the file is on, in the form of `st_dev`. It is known of each file of a
    /// live tree.
    #[inline]
    pub const fn dev(&self) -> Option<u64> {
        if self.dev == UNKNOWN_DEVICE {
            None
        } else {
            Some(self.dev)
        }
    }

    /// Sets the device the file is on.
    #[inline]
    pub fn set_dev(&mut self, dev: u64) {
        self.dev = dev;
    }

    /// Returns the device that a device file stands for, in the form of `st_rdev`; 0 for other
    /// files. It is known where the type is, except in a saved tree that lacks it.
    #[inline]
    pub fn rdev(&self) -> Option<u64> {
        match self.file_type() {
            FileType::Unknown => None,
            FileType::BlockDevice | FileType::CharacterDevice => {
                (self.rdev != UNKNOWN_DEVICE).then_some(self.rdev)
            }
            _ => Some(0),
        }
    }

    /// Sets the device that a device file stands for.
    #[inline]
    pub fn set_rdev(&mut self, rdev: u64) {
        self.rdev = rdev;
    }

    /// Returns the preferred size of an I/O request in bytes. It is known of each file of a live
    /// tree.
    #[inline]
    pub const fn block_size(&self) -> Option<u32> {
        if self.block_size == 0 {
            None
        } else {
            Some(self.block_size)
        }
    }

    /// Returns those `STATX_ATTR_*` bits that are known to be set.
    #[inline]
    pub const fn attributes(&self) -> u64 {
        self.attributes
    }

    /// Returns the identity of the file: its device and inode number.
    #[inline]
    pub const fn identity(&self) -> Option<Identity> {
        if self.dev != UNKNOWN_DEVICE && self.mask.contains(Fields::INO) {
            Some(Identity {
                dev: self.dev,
                ino: self.ino,
            })
        } else {
            None
        }
    }

    /// Returns the time of the last change of the contents, as [`std::fs::Metadata`] does.
    pub fn modified(&self) -> Option<SystemTime> {
        self.mtime()?.to_system_time()
    }

    /// Returns the time of the last access, as [`std::fs::Metadata`] does.
    pub fn accessed(&self) -> Option<SystemTime> {
        self.atime()?.to_system_time()
    }

    /// Returns the time of birth, as [`std::fs::Metadata`] does.
    pub fn created(&self) -> Option<SystemTime> {
        self.btime()?.to_system_time()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The known values of all accessors, as text.
    fn known(metadata: &Metadata) -> Vec<(&'static str, String)> {
        macro_rules! list {
        ($($name:ident),*) => {
            [$((stringify!($name), metadata.$name().map(|value| format!("{value:?}")))),*]
        };
    }
        let all = list!(
            nlink,
            uid,
            gid,
            ino,
            size,
            blocks,
            mnt_id,
            atime,
            mtime,
            ctime,
            btime,
            project_id,
            permissions,
            mode,
            dev,
            rdev,
            block_size,
            identity,
            modified,
            accessed,
            created
        );
        let all = all.into_iter();
        all.filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    #[test]
    fn what_was_not_asked_for_is_not_known() {
        assert_eq!(known(&Metadata::default()), []);
        assert_eq!(Metadata::default().file_type(), FileType::Unknown);
        let mut file = Metadata::of_path(None, "Cargo.toml", false, Fields::all()).unwrap();
        file.retain(Fields::SIZE);
        let names: Vec<_> = known(&file).into_iter().map(|(name, _)| name).collect();
        // Every answer of the kernel has a device and a block size.
        assert_eq!(names, ["size", "dev", "block_size"]);
        assert_eq!(file.file_type(), FileType::Unknown);
        let size = std::fs::metadata("Cargo.toml").unwrap().len();
        assert_eq!(file.size(), Some(size));
    }

    #[test]
    fn what_is_set_is_known_and_nothing_else() {
        let mut size = Metadata::default();
        size.set_size(0);
        assert_eq!(known(&size), [("size", "0".to_owned())]);
        let mut file = Metadata::default();
        file.set_ino(7);
        assert_eq!(file.identity(), None, "its device is not known");
        file.set_dev(0);
        assert_eq!(file.identity(), Some(Identity { dev: 0, ino: 7 }));
        file.set_permissions(0o100_644);
        assert_eq!((file.permissions(), file.mode()), (Some(0o644), None));
        file.set_file_type(FileType::Directory);
        assert_eq!(file.mode(), Some(0o040_644));
        file.set_file_type(FileType::Unknown);
        assert_eq!((file.permissions(), file.mode()), (Some(0o644), None));
    }

    #[test]
    fn only_a_device_file_stands_for_a_device() {
        let mut file = Metadata::default();
        file.set_file_type(FileType::Regular);
        assert_eq!(file.rdev(), Some(0));
        file.set_file_type(FileType::BlockDevice);
        assert_eq!(file.rdev(), None);
        file.set_rdev(0x801);
        assert_eq!(file.rdev(), Some(0x801));
    }

    /// Neither set gets a new field by itself: an old kernel, or a source, would be wrong about it.
    #[test]
    fn sets_of_fields_do_not_grow() {
        // STATX_BASIC_STATS of linux/stat.h, and with STATX_BTIME and STATX_MNT_ID.
        assert_eq!(Fields::BASIC.bits(), 0x07ff);
        assert_eq!(Fields::VOLUME.bits(), 0x1fff);
    }

    #[test]
    fn times_of_the_standard_library() {
        let time = |secs, nanos| Timestamp { secs, nanos }.to_system_time();
        let second = Duration::from_secs(1);
        assert_eq!(time(0, 5), Some(UNIX_EPOCH + Duration::from_nanos(5)));
        let before = UNIX_EPOCH - second + Duration::from_nanos(5);
        assert_eq!(time(-1, 5), Some(before));
        assert!(time(i64::MAX, 999_999_999).is_some() && time(i64::MIN, 0).is_some());
        let file = Metadata::of_path(None, "Cargo.toml", false, Fields::MTIME).unwrap();
        let std = std::fs::metadata("Cargo.toml").unwrap();
        assert_eq!(file.modified(), std.modified().ok());
    }
}
