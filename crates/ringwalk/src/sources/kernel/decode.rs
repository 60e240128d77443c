//! Decodes records of READDIRPLUS into a batch: the index, the types, and the metadata of each
//! entry.

use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::wanted::Wanted;
use crate::system::mounts::MOUNT_ROOT;
use crate::visit::metadata::{Fields, Metadata, RESERVED, Timestamp};
use ringwalk_sys::rustix::fs::AtFlags;
use ringwalk_sys::{DirectoryFd, DirentError, PlusEntry, PlusLayout, PlusStat, Statx, What, statx};
use ringwalk_sys::{RawFileType as FileType, uapi};
use rustix::io::Errno;

/// The mount id of a directory's entries, where their records lack it.
#[derive(Clone, Copy, Debug)]
enum MountId {
    /// The caller does not ask for the id, or the records have it.
    Told,
    /// All entries have the id of the directory, except entries that a file system is mounted on.
    OfDirectory(u64),
    /// The id could not be found out.
    Unknown,
}

impl MountId {
    /// Returns the mount id for the entries of `fd`.
    fn of(fd: &DirectoryFd, layout: &PlusLayout, wanted: Wanted) -> Self {
        let told = layout.mask() & Fields::MNT_ID.bits() != 0;
        if told || !wanted.fields().contains(Fields::MNT_ID) {
            return Self::Told;
        }
        let mut stat = Statx::default();
        let mask = Fields::MNT_ID.bits();
        let asked = statx(fd, c"", AtFlags::EMPTY_PATH, mask, &mut stat);
        if asked.is_ok() && stat.stx_mask & mask != 0 {
            Self::OfDirectory(stat.stx_mnt_id)
        } else {
            Self::Unknown
        }
    }
}

/// Indexes the records that were read into `batch` from the directory `fd`. Returns true if the
/// batch has all wanted metadata.
///
/// # Errors
///
/// For bytes that are not records; the entries before them are kept.
pub(crate) fn decode(
    batch: &mut RawBatch,
    fd: &DirectoryFd,
    what: &What,
    wanted: Wanted,
) -> Result<bool, DirentError> {
    match what {
        What::Names => batch.records.index().map(|()| false),
        What::Plus(layout) => {
            let complete = decode_plus(batch, layout, wanted, MountId::of(fd, layout, wanted))?;
            // Records hold no project id.
            Ok(complete && !wanted.fields().contains(Fields::PROJECT_ID))
        }
    }
}

/// Indexes records that were read without an open directory, as [`decode`] does. `wanted` has no
/// mount ids and no project ids.
///
/// # Errors
///
/// As for [`decode`].
pub(super) fn decode_tree(
    batch: &mut RawBatch,
    layout: &PlusLayout,
    wanted: Wanted,
) -> Result<bool, DirentError> {
    decode_plus(batch, layout, wanted, MountId::Told)
}

/// Indexes the records in `batch`, and keeps the metadata of each entry. Entries that need another
/// call are left unknown. Returns true if there are none.
///
/// # Errors
///
/// For bytes that are not records; the entries before them are kept.
fn decode_plus(
    batch: &mut RawBatch,
    layout: &PlusLayout,
    wanted: Wanted,
    mount: MountId,
) -> Result<bool, DirentError> {
    let RawBatch {
        records,
        known,
        failed,
        ..
    } = batch;
    let mut complete = true;
    let trusted = matches!(mount, MountId::Told) && !wanted.follows();
    records.index_plus(layout, |entry| {
        if trusted && let Ok(Some(stat)) = entry.stat() {
            let fixed = stat.fixed();
            // Metadata is large, and this runs for every file. `push` would copy it.
            known.push(Known::Nothing);
            if let Some(last) = known.last_mut() {
                *last = Known::Metadata(metadata(&stat, &fixed));
            }
            return FileType::from_mode(u32::from(fixed.mode));
        }
        let (answer, file_type) = judge(entry, wanted, mount);
        match answer {
            Known::Nothing => complete = false,
            Known::Failed(_) => *failed += 1,
            Known::Metadata(_) | Known::Followed(_) => {}
        }
        known.push(answer);
        file_type
    })?;
    Ok(complete)
}

/// Returns the answer for an entry whose record may not be the answer.
#[inline(never)]
fn judge(entry: &PlusEntry<'_>, wanted: Wanted, mount: MountId) -> (Known, FileType) {
    let stat = match entry.stat() {
        Ok(Some(stat)) => stat,
        // `statx` is certain to return the same error. Other errors, such as an interruption, may
        // concern the request alone, so `statx` decides.
        Err(errno @ (Errno::NOENT | Errno::ACCESS)) => {
            return (Known::Failed(errno), entry.file_type());
        }
        Ok(None) | Err(_) => return (Known::Nothing, entry.file_type()),
    };
    let fixed = stat.fixed();
    let file_type = FileType::from_mode(u32::from(fixed.mode));
    if wanted.follows() && file_type == FileType::Symlink {
        return (Known::Nothing, file_type);
    }
    let mut metadata = metadata(&stat, &fixed);
    match mount {
        MountId::Told => {}
        MountId::OfDirectory(id)
            if fixed.attributes & MOUNT_ROOT == 0 && fixed.attributes_mask & MOUNT_ROOT != 0 =>
        {
            metadata.mnt_id = id;
            metadata.mask |= Fields::MNT_ID;
        }
        MountId::OfDirectory(_) | MountId::Unknown => return (Known::Nothing, file_type),
    }
    (Known::Metadata(metadata), file_type)
}

#[expect(
    clippy::inline_always,
    reason = "the result is written where the caller wants it, not copied: 286 instructions an entry became 219"
)]
#[inline(always)]
fn metadata(stat: &PlusStat<'_>, fixed: &uapi::Stat) -> Metadata {
    let time = |time: uapi::Time| Timestamp {
        secs: time.sec,
        nanos: time.nsec,
    };
    let mut metadata = Metadata {
        mask: Fields::from_statx(fixed.mask & stat.available()),
        mode: u32::from(fixed.mode),
        nlink: fixed.nlink,
        uid: fixed.uid,
        gid: fixed.gid,
        block_size: fixed.blksize,
        ino: fixed.ino,
        size: fixed.size,
        blocks: fixed.blocks,
        dev: rustix::fs::makedev(fixed.dev_major, fixed.dev_minor),
        rdev: rustix::fs::makedev(fixed.rdev_major, fixed.rdev_minor),
        mnt_id: 0,
        attributes: fixed.attributes,
        atime: Timestamp::default(),
        mtime: Timestamp::default(),
        ctime: Timestamp::default(),
        btime: Timestamp::default(),
        project_id: 0,
        reserved: RESERVED,
    };
    if stat.has_groups() {
        metadata.mnt_id = stat.mnt_id();
        metadata.atime = time(stat.atime());
        metadata.mtime = time(stat.mtime());
        metadata.ctime = time(stat.ctime());
        metadata.btime = time(stat.btime());
    }
    metadata
}
