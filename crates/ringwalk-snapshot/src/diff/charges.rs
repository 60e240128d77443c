//! The growth of files with several names.
//!
//! In sums such a file counts for one of its names: the first in the order of the rows. If that
//! name goes, the next one counts, though nothing has happened to it. Here the growth of such a
//! file is given to one change of it, and names for which only the count has changed show no
//! growth.

use super::change::{Change, Kind};
use super::version::Version;
use std::collections::{HashMap, HashSet};

/// An inode: file system, number, and whether the older snapshot has it. Its number may have been
/// used again for a new file.
type Inode = (i64, i64, bool);

/// The part of a change that counts for one inode.
#[derive(Clone, Copy, Debug)]
struct Part {
    change: usize,
    bytes: i64,
    is_new: bool,
    is_charged: bool,
}

/// Gives the growth of each file with several names to one shown change.
pub(super) fn settle(changes: &mut [Change]) {
    let mut linked: HashSet<Inode> = HashSet::new();
    for change in &*changes {
        let versions = sides(change);
        if versions.iter().any(|(version, _)| version.has_links()) {
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
            let is_new = change
                .new
                .as_ref()
                .is_some_and(|new| std::ptr::eq(new, side.0));
            let bytes = side.0.bytes();
            inodes.entry(inode).or_default().push(Part {
                change: at,
                bytes: if is_new { bytes } else { -bytes },
                is_new,
                is_charged: side.0.charged,
            });
        }
    }
    for parts in inodes.values() {
        settle_inode(parts, changes);
    }
}

/// Returns the versions of a change, each with true if the older snapshot has its inode.
fn sides(change: &Change) -> Vec<(&Version, bool)> {
    let old = change.old.iter().map(|old| (old, true));
    let new = change.new.iter().map(|new| (new, change.is_known_inode));
    old.chain(new).collect()
}

fn inode((version, is_old): &(&Version, bool)) -> Option<Inode> {
    let (fs, ino) = version.inode()?;
    Some((fs, ino, *is_old))
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
    if growth != 0 {
        changes[best].is_shown = true;
    }
}

#[cfg(test)]
mod tests;
