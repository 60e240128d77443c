//! The metadata that statx(2) would return for a record of BULKSTAT.

use super::Xfs;
use crate::sources::project_id::is_file_or_directory;
use crate::visit::metadata::{Fields, Metadata, RESERVED, Timestamp};
use ringwalk_sys::{RawFileType as FileType, XfsBulkstat};
use rustix::fs::makedev;

/// `FS_XFLAG_*` flags (linux/fs.h) that statx(2) reports, and the `STATX_ATTR_*` bits
/// (linux/stat.h) that stand for them.
const ATTRIBUTES: [(u64, u64); 3] = [
    // Immutable.
    (0x8, 0x10),
    // Append only.
    (0x10, 0x20),
    // Not for dump(8).
    (0x80, 0x40),
];

/// The union of all flags in [`ATTRIBUTES`].
const ANY_ATTRIBUTE: u64 = ATTRIBUTES[0].0 | ATTRIBUTES[1].0 | ATTRIBUTES[2].0;

/// `FS_XFLAG_*` flags that do not change the answer of statx(2). These are all flags up to Linux
/// 6.18 except `FS_XFLAG_REALTIME`, with which the preferred size of requests differs, and
/// `FS_XFLAG_DAX`.
const WITHOUT_EFFECT: u64 = 0x8001_7f62;

/// Fields that statx(2) always returns: the basic fields and, since Linux 5.8, the mount.
const ALWAYS: Fields = Fields::VOLUME.difference(Fields::BTIME);

/// Returns true if a record lags behind the answer of statx(2), or lacks a part of it. `record`
/// must have links.
#[inline]
pub(crate) fn is_unsure(record: &XfsBulkstat, xfs: &Xfs) -> bool {
    // The record has the size on the disk, which is updated when the data behind it has been
    // written back. It counts blocks of delayed allocation.
    let lags = FileType::from_mode(u32::from(record.mode)) == FileType::Regular
        && xfs.mounted.is_unsettled(record.ctime);
    let has_unknown_flags = record.xflags & !(ANY_ATTRIBUTE | WITHOUT_EFFECT) != 0;
    // If the inode itself holds the contents of the file, the record does not count blocks of
    // extended attributes.
    let lacks_blocks = record.blocks == 0 && record.aextents != 0;
    lags || has_unknown_flags || lacks_blocks
}

/// Returns the metadata of a file, for a caller that asks for `fields`.
#[inline]
pub(crate) fn to_metadata(record: &XfsBulkstat, xfs: &Xfs, fields: Fields) -> Metadata {
    let shared = &xfs.mounted.metadata;
    let time = |secs, nanos| Timestamp { secs, nanos };
    let mode = u32::from(record.mode);
    let (rdev, block_size) = match FileType::from_mode(mode) {
        // XFS creates no device files whose numbers do not fit in 14 and 18 bits.
        FileType::BlockDevice | FileType::CharacterDevice => (
            makedev(record.rdev >> 18, record.rdev & 0x3_ffff),
            record.blksize,
        ),
        FileType::Unknown
        | FileType::Regular
        | FileType::Directory
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket => (0, shared.block_size),
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
        project_id: 0,
        reserved: RESERVED,
    };
    if fields.contains(Fields::BTIME) {
        metadata.btime = time(record.btime, record.btime_nsec);
    }
    if fields.contains(Fields::PROJECT_ID) && is_file_or_directory(mode) {
        metadata.project_id = record.projectid;
        metadata.mask |= Fields::PROJECT_ID;
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
