//! Failures that were reported with a path.

use crate::entry::Failure;
use std::collections::HashMap;

/// Failures by root and path.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The failures below each root, by path relative to the root.
    roots: Vec<HashMap<Vec<u8>, Failure>>,
    /// The number of failures below no root.
    elsewhere: u64,
}

impl Failures {
    /// Adds a failure. A path below no root has no row, but the failure is still counted.
    pub(crate) fn add(&mut self, place: Option<(usize, &[u8])>, failure: Failure) {
        let Some((root, path)) = place else {
            self.elsewhere += 1;
            return;
        };
        if self.roots.len() <= root {
            self.roots.resize_with(root + 1, HashMap::new);
        }
        self.roots[root].insert(path.to_vec(), failure);
    }

    /// Returns the failure of a path.
    pub(crate) fn get(&self, root: usize, path: &[u8]) -> Option<Failure> {
        let root = self.roots.get(root).filter(|root| !root.is_empty())?;
        root.get(path).copied()
    }

    pub(super) fn count(&self) -> u64 {
        let below = |root: &HashMap<_, _>| root.len() as u64;
        self.elsewhere + self.roots.iter().map(below).sum::<u64>()
    }
}
