//! Marked entries and their totals.

use crate::tree::{Id, Tree};
use std::collections::HashMap;
use std::io;
use std::mem;

/// Entries are fetched in groups of this many.
const GROUP: usize = 1024;

/// The marked entries.
#[derive(Default)]
pub(crate) struct Marks {
    /// Sorted. A set would take 200 ms to invert the marks of a million entries.
    ids: Vec<Id>,
    /// Changes with every change of the marks.
    pub(crate) generation: u64,
}

impl Marks {
    /// Returns true if an entry is marked.
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// Returns true if nothing is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the marked entries, sorted.
    pub(crate) fn ids(&self) -> Vec<Id> {
        self.ids.clone()
    }

    /// Marks entries, or takes the marks of those away that have one.
    pub(crate) fn invert(&mut self, ids: &[Id]) {
        self.merge(ids, |was, is| was != is);
    }

    /// Marks entries.
    pub(crate) fn add(&mut self, ids: &[Id]) {
        self.merge(ids, |was, is| was || is);
    }

    /// Takes the marks of entries away.
    pub(crate) fn remove(&mut self, ids: &[Id]) {
        self.merge(ids, |was, is| was && !is);
    }

    /// Takes all marks away.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.generation += 1;
    }

    /// Keeps an entry if `keeps` says so: of whether it was marked, and whether it is given.
    fn merge(&mut self, ids: &[Id], keeps: impl Fn(bool, bool) -> bool) {
        let mut given = ids.to_vec();
        given.sort_unstable();
        given.dedup();
        let old = mem::take(&mut self.ids);
        self.ids.reserve(old.len() + given.len());
        let (mut old, mut given) = (old.into_iter().peekable(), given.into_iter().peekable());
        loop {
            let next = match (old.peek(), given.peek()) {
                (None, None) => break,
                (Some(&id), None) | (None, Some(&id)) => id,
                (Some(&a), Some(&b)) => a.min(b),
            };
            let was = old.next_if_eq(&next).is_some();
            let is = given.next_if_eq(&next).is_some();
            if keeps(was, is) {
                self.ids.push(next);
            }
        }
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
    /// Their allocated size.
    pub(crate) alloc: u64,
    /// What deleting them frees.
    pub(crate) freeable: Option<u64>,
}

/// Returns the totals of marked entries, which are sorted. An entry counts once, even if a
/// directory above it is marked too.
pub(crate) fn totals_of_marks(tree: &dyn Tree, marked: &[Id]) -> io::Result<MarkTotals> {
    let mut covered = HashMap::new();
    let mut roots = Vec::with_capacity(marked.len());
    for &id in marked {
        if !is_covered(tree, id, marked, &mut covered)? {
            roots.push(id);
        }
    }
    let mut totals = MarkTotals {
        marked: marked.len() as u64,
        ..MarkTotals::default()
    };
    for group in roots.chunks(GROUP) {
        for item in tree.items(group)? {
            totals.entries += item.entries;
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
    marked: &[Id],
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
        if marked.binary_search(&directory).is_ok() {
            break true;
        }
        at = tree.parent(directory)?;
    };
    known.extend(passed.into_iter().map(|directory| (directory, answer)));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u64]) -> Vec<Id> {
        numbers.iter().copied().map(Id).collect()
    }

    #[test]
    fn marks_stay_sorted() {
        let mut marks = Marks::default();
        marks.add(&ids(&[5, 1, 5]));
        assert_eq!(marks.ids(), ids(&[1, 5]));
        marks.invert(&ids(&[7, 5, 3]));
        assert_eq!(marks.ids(), ids(&[1, 3, 7]));
        marks.remove(&ids(&[3, 4]));
        assert_eq!(marks.ids(), ids(&[1, 7]));
        assert!(marks.contains(Id(7)) && !marks.contains(Id(3)));
    }
}
