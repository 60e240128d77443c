//! Marked entries and their totals.

use crate::tree::{Id, Tree};
use std::collections::{BTreeSet, HashMap};
use std::io;

/// Entries are fetched in groups of this many.
const GROUP: usize = 1024;

/// The marked entries.
#[derive(Default)]
pub(crate) struct Marks {
    ids: BTreeSet<Id>,
    /// Changes with every change of the marks.
    pub(crate) generation: u64,
}

impl Marks {
    /// Returns true if an entry is marked.
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.ids.contains(&id)
    }

    /// Returns true if nothing is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the marked entries.
    pub(crate) fn ids(&self) -> Vec<Id> {
        self.ids.iter().copied().collect()
    }

    /// Marks entries, or takes the marks of those away that have one.
    pub(crate) fn invert(&mut self, ids: &[Id]) {
        for &id in ids {
            if !self.ids.remove(&id) {
                self.ids.insert(id);
            }
        }
        self.generation += 1;
    }

    /// Marks entries.
    pub(crate) fn add(&mut self, ids: &[Id]) {
        self.ids.extend(ids);
        self.generation += 1;
    }

    /// Takes the marks of entries away.
    pub(crate) fn remove(&mut self, ids: &[Id]) {
        for id in ids {
            self.ids.remove(id);
        }
        self.generation += 1;
    }

    /// Takes all marks away.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.generation += 1;
    }
}

/// The totals of marked entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkTotals {
    /// The number of marked entries.
    pub(crate) marked: u64,
    /// The number of entries with everything in them.
    pub(crate) entries: u64,
    /// Their apparent size.
    pub(crate) size: u64,
    /// Their allocated size.
    pub(crate) alloc: u64,
    /// What deleting them frees.
    pub(crate) freeable: Option<u64>,
}

/// Returns the totals of marked entries. An entry counts once, even if a directory above it is
/// marked too.
pub(crate) fn totals_of_marks(tree: &dyn Tree, ids: &[Id]) -> io::Result<MarkTotals> {
    let marked: BTreeSet<Id> = ids.iter().copied().collect();
    let mut covered = HashMap::new();
    let mut roots = Vec::with_capacity(ids.len());
    for &id in ids {
        if !is_covered(tree, id, &marked, &mut covered)? {
            roots.push(id);
        }
    }
    let mut totals = MarkTotals {
        marked: ids.len() as u64,
        ..MarkTotals::default()
    };
    for group in roots.chunks(GROUP) {
        for item in tree.items(group)? {
            totals.entries += item.entries;
            totals.size += item.size;
            totals.alloc += item.alloc;
        }
    }
    totals.freeable = tree.freeable(&roots)?;
    Ok(totals)
}

/// Returns true if a directory above an entry is marked. `known` holds the answers for directories.
fn is_covered(
    tree: &dyn Tree,
    id: Id,
    marked: &BTreeSet<Id>,
    known: &mut HashMap<Id, bool>,
) -> io::Result<bool> {
    let mut passed = Vec::new();
    let mut at = tree.parent(id)?;
    let answer = loop {
        let Some(directory) = at else { break false };
        if let Some(&answer) = known.get(&directory) {
            break answer;
        }
        passed.push(directory);
        if marked.contains(&directory) {
            break true;
        }
        at = tree.parent(directory)?;
    };
    known.extend(passed.into_iter().map(|directory| (directory, answer)));
    Ok(answer)
}
