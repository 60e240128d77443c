//! The bytes that an action frees.
//!
//! The sum counts the bytes that belong to a file alone. Blocks that the file shares with others do
//! not count, and a file with a name that stays counts as 0. (`docs/architecture.md` has the rule:
//! "A file with several names counts once".) If two files of a group share blocks only with each
//! other, and not with the file to keep, both count as 0. So the sum may be too small if
//! files are [`shared`](Freed::shared), and too large if files are [`unknown`](Freed::unknown).

use super::attributes;
use super::dedupe;
use super::group::{Action, Done, File, Group};
use super::held::Held;
use super::reason::Reason;
use super::roots::Roots;
use ringwalk::Metadata;
use ringwalk_du::exclusive::{Devices, Exclusive};
use ringwalk_sys::magic;
use rustix::fd::BorrowedFd;

/// What an action would do, before anything is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Files with which the action would be done. Those that have changed by now are not counted,
    /// nor those that could not be linked, or share their blocks already.
    pub files: u64,
    /// Names of these files that the action would change.
    pub names: u64,
    /// Bytes that the file systems would get back. For the trash: when it is emptied.
    pub bytes: u64,
    /// Files for which it is not known whether they share blocks. `bytes` has their whole size.
    pub unknown: u64,
    /// Files that may share blocks with others: they have fewer bytes alone than in all. `bytes`
    /// leaves these blocks out. They become free when the last file that uses them is removed.
    pub shared: u64,
}

/// Finds out what an action would free. Reads metadata only, and changes nothing. Calls `kept` with
/// the first name of each file for which the action certainly cannot be done.
///
/// On btrfs and XFS this writes files back first, since shared blocks are known only then.
pub fn plan(
    roots: &Roots,
    groups: &[Group],
    action: Action,
    mut kept: impl FnMut(Done, &Reason),
) -> Freed {
    let devices = Devices::default();
    let mut space = Space::new(&devices);
    let mut freed = Freed::default();
    for (number, group) in groups.iter().enumerate() {
        let keep = Held::open(roots, &group.keep.name, &group.keep.version);
        let keep = keep.map_err(Reason::of_keep);
        for (place, file) in group.others.iter().enumerate() {
            let held = match open_possible(roots, &keep, file, action) {
                Ok(held) => held,
                Err(reason) => {
                    let what = Done {
                        group: number,
                        file: place,
                        name: 0,
                    };
                    kept(what, &reason);
                    continue;
                }
            };
            freed.files += 1;
            freed.names += match action {
                Action::Dedupe => 1,
                _ => file.names().count() as u64,
            };
            // Blocks are shared for all names at once.
            if action == Action::Dedupe || loses_all_names(file, held.metadata()) {
                let of_file = space.of(held.file(), held.metadata());
                freed.bytes = freed.bytes.saturating_add(of_file.bytes);
                freed.unknown += u64::from(!of_file.is_known);
                freed.shared += u64::from(of_file.is_shared);
            }
        }
    }
    freed
}

/// Opens a file, unless it is clear that the action cannot be done with it.
fn open_possible(
    roots: &Roots,
    keep: &Result<Held, Reason>,
    file: &File,
    action: Action,
) -> Result<Held, Reason> {
    let keep = keep.as_ref().map_err(Clone::clone)?;
    let held = Held::open(roots, &file.name, &file.version)?;
    if keep.check_is(held.metadata()).is_ok() {
        return Err(Reason::Same);
    }
    match action {
        Action::Dedupe if !can_share(held.file()) => return Err(Reason::NoSharing),
        Action::Dedupe if keep.version().size == 0 || dedupe::is_shared(keep, &held) => {
            return Err(Reason::AlreadyShared);
        }
        Action::Hardlink => attributes::check(keep, &held)?,
        Action::Dedupe | Action::Delete | Action::Trash => {}
    }
    Ok(held)
}

fn loses_all_names(file: &File, now: &Metadata) -> bool {
    let links = now.nlink();
    links.is_some_and(|links| file.names().count() as u64 >= u64::from(links))
}

/// Returns false for file systems on which no two files share blocks.
pub(super) fn can_share(file: BorrowedFd<'_>) -> bool {
    !matches!(
        magic::of(file),
        Ok(magic::EXT4 | magic::TMPFS | magic::FAT | magic::EXFAT)
    )
}

/// The space of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfFile {
    /// The bytes that belong to the file alone, or all its bytes if that is not known.
    pub(super) bytes: u64,
    /// False if it is not known which bytes belong to the file alone.
    pub(super) is_known: bool,
    /// It has fewer bytes alone than in all: blocks are shared, or compressed (btrfs).
    pub(super) is_shared: bool,
}

/// Finds out which space files have alone.
#[derive(Debug)]
pub(super) struct Space<'d>(Exclusive<'d>);

impl<'d> Space<'d> {
    pub(super) fn new(devices: &'d Devices) -> Self {
        Self(Exclusive::new(devices))
    }

    /// Returns the space that a file has alone.
    pub(super) fn of(&mut self, file: BorrowedFd<'_>, metadata: &Metadata) -> OfFile {
        let known = self.0.bytes_of_open(file, metadata).ok();
        let all = metadata.blocks().map(|blocks| blocks.saturating_mul(512));
        OfFile {
            is_known: known.is_some(),
            is_shared: known.is_some_and(|alone| Some(alone) < all),
            bytes: known.or(all).unwrap_or(0),
        }
    }
}
