//! Sharing blocks: the kernel compares two files and makes one use the blocks of the other.

use super::held::Held;
use super::reason::Reason;
use ringwalk::Errno;
use ringwalk::identity::{IdentityTrust, NamedBy};
use ringwalk_sys::{Deduped, ExtentMap, FileExtent, dedupe_range, file_system_uuid};
use rustix::fd::BorrowedFd;

/// Bytes of one call. btrfs takes no more, and both files are locked meanwhile.
const PIECE: u64 = 16 << 20;

/// Makes a file share all blocks of the file to keep.
pub(super) fn share(keep: &Held, file: &Held) -> Result<(), Reason> {
    let size = keep.version().size;
    if size != file.version().size {
        return Err(Reason::Differs);
    }
    let mut offset = 0;
    while offset < size {
        let piece = PIECE.min(size - offset);
        match dedupe_range(keep.file(), file.file(), offset, piece) {
            // A part of a piece begins the next one.
            Ok(Deduped::Shared(bytes)) if bytes > 0 => offset += bytes.min(piece),
            Ok(Deduped::Shared(_)) => return Err(Reason::NoSharing),
            Ok(Deduped::Differs) => return Err(Reason::Differs),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(reason(errno)),
        }
    }
    Ok(())
}

fn reason(errno: Errno) -> Reason {
    match errno {
        Errno::OPNOTSUPP | Errno::NOTTY => Reason::NoSharing,
        // One of the files has become shorter, or only one has checksums (btrfs, `chattr +C`).
        Errno::INVAL => Reason::CannotShare,
        errno => Reason::of("share blocks", errno),
    }
}

/// Returns true if two files have the same blocks already.
pub(super) fn is_shared(keep: &Held, file: &Held) -> bool {
    let size = keep.version().size;
    let map = |held: &Held| blocks(held.file(), size);
    have_one_space(keep, file)
        && matches!((map(keep), map(file)), (Some(one), Some(other)) if one == other)
}

/// Returns true if the blocks of two files have one numbering: on one file system. Subvolumes of a
/// btrfs have different device numbers.
fn have_one_space(keep: &Held, file: &Held) -> bool {
    let btrfs = |held: &Held| {
        let trust = IdentityTrust::of(held.file());
        let is_btrfs = trust.named_by == NamedBy::UuidAndSubvolume;
        file_system_uuid(held.file()).ok().filter(|_| is_btrfs)
    };
    let uuids = || btrfs(keep).zip(btrfs(file));
    keep.version().dev == file.version().dev || uuids().is_some_and(|(a, b)| a == b)
}

/// The place of a run of bytes: in the file, on the device, and its length.
type Run = (u64, u64, u64);

/// Returns where the contents are, if the file system says so exactly. Neighbouring runs are put
/// together: two files may have the same blocks in other pieces.
fn blocks(file: BorrowedFd<'_>, size: u64) -> Option<Vec<Run>> {
    let mut map = ExtentMap::default();
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0;
    while start < size {
        let extents = match map.read(file, start, true) {
            Err(Errno::INTR) => continue,
            extents => extents.ok()?,
        };
        let last = extents.last()?;
        for extent in extents {
            if !extent.has(FileExtent::SHARED) || extent.has(FileExtent::INLINE) {
                return None;
            }
            let end = extent.end();
            match runs.last_mut() {
                Some((logical, physical, length))
                    if !extent.has(FileExtent::ENCODED)
                        && *logical + *length == extent.logical
                        && *physical + *length == extent.physical =>
                {
                    *length += extent.length;
                }
                _ => runs.push((extent.logical, extent.physical, extent.length)),
            }
            start = start.max(end);
        }
        if last.has(FileExtent::LAST) {
            break;
        }
    }
    Some(runs)
}
