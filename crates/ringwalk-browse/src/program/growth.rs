//! Growth since an older snapshot, for the browser.

use crate::compare;
use crate::service::Comparison;
use crate::tree::{Order, SortKey, Tree};
use ringwalk_sys::sync::lock;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};

/// Compares a tree with an older snapshot.
pub(super) struct Growth {
    older: compare::Comparison,
    tree: Arc<dyn Tree>,
    error: Mutex<Option<String>>,
}

impl Growth {
    pub(super) fn new(older: compare::Comparison, tree: Arc<dyn Tree>) -> Self {
        Self {
            older,
            tree,
            error: Mutex::default(),
        }
    }

    /// Keeps the first error, so that it can be shown.
    fn noted<T>(&self, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                lock(&self.error).get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    /// Returns the names in a directory of the tree.
    fn names(&self, directory: &[u8]) -> io::Result<HashSet<Vec<u8>>> {
        let by_name = Order {
            key: SortKey::Name,
            ..Order::default()
        };
        let mut at = self.tree.top();
        let components = directory.split(|byte| *byte == b'/');
        for name in components.filter(|name| !name.is_empty()) {
            let items = self.tree.items(&self.tree.listing(at, by_name)?)?;
            match items.into_iter().find(|item| item.name == name) {
                Some(item) => at = item.id,
                // It was deleted meanwhile.
                None => return Ok(HashSet::new()),
            }
        }
        let items = self.tree.items(&self.tree.listing(at, by_name)?)?;
        Ok(items.into_iter().map(|item| item.name).collect())
    }
}

impl Comparison for Growth {
    fn growth(&self, directory: &[u8], name: &[u8], alloc_now: u64) -> Option<i64> {
        let growth = if directory.is_empty() && name.is_empty() {
            self.older.growth_of(b"", alloc_now)
        } else {
            self.older.growth(directory, name, alloc_now)
        };
        self.noted(growth).flatten()
    }

    fn departed(&self, directory: &[u8]) -> Vec<(Vec<u8>, u64)> {
        let Some(names) = self.noted(self.names(directory)) else {
            return Vec::new();
        };
        let mut is_there = |name: &[u8]| names.contains(name);
        let departed = self.noted(self.older.departed(directory, &mut is_there));
        let departed = departed.into_iter().flatten();
        departed.map(|entry| (entry.name, entry.alloc)).collect()
    }

    fn error(&self) -> Option<String> {
        lock(&self.error).clone()
    }
}
