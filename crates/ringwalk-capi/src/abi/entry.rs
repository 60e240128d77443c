//! Entries and their metadata, as C sees them.

use super::numbers::RINGWALK_FOLLOWED;
use ringwalk::{EntryRef, Errno, Fields, Metadata, Timestamp};
use std::ffi::c_char;
use std::mem::offset_of;
use std::ptr;

/// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, plus nanoseconds from 0 to
/// 999999999.
#[derive(Debug)]
#[repr(C)]
pub struct RingwalkTimestamp {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanoseconds: u32,
}

/// Metadata of a file. A member is valid only if mask names its field; the members device,
/// represented_device, block_size and attributes are always valid.
#[derive(Debug)]
#[repr(C)]
pub struct RingwalkMetadata {
    /// Fields that are known: RINGWALK_FIELD_ bits.
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
    /// Id of the mount that the file was reached through.
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
    /// Project that the file counts for in quotas.
    pub project_id: u32,
    /// Zero. Later versions put new members in this space.
    pub reserved: [u32; 5],
}

/// Programs are compiled with these offsets, so none ever changes. C reads the engine's metadata in
/// place, so the members of both types must lie at the same offsets. (A copy took 0.7 to 1.5 % of
/// the CPU time of a walk by system calls, and 2.6 to 7 % of one by ext4.) A new member takes
/// reserved space in both types.
const _: () = {
    let mut index = 0;
    macro_rules! at {
        ($($offset:literal: $our:ident),* $(,)?) => {
            $(
                assert!(offset_of!(RingwalkMetadata, $our) == $offset);
                assert!(Metadata::OFFSETS[index] == $offset);
                index += 1;
            )*
        };
    }
    at!(
        0: mask,
        4: mode,
        8: nlink,
        12: uid,
        16: gid,
        20: block_size,
        24: inode,
        32: size,
        40: blocks,
        48: device,
        56: represented_device,
        64: mount_id,
        72: attributes,
        80: access_time,
        96: modification_time,
        112: change_time,
        128: birth_time,
        144: project_id,
    );
    assert!(index == Metadata::OFFSETS.len());
    assert!(offset_of!(RingwalkMetadata, reserved) == 148);
    assert!(size_of::<RingwalkMetadata>() == 168);
    assert!(size_of::<Metadata>() == size_of::<RingwalkMetadata>());
    assert!(align_of::<Metadata>() == align_of::<RingwalkMetadata>());
    assert!(size_of::<Fields>() == size_of::<u32>());
    assert!(offset_of!(RingwalkTimestamp, seconds) == 0 && offset_of!(Timestamp, secs) == 0);
    assert!(offset_of!(RingwalkTimestamp, nanoseconds) == 8 && offset_of!(Timestamp, nanos) == 8);
    assert!(size_of::<RingwalkTimestamp>() == 16 && size_of::<Timestamp>() == 16);
};

/// An entry of a directory. Its pointers are valid as long as the batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkEntry {
    /// The name, which ends with NUL: any bytes except '/'. The name of a root is its path as
    /// given.
    pub name: *const c_char,
    /// Length of the name in bytes, without the NUL.
    pub name_length: usize,
    /// Inode number that the directory lists; 0 for roots. At a mount point, this is the number of
    /// the directory underneath.
    pub inode: u64,
    /// The metadata; NULL if the options ask for none, or it could not be read.
    pub metadata: *const RingwalkMetadata,
    /// The errno of the failure if metadata could not be read; else 0. The failure also comes as a
    /// batch of its own.
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
