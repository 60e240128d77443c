//! Directories that one of the snapshots could not read.
//!
//! Names below such a directory are not known. A path that only the other snapshot has is then
//! neither added nor removed: nobody knows.

use super::change::{Change, Kind};
use super::choices::Which;
use super::renames::Moves;
use super::version::{Place, Unread, ancestors};
use std::collections::{HashMap, HashSet};

/// Leaves out what both snapshots have skipped for the same reason, and skipped directories whose
/// path the other snapshot does not have. Neither makes the answer uncertain.
pub(super) fn relevant(unread: Vec<Unread>, changes: &[Change]) -> Vec<Unread> {
    let mut skipped: HashMap<(Place<'_>, &str), usize> = HashMap::new();
    for each in unread.iter().filter(|each| each.errno.is_none()) {
        *skipped.entry((place(each), &each.reason)).or_insert(0) += 1;
    }
    let has_no_partner = |change: &&Change| matches!(change.kind, Kind::Added | Kind::Removed);
    let alone: HashSet<(Which, Place<'_>)> = changes
        .iter()
        .filter(has_no_partner)
        .map(|change| {
            let which = if change.new.is_some() {
                Which::New
            } else {
                Which::Old
            };
            (which, change.version().place())
        })
        .collect();
    let is_agreed = |each: &Unread| {
        each.errno.is_none()
            && (skipped[&(place(each), each.reason.as_str())] > 1
                || alone.contains(&(each.which, place(each))))
    };
    let keep: Vec<bool> = unread.iter().map(|each| !is_agreed(each)).collect();
    let kept = unread.into_iter().zip(keep);
    kept.filter_map(|(each, keep)| keep.then_some(each))
        .collect()
}

fn place(unread: &Unread) -> Place<'_> {
    (unread.root, &unread.path)
}

/// The directories below which nothing is known.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Directories of the newer snapshot, by their paths in the older one.
    old: HashSet<(u32, Vec<u8>)>,
    /// Directories of the older snapshot, by their paths in the newer one.
    new: HashSet<(u32, Vec<u8>)>,
}

impl Hidden {
    pub(super) fn of(unread: &[Unread], moves: &Moves<'_>) -> Self {
        let mut hidden = Self::default();
        let own = |(root, path): Place<'_>| (root, path.to_vec());
        let unread = || unread.iter().filter(|each| each.hides_names());
        for each in unread().filter(|each| each.which == Which::New) {
            hidden.old.insert(own(place(each)));
            hidden.old.extend(moves.get(&place(each)).copied().map(own));
        }
        hidden.new = unread()
            .filter(|each| each.which == Which::Old)
            .map(|each| own(place(each)))
            .collect();
        if !hidden.new.is_empty() {
            let old_places = hidden.new.clone();
            for (new, old) in moves {
                if old_places.contains(&own(*old)) {
                    hidden.new.insert(own(*new));
                }
            }
        }
        hidden
    }

    /// Returns true if nobody knows whether the file was added or removed.
    pub(super) fn hides(&self, change: &Change) -> bool {
        let hidden = match (&change.old, &change.new) {
            (Some(_), None) => &self.old,
            (None, Some(_)) => &self.new,
            _ => return false,
        };
        if hidden.is_empty() {
            return false;
        }
        let version = change.version();
        ancestors(&version.path).any(|above| hidden.contains(&(version.root, above.to_vec())))
    }
}
