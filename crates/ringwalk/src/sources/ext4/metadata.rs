//! The metadata that statx(2) would return for an inode.

use super::OpenMount;
use crate::sources::project_id::is_file_or_directory;
use crate::visit::metadata::{Fields, Metadata, RESERVED, Timestamp};
use ringwalk_ext4::{Inode, InodeFlags};
use rustix::fs::makedev;

/// Inode flags, and the `STATX_ATTR_*` bits (linux/stat.h) that stand for them; those that ext4
/// reports.
const ATTRIBUTES: [(u32, u64); 6] = [
    (InodeFlags::COMPRESSED, 0x4),
    (InodeFlags::IMMUTABLE, 0x10),
    (InodeFlags::APPEND, 0x20),
    (InodeFlags::NODUMP, 0x40),
    (InodeFlags::ENCRYPTED, 0x800),
    (InodeFlags::VERITY, 0x10_0000),
];

/// The union of all flags in [`ATTRIBUTES`].
const ANY_ATTRIBUTE: u32 = {
    let mut any = 0;
    let mut at = 0;
    while at < ATTRIBUTES.len() {
        any |= ATTRIBUTES[at].0;
        at += 1;
    }
    any
};

/// The times, which take as long to decode as all other fields.
const TIMES: Fields = Fields::ATIME
    .union(Fields::MTIME)
    .union(Fields::CTIME)
    .union(Fields::BTIME);

/// Fields that are always returned, as statx(2) does: the basic fields and, since Linux 5.8, the
/// mount.
const ALWAYS: Fields = Fields::VOLUME.difference(TIMES);

/// Returns the metadata of a file on `mounted`, for a caller that asks for `fields`.
#[inline]
pub(crate) fn to_metadata(inode: &Inode<'_>, mounted: &OpenMount, fields: Fields) -> Metadata {
    let shared = &mounted.metadata;
    let mode = inode.mode();
    let flags = inode.flags();
    let rdev = match mode & 0o170_000 {
        // Block and character devices.
        0o060_000 | 0o020_000 => {
            let (major, minor) = inode.device();
            makedev(major, minor)
        }
        _ => 0,
    };
    let mut metadata = Metadata {
        mask: ALWAYS,
        mode,
        nlink: inode.links(),
        uid: inode.uid(),
        gid: inode.gid(),
        block_size: shared.block_size,
        ino: u64::from(inode.ino()),
        size: inode.size(),
        blocks: inode.blocks(),
        dev: shared.dev,
        rdev,
        mnt_id: shared.mnt_id,
        attributes: attributes(flags.0),
        atime: Timestamp::default(),
        mtime: Timestamp::default(),
        ctime: Timestamp::default(),
        btime: Timestamp::default(),
        project_id: 0,
        reserved: RESERVED,
    };
    if fields.intersects(TIMES) {
        add_times(&mut metadata, inode, fields);
    }
    if fields.contains(Fields::PROJECT_ID) {
        add_project_id(&mut metadata, inode, mounted);
    }
    metadata
}

/// Adds the project id, as `ext4_fileattr_get` does: 0 if the file system has no projects.
fn add_project_id(metadata: &mut Metadata, inode: &Inode<'_>, mounted: &OpenMount) {
    // The ext2 driver reports no projects, even on a file system that has them.
    let is_ext4 = mounted.mount.file_system == "ext4" || mounted.mount.file_system == "ext3";
    if is_ext4 && is_file_or_directory(metadata.mode) {
        metadata.project_id = inode.project().unwrap_or(0);
        metadata.mask |= Fields::PROJECT_ID;
    }
}

fn add_times(metadata: &mut Metadata, inode: &Inode<'_>, fields: Fields) {
    let time = |time: ringwalk_ext4::Timestamp| Timestamp {
        secs: time.secs,
        nanos: time.nanos,
    };
    metadata.mask |= TIMES;
    metadata.atime = time(inode.atime());
    metadata.mtime = time(inode.mtime());
    metadata.ctime = time(inode.ctime());
    let birth = inode.btime().filter(|_| fields.contains(Fields::BTIME));
    metadata.mask.set(Fields::BTIME, birth.is_some());
    metadata.btime = birth.map(time).unwrap_or_default();
}

#[inline]
fn attributes(flags: u32) -> u64 {
    if flags & ANY_ATTRIBUTE == 0 {
        return 0;
    }
    let set = ATTRIBUTES.iter().filter(|(flag, _)| flags & flag != 0);
    set.fold(0, |all, (_, attribute)| all | attribute)
}

/// Returns true if the kernel has to be asked for the inode.
#[inline]
pub(crate) fn is_unsure(inode: &Inode<'_>, mounted: &OpenMount) -> bool {
    is_odd(inode) || lags(inode, mounted)
}

/// Returns true if the inode holds values that no file system writes, and that the kernel changes.
/// These are more nanoseconds than a second has, which the kernel carries over, and data in the
/// inode that are elsewhere or would not fit.
#[inline]
fn is_odd(inode: &Inode<'_>) -> bool {
    let times = [inode.atime(), inode.mtime(), inode.ctime()];
    let has_data = inode.mode() & 0o170_000 == 0o100_000
        && inode.flags().contains(InodeFlags::INLINE_DATA)
        && inode.blocks() != inode.size().div_ceil(512);
    has_data || times.iter().any(|time| time.nanos >= 1_000_000_000)
}

/// Returns true if an inode may lag behind statx(2), or differ from its answer.
#[inline]
fn lags(inode: &Inode<'_>, mounted: &OpenMount) -> bool {
    match inode.mode() & 0o170_000 {
        0o100_000 => mounted.is_unsettled(inode.ctime().secs),
        // statx(2) returns the length of the decrypted target as the size of an encrypted link.
        0o120_000 => {
            inode.flags().contains(InodeFlags::ENCRYPTED)
                || mounted.is_unsettled(inode.ctime().secs)
        }
        // No data waits for write-back, but the number may belong to another file by now.
        _ => mounted.is_new(inode.ctime().secs),
    }
}
