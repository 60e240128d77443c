//! Entries and their metadata, as C sees them.

use super::numbers::RINGWALK_FOLLOWED;
use ringwalk::{EntryRef, Errno, Metadata, Timestamp};
use std::ffi::c_char;
use std::mem::offset_of;
use std::ptr;

/// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, and nanoseconds from 0 to 999999999 after that
/// second.
#[derive(Debug)]
#[repr(C)]
pub struct RingwalkTimestamp {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanoseconds: u32,
}

/// What is known of a file. Only the members that mask names hold an answer; those of devices, block_size and
/// attributes always do.
#[derive(Debug)]
#[repr(C)]
pub struct RingwalkMetadata {
    /// What was answered: RINGWALK_FIELD_ bits.
    pub mask: u32,
    /// Type and permission bits, as in st_mode.
    pub mode: u32,
    /// Number of hard links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Preferred size of an I/O request, in bytes.
    pub block_size: u32,
    /// Inode number.
    pub inode: u64,
    /// Apparent size, in bytes.
    pub size: u64,
    /// Allocated size, in units of 512 bytes.
    pub blocks: u64,
    /// Device the file is on, in the form of st_dev.
    pub device: u64,
    /// Device that a device file stands for, in the form of st_rdev.
    pub represented_device: u64,
    /// Mount the file was seen through.
    pub mount_id: u64,
    /// STATX_ATTR_ bits of statx(2).
    pub attributes: u64,
    /// Time of last access.
    pub access_time: RingwalkTimestamp,
    /// Time of last change of the contents.
    pub modification_time: RingwalkTimestamp,
    /// Time of last change of the inode.
    pub change_time: RingwalkTimestamp,
    /// Time of birth.
    pub birth_time: RingwalkTimestamp,
}

/// C reads the engine's metadata where it lies: both types must agree byte for byte.
const _: () = {
    macro_rules! same {
        ($ours:ident.$our:ident, $theirs:ident.$their:ident) => {
            assert!(offset_of!($ours, $our) == offset_of!($theirs, $their));
        };
    }
    assert!(size_of::<RingwalkTimestamp>() == size_of::<Timestamp>());
    assert!(align_of::<RingwalkTimestamp>() == align_of::<Timestamp>());
    same!(RingwalkTimestamp.seconds, Timestamp.secs);
    same!(RingwalkTimestamp.nanoseconds, Timestamp.nanos);
    assert!(size_of::<RingwalkMetadata>() == size_of::<Metadata>());
    assert!(align_of::<RingwalkMetadata>() == align_of::<Metadata>());
    assert!(size_of::<ringwalk::Fields>() == size_of::<u32>());
    same!(RingwalkMetadata.mask, Metadata.mask);
    same!(RingwalkMetadata.mode, Metadata.mode);
    same!(RingwalkMetadata.nlink, Metadata.nlink);
    same!(RingwalkMetadata.uid, Metadata.uid);
    same!(RingwalkMetadata.gid, Metadata.gid);
    same!(RingwalkMetadata.block_size, Metadata.block_size);
    same!(RingwalkMetadata.inode, Metadata.ino);
    same!(RingwalkMetadata.size, Metadata.size);
    same!(RingwalkMetadata.blocks, Metadata.blocks);
    same!(RingwalkMetadata.device, Metadata.dev);
    same!(RingwalkMetadata.represented_device, Metadata.rdev);
    same!(RingwalkMetadata.mount_id, Metadata.mnt_id);
    same!(RingwalkMetadata.attributes, Metadata.attributes);
    same!(RingwalkMetadata.access_time, Metadata.atime);
    same!(RingwalkMetadata.modification_time, Metadata.mtime);
    same!(RingwalkMetadata.change_time, Metadata.ctime);
    same!(RingwalkMetadata.birth_time, Metadata.btime);
};

/// One entry of a directory. Its pointers are valid as long as the batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkEntry {
    /// The name, ended by NUL: any bytes but '/'; of a root its path as given.
    pub name: *const c_char,
    /// Length of the name in bytes, without the NUL.
    pub name_length: usize,
    /// Inode number as the directory has it (at a mount point: that of the directory underneath); 0 for roots.
    pub inode: u64,
    /// The metadata; NULL if none was asked for, or it could not be had.
    pub metadata: *const RingwalkMetadata,
    /// Why there is no metadata: an errno; else 0. The same failure comes as a batch of its own, too.
    pub stat_error: i32,
    /// RINGWALK_TYPE_...
    pub r#type: u8,
    /// RINGWALK_FOLLOWED or 0.
    pub flags: u8,
}

impl From<EntryRef<'_>> for RingwalkEntry {
    /// A view; it points to what the entry is in.
    fn from(entry: EntryRef<'_>) -> Self {
        let name = entry.c_name();
        let metadata = entry.metadata();
        Self {
            name: name.as_ptr(),
            name_length: name.count_bytes(),
            inode: entry.ino(),
            metadata: metadata.map_or(ptr::null(), |known| ptr::from_ref(known).cast()),
            stat_error: entry.stat_error().map_or(0, Errno::raw_os_error),
            r#type: entry.file_type() as u8,
            flags: if entry.is_followed() {
                RINGWALK_FOLLOWED
            } else {
                0
            },
        }
    }
}
