//! The growth of files with several names.
//!
//! In sums such a file counts for one of its names: the first in the order of the rows. If that
//! name goes, the next one counts, though nothing has happened to it. Here the growth of such a
//! file is given to one change of it, and names for which only the count has changed show no
//! growth. ("A file with several names counts once" in `docs/architecture.md`.)

use super::change::{Change, Kind};
use super::file_systems::Numbers;
use super::version::{InodeKey, Version};
use std::collections::{HashMap, HashSet};

/// An inode, and whether the older snapshot has it. Its number may have been used again for a new
/// file.
type Inode = (InodeKey, bool);

/// A version of a change, whether the older snapshot has its inode, and whether it is the newer
/// version.
type Side<'a> = (&'a Version, bool, bool);

/// The part of a change that counts for one inode.
#[derive(Clone, Copy, Debug)]
struct Part {
    change: usize,
    bytes: i64,
    is_new: bool,
    is_charged: bool,
}

/// Gives the growth of each file with several names to one shown change.
///
/// Where one inode number can belong to several files, each change keeps its growth.
pub(super) fn settle(changes: &mut [Change], numbers: &Numbers<'_>) {
    settle_links(changes, numbers);
    for change in changes {
        // All growth is shown, including the growth of names that now count in place of another
        // name.
        change.is_shown |= change.growth != 0;
    }
}

fn settle_links(changes: &mut [Change], numbers: &Numbers<'_>) {
    // For files that have another inode number now: from the new number to the old one.
    let renumbered: HashMap<InodeKey, InodeKey> = changes
        .iter()
        .filter(|change| matches!(change.kind, Kind::Modified | Kind::Renamed))
        .filter_map(|change| Some((change.new.as_ref()?.inode()?, change.old.as_ref()?.inode()?)))
        .filter(|(new, old)| new != old)
        .collect();
    let inode = |(version, is_old, is_new): &Side<'_>| {
        let inode = version.inode()?;
        let inode = match renumbered.get(&inode) {
            Some(old) if *is_new => *old,
            _ => inode,
        };
        let is_unique = numbers.trust(inode.0).is_unique;
        is_unique.then_some((inode, *is_old))
    };
    let mut linked: HashSet<Inode> = HashSet::new();
    for change in &*changes {
        let versions = sides(change);
        if versions.iter().any(|side| side.0.has_links()) {
            linked.extend(versions.iter().filter_map(inode));
        }
    }
    if linked.is_empty() {
        return;
    }
    let mut inodes: HashMap<Inode, Vec<Part>> = HashMap::new();
    for (at, change) in changes.iter().enumerate() {
        for side in sides(change) {
            let Some(inode) = inode(&side).filter(|inode| linked.contains(inode)) else {
                continue;
            };
            let (version, _, is_new) = side;
            let bytes = version.bytes();
            inodes.entry(inode).or_default().push(Part {
                change: at,
                bytes: if is_new { bytes } else { -bytes },
                is_new,
                is_charged: version.charged,
            });
        }
    }
    for parts in inodes.values() {
        settle_inode(parts, changes);
    }
}

/// Returns the versions of a change.
fn sides(change: &Change) -> Vec<Side<'_>> {
    let old = change.old.iter().map(|old| (old, true, false));
    let new = change
        .new
        .iter()
        .map(|new| (new, change.is_known_inode, true));
    old.chain(new).collect()
}

/// Moves the growth of one inode to one change: of its name that counts now, of another name that
/// it has now, or of a name that it had.
fn settle_inode(parts: &[Part], changes: &mut [Change]) {
    // Only the sizes of a damaged file have larger sums.
    let bytes = parts.iter().map(|part| part.bytes);
    let growth = bytes.fold(0, i64::saturating_add);
    for part in parts {
        let rest = &mut changes[part.change].growth;
        *rest = rest.saturating_sub(part.bytes);
    }
    let rank = |part: &&Part| {
        let change = &changes[part.change];
        // A new name of a file that was there before is no reason for growth.
        let explains = !matches!(change.kind, Kind::LinkAdded | Kind::LinkRemoved);
        (change.is_shown, part.is_new, explains, part.is_charged)
    };
    // The first of equal rank.
    let Some(best) = parts.iter().rev().max_by_key(rank).map(|part| part.change) else {
        return;
    };
    changes[best].growth = changes[best].growth.saturating_add(growth);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::FileType;
    use ringwalk_snapshot::Column;
    use std::sync::Arc;

    /// The fuzzer found a snapshot in which two rows of a file were charged for nearly 2^63 bytes.
    #[test]
    fn sums_of_a_damaged_file_do_not_overflow() {
        let mut version = Version::new(0, 0, Arc::from(&b"f"[..]), FileType::Regular);
        version.set(Column::Alloc, Some(i64::MAX));
        version.charged = true;
        let added = Change::new(Kind::Added, None, Some(version));
        let mut changes = vec![added.clone(), added];
        let part = |change| Part {
            change,
            bytes: i64::MAX,
            is_new: true,
            is_charged: true,
        };
        settle_inode(&[part(0), part(1)], &mut changes);
        assert_eq!([changes[0].growth, changes[1].growth], [i64::MAX, 0]);
    }
}
