//! A record of BULKSTAT as statx(2) would tell of it.

use super::Xfs;
use crate::metadata::{Fields, Metadata, Timestamp};
use ringwalk_sys::{RawFileType as FileType, XfsBulkstat};
use rustix::fs::makedev;

/// `FS_XFLAG_*` (linux/fs.h) that statx(2) tells of, and the `STATX_ATTR_*` bits that stand for them (linux/stat.h).
const ATTRIBUTES: [(u64, u64); 3] = [
    // Immutable.
    (0x8, 0x10),
    // Append only.
    (0x10, 0x20),
    // Not for dump(8).
    (0x80, 0x40),
];

/// All flags of [`ATTRIBUTES`].
const ANY_ATTRIBUTE: u64 = ATTRIBUTES[0].0 | ATTRIBUTES[1].0 | ATTRIBUTES[2].0;

/// `FS_XFLAG_*` that statx(2) says nothing of: all up to Linux 6.18 but `FS_XFLAG_REALTIME`, where the preferred size of requests is another
/// one, and `FS_XFLAG_DAX`.
const WITHOUT_EFFECT: u64 = 0x8001_7f62;

/// What every statx tells, asked for or not: the basic fields and, since Linux 5.8, the mount.
const ALWAYS: Fields = Fields::all().difference(Fields::BTIME);

/// Whether a record lags behind what statx(2) says, or does not tell all of it. `record` must have links.
#[inline]
pub(crate) fn is_unsure(record: &XfsBulkstat, xfs: &Xfs) -> bool {
    // The size is the one on the disk, which follows when data behind it have been written back. Blocks of delayed allocation are counted.
    let lags = FileType::from_mode(u32::from(record.mode)) == FileType::Regular
        && xfs.mounted.is_unsettled(record.ctime);
    let has_unknown_flags = record.xflags & !(ANY_ATTRIBUTE | WITHOUT_EFFECT) != 0;
    // If the inode itself holds the contents of the file, blocks of extended attributes are not counted.
    let lacks_blocks = record.blocks == 0 && record.aextents != 0;
    lags || has_unknown_flags || lacks_blocks
}

/// The metadata of a file, asked for with `fields`.
#[inline]
pub(crate) fn to_metadata(record: &XfsBulkstat, xfs: &Xfs, fields: Fields) -> Metadata {
    let shared = &xfs.mounted.metadata;
    let time = |secs, nanos| Timestamp { secs, nanos };
    let mode = u32::from(record.mode);
    let (rdev, block_size) = match FileType::from_mode(mode) {
        // XFS makes no device files whose numbers do not fit in 14 and 18 bits.
        FileType::BlockDevice | FileType::CharacterDevice => (
            makedev(record.rdev >> 18, record.rdev & 0x3_ffff),
            record.blksize,
        ),
        _ => (0, shared.block_size),
    };
    let mut metadata = Metadata {
        mask: shared.mask & (ALWAYS | fields),
        mode,
        nlink: record.nlink,
        uid: record.uid,
        gid: record.gid,
        block_size,
        ino: record.ino,
        size: record.size,
        blocks: record
            .blocks
            .saturating_mul(u64::from(xfs.geometry.blocksize / 512)),
        dev: shared.dev,
        rdev,
        mnt_id: shared.mnt_id,
        attributes: attributes(record.xflags),
        atime: time(record.atime, record.atime_nsec),
        mtime: time(record.mtime, record.mtime_nsec),
        ctime: time(record.ctime, record.ctime_nsec),
        btime: Timestamp::default(),
    };
    if fields.contains(Fields::BTIME) {
        metadata.btime = time(record.btime, record.btime_nsec);
    }
    metadata
}

#[inline]
fn attributes(xflags: u64) -> u64 {
    if xflags & ANY_ATTRIBUTE == 0 {
        return 0;
    }
    let set = ATTRIBUTES.iter().filter(|(flag, _)| xflags & flag != 0);
    set.fold(0, |all, (_, attribute)| all | attribute)
}
