//! An inode as statx(2) would tell of it.

use super::Mounted;
use crate::metadata::{Fields, Metadata, Timestamp};
use ringwalk_ext4::{Inode, InodeFlags};
use rustix::fs::makedev;

/// Flags and the `STATX_ATTR_*` bits that stand for them (linux/stat.h); what ext4 tells of a file.
const ATTRIBUTES: [(u32, u64); 6] = [
    (InodeFlags::COMPRESSED, 0x4),
    (InodeFlags::IMMUTABLE, 0x10),
    (InodeFlags::APPEND, 0x20),
    (InodeFlags::NODUMP, 0x40),
    (InodeFlags::ENCRYPTED, 0x800),
    (InodeFlags::VERITY, 0x10_0000),
];

/// All flags of [`ATTRIBUTES`].
const ANY_ATTRIBUTE: u32 = {
    let mut any = 0;
    let mut at = 0;
    while at < ATTRIBUTES.len() {
        any |= ATTRIBUTES[at].0;
        at += 1;
    }
    any
};

/// Times, which take as long to decode as all the rest.
const TIMES: Fields = Fields::ATIME
    .union(Fields::MTIME)
    .union(Fields::CTIME)
    .union(Fields::BTIME);

/// What is told asked for or not: as by statx(2) the basic fields and, since Linux 5.8, the mount.
const ALWAYS: Fields = Fields::all().difference(TIMES);

/// The metadata of a file on `mounted`, asked for with `fields`.
#[inline]
pub(crate) fn to_metadata(inode: &Inode<'_>, mounted: &Mounted, fields: Fields) -> Metadata {
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
    };
    if fields.intersects(TIMES) {
        add_times(&mut metadata, inode, fields);
    }
    metadata
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

/// Whether an inode has to be asked for by name.
#[inline]
pub(crate) fn is_unsure(inode: &Inode<'_>, mounted: &Mounted) -> bool {
    is_odd(inode) || lags(inode, mounted)
}

/// Whether the inode holds what no file system writes, and of which the kernel makes something of its own: more
/// nanoseconds than a second has, which it carries over, and data in the inode that are elsewhere or would not fit.
#[inline]
fn is_odd(inode: &Inode<'_>) -> bool {
    let times = [inode.atime(), inode.mtime(), inode.ctime()];
    let has_data = inode.mode() & 0o170_000 == 0o100_000
        && inode.flags().contains(InodeFlags::INLINE_DATA)
        && inode.blocks() != inode.size().div_ceil(512);
    has_data || times.iter().any(|time| time.nanos >= 1_000_000_000)
}

/// Whether what an inode says of itself may lag behind, or is not what statx(2) says.
#[inline]
fn lags(inode: &Inode<'_>, mounted: &Mounted) -> bool {
    match inode.mode() & 0o170_000 {
        0o100_000 => mounted.is_unsettled(inode.ctime().secs),
        // The size of an encrypted link is told as that of the name that it leads to.
        0o120_000 => {
            inode.flags().contains(InodeFlags::ENCRYPTED)
                || mounted.is_unsettled(inode.ctime().secs)
        }
        // No data to be written, but perhaps another file by now.
        _ => mounted.is_new(inode.ctime().secs),
    }
}
