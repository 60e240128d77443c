//! The rules: from rows that differ to changes.
//!
//! Each row of either snapshot belongs to one change at most. The rules are tried in this order:
//!
//! 1. Rows of the same path and file: modified.
//! 2. A departed and an arrived row of the same file: renamed.
//! 3. A departed and an arrived row of the same path: replaced, or retyped.
//! 4. All others: added or removed. If the inode has kept another name: a link was added or
//!    removed.

use super::Renames;
use super::change::{Change, Kind, Location};
use super::charges;
use super::merge::Findings;
use super::renames::{self, Origin};
use super::unread::{self, Hidden};
use super::version::{InodeKey, Unread, Version};
use crate::read::ReadError;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the rules need of the snapshots besides the rows that differ.
pub(super) trait Files {
    /// Returns the rows of the older snapshot whose inode is one of `wanted`, in their order.
    fn rows_of(&self, wanted: &HashSet<InodeKey>) -> Result<Vec<(InodeKey, u64)>, ReadError>;

    /// Returns root and path of rows of the older snapshot. The rows are sorted.
    fn locations(&self, rows: &[u64]) -> Result<Vec<Location>, ReadError>;
}

/// The changes, and what is not known.
#[derive(Debug, Default)]
pub(super) struct Classified {
    /// Also those that are not shown.
    pub(super) changes: Vec<Change>,
    pub(super) unread: Vec<Unread>,
    /// Paths that only one snapshot has, below a directory that the other could not read.
    pub(super) unknown: u64,
}

/// Applies the rules.
pub(super) fn classify(
    found: Findings,
    how: Renames,
    files: &dyn Files,
) -> Result<Classified, ReadError> {
    let Findings {
        departed,
        arrived,
        differing,
        unread,
    } = found;
    let departed_rows: HashSet<u64> = departed.iter().map(|version| version.row).collect();
    let origins = renames::pair(&departed, &arrived);
    let moves = renames::moves(&departed, &arrived, &origins);
    let hidden = Hidden::of(&unread, &moves);
    let implied: Vec<bool> = arrived
        .iter()
        .zip(&origins)
        .map(|(new, origin)| {
            origin
                .is_some_and(|origin| renames::is_implied(&moves, &departed[origin.departed], new))
        })
        .collect();
    drop(moves);

    let is_inode = how == Renames::Inode;
    let known: Vec<bool> = origins.iter().map(Option::is_some).collect();
    let origins = if is_inode {
        origins
    } else {
        vec![None; arrived.len()]
    };
    let mut changes = modified(differing);
    moved_and_left(departed, arrived, &origins, &implied, &known, &mut changes);
    find_links(&mut changes, &departed_rows, files)?;
    if !is_inode {
        changes.iter_mut().for_each(forget_links);
    }
    charges::settle(&mut changes);
    let before = changes.len();
    changes.retain(|change| !hidden.hides(change));
    let unread = unread::relevant(unread, &changes);
    Ok(Classified {
        unknown: (before - changes.len()) as u64,
        changes,
        unread,
    })
}

/// Returns the changes of files that have kept their paths.
fn modified(differing: Vec<(Version, Version)>) -> Vec<Change> {
    let changes = differing.into_iter().filter_map(|(old, new)| {
        let is_charge_moved = old.charged != new.charged;
        let mut change = Change::new(Kind::Modified, Some(old), Some(new));
        change.is_shown = !change.changed.is_empty();
        (change.is_shown || is_charge_moved).then_some(change)
    });
    changes.collect()
}

