//! The rules: from rows that differ to changes.
//!
//! Each row of either snapshot belongs to one change at most. The rules are tried in this order:
//!
//! 1. Rows of the same path and file: modified.
//! 2. A departed and an arrived row of the same file: renamed.
//! 3. A departed and an arrived row of the same path: replaced, or retyped.
//! 4. All others: added or removed. If the inode has kept another name: a link was added or
//!    removed.

use super::change::{Change, Kind, Location};
use super::charges;
use super::choices::{Renames, Which};
use super::file_systems::Numbers;
use super::merge::Findings;
use super::renames::{self, Origin};
use super::unread::{self, Hidden};
use super::version::{InodeKey, Unread, Version};
use ringwalk_snapshot::ReadError;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the rules need of the snapshots besides the rows that differ.
pub(super) trait Files {
    /// Returns the rows of a snapshot whose inode is one of `wanted`, in their order.
    fn rows_of(
        &self,
        which: Which,
        wanted: &HashSet<InodeKey>,
    ) -> Result<Vec<(InodeKey, u64)>, ReadError>;

    /// Returns root and path of rows of a snapshot. The rows are sorted.
    fn locations(&self, which: Which, rows: &[u64]) -> Result<Vec<Location>, ReadError>;
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
    numbers: &Numbers<'_>,
    files: &dyn Files,
) -> Result<Classified, ReadError> {
    let Findings {
        departed,
        arrived,
        differing,
        unread,
    } = found;
    let rows = |versions: &[Version]| versions.iter().map(|version| version.row).collect();
    let changed_rows = Sides {
        old: rows(&departed),
        new: rows(&arrived),
    };
    let origins = renames::pair(&departed, &arrived, numbers);
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
    for change in &mut changes {
        doubt(change, numbers);
    }
    find_links(&mut changes, &changed_rows, numbers, files)?;
    if !is_inode {
        changes.iter_mut().for_each(forget_links);
    }
    charges::settle(&mut changes, numbers);
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
    let changes = differing.into_iter().map(|(old, new)| {
        let mut change = Change::new(Kind::Modified, Some(old), Some(new));
        change.is_shown = !change.changed.is_empty();
        change
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

/// Marks a file that seems to be replaced, where the same file may have another inode number now.
fn doubt(change: &mut Change, numbers: &Numbers<'_>) {
    if let (Kind::Replaced, Some(old), Some(new)) = (change.kind, &change.old, &change.new) {
        let trust = numbers.trust_between(old, new);
        change.is_likely = trust.is_some_and(|trust| !trust.keeps_inode);
    }
}

/// One value for each snapshot.
#[derive(Debug, Default)]
struct Sides<T> {
    old: T,
    new: T,
}

impl<T> Sides<T> {
    fn of(&self, which: Which) -> &T {
        match which {
            Which::Old => &self.old,
            Which::New => &self.new,
        }
    }
}

/// Finds the inodes with several names that have kept one of them.
///
/// A name that is gone is compared with the other names of the older snapshot. A new name is
/// compared with the other names of the newer snapshot. At one moment, all names of a file have the
/// same inode number, whether or not the number lasts.
fn find_links(
    changes: &mut [Change],
    changed_rows: &Sides<HashSet<u64>>,
    numbers: &Numbers<'_>,
    files: &dyn Files,
) -> Result<(), ReadError> {
    let linked = |change: &Change| {
        let (which, version) = candidate(change)?;
        let inode = version.inode().filter(|_| version.has_links())?;
        numbers.trust(inode.0).is_unique.then_some((which, inode))
    };
    let mut links: HashMap<(Which, InodeKey), Location> = HashMap::new();
    // For each inode that both snapshots have, its name: one that was kept, or the name of a
    // renamed file.
    for which in [Which::Old, Which::New] {
        let all = changes.iter().filter_map(linked);
        let wanted: HashSet<_> = all
            .filter(|link| link.0 == which)
            .map(|link| link.1)
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let mut kept: HashMap<InodeKey, u64> = HashMap::new();
        for (inode, row) in files.rows_of(which, &wanted)? {
            if !changed_rows.of(which).contains(&row) {
                kept.entry(inode).or_insert(row);
            }
        }
        let mut kept: Vec<(u64, InodeKey)> = kept.into_iter().map(|(i, row)| (row, i)).collect();
        kept.sort_unstable();
        let rows: Vec<u64> = kept.iter().map(|kept| kept.0).collect();
        let locations = files.locations(which, &rows)?;
        let inodes = kept.into_iter().map(|(_, inode)| (which, inode));
        links.extend(inodes.zip(locations));
    }
    for change in &*changes {
        // Also of files that follow their directories.
        if let (Some(old), Some(new)) = (&change.old, &change.new)
            && change.is_known_inode
            && old.place() != new.place()
        {
            for (which, inode) in [(Which::Old, old.inode()), (Which::New, new.inode())] {
                let Some(inode) = inode else { continue };
                links.entry((which, inode)).or_insert_with(|| Location {
                    root: new.root,
                    path: Arc::clone(&new.path),
                });
            }
        }
    }
    for change in changes {
        let Some(name) = linked(change).and_then(|link| links.get(&link)) else {
            continue;
        };
        change.link_to = Some(name.clone());
        match change.kind {
            Kind::Added => change.kind = Kind::LinkAdded,
            Kind::Removed => change.kind = Kind::LinkRemoved,
            _ => {}
        }
        change.is_likely = false;
        change.is_known_inode |= change.new.is_some();
    }
    Ok(())
}

/// Returns the version of a change that may be another name of a known file.
fn candidate(change: &Change) -> Option<(Which, &Version)> {
    match change.kind {
        Kind::Added | Kind::Replaced | Kind::Retyped => Some((Which::New, change.new.as_ref()?)),
        Kind::Removed => Some((Which::Old, change.old.as_ref()?)),
        _ => None,
    }
}

/// Changes the kind of a link to the kind that it has if paths are the only identity.
fn forget_links(change: &mut Change) {
    change.link_to = None;
    change.kind = match change.kind {
        Kind::LinkAdded => Kind::Added,
        Kind::LinkRemoved => Kind::Removed,
        kind => kind,
    };
}
