//! Which file an entry is: device, inode number and time of birth.
//!
//! An entry was shown some time before it is deleted. Meanwhile another file may have taken its
//! name. The two are the same file if device, inode number, time of birth and the kind (directory
//! or not) are the same. Size and times of change are not compared: a log that grew, or a file
//! that lost a hard link a moment ago, is still the file that was shown.
//!
//! A file system may reuse the inode number of a deleted file at once. The time of birth is then
//! another one. Some file systems report no time of birth. There only device, inode number and kind
//! are compared, and a new file of the same name with a reused inode number passes for the old one.

use ringwalk::{Fields, Metadata};
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, Statx, StatxAttributes, StatxFlags, makedev, statx};
use rustix::io::Errno;
use std::num::NonZeroU32;

/// A fingerprint of a time of birth, in 4 bytes.
///
/// Two times of one file system have the same fingerprint with a probability of 2^-32. An option of
/// it takes 4 bytes, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BirthMark(NonZeroU32);

impl BirthMark {
    /// Returns the fingerprint of a time: seconds since 1970 in UTC, and nanoseconds after that.
    pub fn new(seconds: i64, nanoseconds: u32) -> Self {
        // The finalizer of SplitMix64 (Steele, Lea, Flood 2014): each bit of the input changes
        // half of the bits of the output.
        let mut mixed = seconds.cast_unsigned() ^ (u64::from(nanoseconds) << 34);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper half. Zero stands for no time of birth.
        let upper = u32::try_from(mixed >> 32).unwrap_or(0);
        Self(NonZeroU32::new(upper).unwrap_or(NonZeroU32::MIN))
    }

    /// Returns the fingerprint as a number that is not 0.
    pub fn to_bits(self) -> u32 {
        self.0.get()
    }

    /// Returns the fingerprint that [`to_bits`](Self::to_bits) made a number of, or `None` for 0.
    pub fn from_bits(bits: u32) -> Option<Self> {
        NonZeroU32::new(bits).map(Self)
    }
}

/// Which file an entry was when it was shown. The head of this module's file says what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Device, in the form of `st_dev`.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Time of birth; `None` if the file system has none. A file that is known with a time of birth
    /// differs from one without.
    pub birth: Option<BirthMark>,
}

impl Identity {
    /// Returns the identity in metadata that a walk has read.
    ///
    /// The walk must ask for [`Fields::BTIME`]. Without it nothing can be deleted where the file
    /// system has times of birth.
    pub fn of(metadata: &Metadata) -> Self {
        let birth = metadata.btime;
        let has_birth = metadata.mask.contains(Fields::BTIME);
        Self {
            device: metadata.dev,
            inode: metadata.ino,
            birth: has_birth.then(|| BirthMark::new(birth.secs, birth.nanos)),
        }
    }

    /// Returns true if the other one is the same inode, whatever its time of birth.
    pub(super) fn is_inode(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// What the system says of a file now.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Which file it is.
    pub identity: Identity,
    /// True if it is a directory.
    pub is_directory: bool,
    /// True if something is mounted here, or would be at an access (autofs).
    pub is_mount_point: bool,
    /// Id of the mount that the file is on. `None` before Linux 5.8.
    pub mount: Option<u64>,
    /// Apparent size in bytes.
    pub size: u64,
    /// Allocated bytes.
    pub allocated: u64,
    /// Number of hard links.
    pub links: u32,
    /// User that owns the file.
    pub owner: u32,
    /// Type and permissions, as `st_mode`.
    pub mode: u16,
}

impl Found {
    /// Reads about a name in a directory. Follows no symbolic link and triggers no mount.
    ///
    /// # Errors
    ///
    /// Those of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html).
    pub fn at(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Self, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        Self::read(directory, name, flags)
    }

    /// Reads about an open file.
    pub(super) fn of(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        Self::read(file, b"", AtFlags::EMPTY_PATH)
    }

    fn read(file: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<Self, Errno> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        statx(file, name, flags, mask).map(|stat| Self::new(&stat))
    }

    fn new(stat: &Statx) -> Self {
        let has = |field: StatxFlags| stat.stx_mask & field.bits() != 0;
        let birth = stat.stx_btime;
        let mounted = StatxAttributes::MOUNT_ROOT | StatxAttributes::AUTOMOUNT;
        Self {
            identity: Identity {
                device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
                inode: stat.stx_ino,
                birth: has(StatxFlags::BTIME).then(|| BirthMark::new(birth.tv_sec, birth.tv_nsec)),
            },
            // S_IFMT and S_IFDIR (inode(7)).
            is_directory: stat.stx_mode & 0o170_000 == 0o040_000,
            is_mount_point: stat.stx_attributes.intersects(mounted),
            mount: has(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
            size: stat.stx_size,
            allocated: stat.stx_blocks.saturating_mul(512),
            links: stat.stx_nlink,
            owner: stat.stx_uid,
            mode: stat.stx_mode,
        }
    }

    /// Returns the bytes that the file system gets back when this name is removed.
    pub(super) fn freed(&self) -> u64 {
        let is_last = self.is_directory || self.links <= 1;
        if is_last { self.allocated } else { 0 }
    }
}

#[cfg(test)]
mod tests;