/// Pairs departed and arrived rows by identity, then by path. The rest was added or removed.
fn moved_and_left(
    departed: Vec<Version>,
    arrived: Vec<Version>,
    origins: &[Option<Origin>],
    implied: &[bool],
    known: &[bool],
    changes: &mut Vec<Change>,
) {
    let mut departed: Vec<Option<Version>> = departed.into_iter().map(Some).collect();
    let mut left = Vec::new();
    for (at, new) in arrived.into_iter().enumerate() {
        let Some(origin) = origins[at] else {
            left.push((new, known[at]));
            continue;
        };
        let old = departed[origin.departed].take();
        let kind = if implied[at] {
            Kind::Modified
        } else {
            Kind::Renamed
        };
        let mut change = Change::new(kind, old, Some(new));
        change.is_likely = origin.is_likely;
        change.is_shown = !implied[at] || !change.changed.is_empty();
        changes.push(change);
    }
    let by_place: HashMap<(u32, Arc<[u8]>), usize> = departed
        .iter()
        .enumerate()
        .filter_map(|(at, old)| {
            let old = old.as_ref()?;
            Some(((old.root, Arc::clone(&old.path)), at))
        })
        .collect();
    for (new, is_known) in left {
        let same_path = by_place.get(&(new.root, Arc::clone(&new.path)));
        let old = same_path.and_then(|at| departed[*at].take());
        let kind = match &old {
            None => Kind::Added,
            Some(old) if old.differs_in_type(&new) => Kind::Retyped,
            Some(_) => Kind::Replaced,
        };
        let mut change = Change::new(kind, old, Some(new));
        change.is_known_inode = is_known;
        changes.push(change);
    }
    let removed = departed.into_iter().flatten();
    changes.extend(removed.map(|old| Change::new(Kind::Removed, Some(old), None)));
}

/// Finds the inodes with several names that have kept one of them.
fn find_links(
    changes: &mut [Change],
    departed_rows: &HashSet<u64>,
    files: &dyn Files,
) -> Result<(), ReadError> {
    // The name of each inode that both snapshots have: a kept one, or that of a renamed file.
    let mut wanted = HashSet::new();
    for change in &*changes {
        let candidate = candidate(change).filter(|version| version.has_links());
        wanted.extend(candidate.and_then(Version::inode));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let mut kept: HashMap<InodeKey, u64> = HashMap::new();
    for (inode, row) in files.rows_of(&wanted)? {
        if !departed_rows.contains(&row) {
            kept.entry(inode).or_insert(row);
        }
    }
    let locations = locations(&kept, files)?;
    let mut moved: HashMap<InodeKey, Location> = HashMap::new();
    for change in &*changes {
        // Also of files that follow their directories.
        if let (Some(old), Some(new)) = (&change.old, &change.new)
            && change.is_known_inode
            && old.place() != new.place()
            && let Some(inode) = new.inode()
        {
            moved.entry(inode).or_insert_with(|| Location {
                root: new.root,
                path: Arc::clone(&new.path),
            });
        }
    }
    for change in changes {
        let candidate = candidate(change).filter(|version| version.has_links());
        let Some(inode) = candidate.and_then(Version::inode) else {
            continue;
        };
        let row = kept.get(&inode);
        let name = row
            .and_then(|row| locations.get(row))
            .or_else(|| moved.get(&inode));
        let Some(name) = name else { continue };
        change.link_to = Some(name.clone());
        match change.kind {
            Kind::Added => change.kind = Kind::LinkAdded,
            Kind::Removed => change.kind = Kind::LinkRemoved,
            _ => {}
        }
        change.is_known_inode |= change.new.is_some();
    }
    Ok(())
}

/// Returns the version of a change that may be another name of a known file.
fn candidate(change: &Change) -> Option<&Version> {
    match change.kind {
        Kind::Added | Kind::Replaced | Kind::Retyped => change.new.as_ref(),
        Kind::Removed => change.old.as_ref(),
        _ => None,
    }
}

/// Returns the paths of rows.
fn locations(
    kept: &HashMap<InodeKey, u64>,
    files: &dyn Files,
) -> Result<HashMap<u64, Location>, ReadError> {
    let mut rows: Vec<u64> = kept.values().copied().collect();
    rows.sort_unstable();
    let locations = files.locations(&rows)?;
    Ok(rows.into_iter().zip(locations).collect())
}

/// Makes of a change what it is if paths are the only identity.
fn forget_links(change: &mut Change) {
    change.link_to = None;
    change.kind = match change.kind {
        Kind::LinkAdded => Kind::Added,
        Kind::LinkRemoved => Kind::Removed,
        kind => kind,
    };
}
