//! The sorted and filtered entries of a directory.

use crate::service::{Comparison, Matches};
use crate::tree::{Direction, Id, Item, Order, SortKey, Tree, Weight};
use std::cmp::Reverse;
use std::io;
use std::sync::Arc;

/// Entries are fetched in groups of this many, so that names of a million are never held at once.
const GROUP: usize = 1024;

/// The order of the list: that of a tree, or by growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListOrder {
    /// The order of the tree. If `by_growth` is true, only its direction and place of directories
    /// count.
    pub(crate) order: Order,
    /// The entries that have grown most come first.
    pub(crate) by_growth: bool,
}

/// Everything that a listing depends on.
pub(crate) struct Question {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) directory: Id,
    /// The path of the directory, relative to the top.
    pub(crate) path: Vec<u8>,
    pub(crate) order: ListOrder,
    pub(crate) weight: Weight,
    pub(crate) matches: Option<Arc<dyn Matches>>,
    pub(crate) comparison: Option<Arc<dyn Comparison>>,
}

/// The entries of a directory.
pub(crate) struct Listing {
    pub(crate) directory: Id,
    /// The entries, in order.
    pub(crate) ids: Vec<Id>,
    /// Entries of the older tree that are gone: names and allocated sizes.
    pub(crate) departed: Vec<(Vec<u8>, u64)>,
    /// The size of the largest entry, which has a full bar.
    pub(crate) largest: u64,
}

impl Question {
    /// Returns the listing. This takes a long time for a large directory.
    pub(crate) fn answer(self) -> io::Result<Listing> {
        let departed = match (&self.comparison, &self.matches) {
            // Entries that are gone cannot match.
            (Some(comparison), None) => comparison.departed(&self.path),
            _ => Vec::new(),
        };
        let (ids, largest) = if self.order.by_growth || self.matches.is_some() {
            self.chosen()?
        } else {
            let ids = self.tree.listing(self.directory, self.order.order)?;
            let largest = self.largest(&ids)?;
            (ids, largest)
        };
        Ok(Listing {
            directory: self.directory,
            ids,
            departed,
            largest,
        })
    }

    /// Returns the entries that match, sorted by what matches or by growth, and the largest size.
    fn chosen(&self) -> io::Result<(Vec<Id>, u64)> {
        let key = self.order.order.key;
        let by_value = self.order.by_growth
            || matches!(key, SortKey::Alloc | SortKey::Size | SortKey::Entries);
        let mut order = self.order.order;
        if by_value {
            // Equal values stay in this order, since sorting is stable.
            order.key = SortKey::Name;
            order.direction = Direction::Usual;
        }
        let mut rows: Vec<(bool, i128, Id)> = Vec::new();
        let mut largest = 0;
        for ids in self.tree.listing(self.directory, order)?.chunks(GROUP) {
            for mut item in self.tree.items(ids)? {
                if let Some(matches) = &self.matches
                    && !narrow(&mut item, &self.path, matches.as_ref())
                {
                    continue;
                }
                largest = largest.max(size(&item, self.weight));
                rows.push((item.is_directory(), self.value(&item), item.id));
            }
        }
        if by_value {
            let directories_first = order.directories_first;
            let reversed = self.order.order.direction == Direction::Reversed;
            rows.sort_by_key(|&(is_directory, value, _)| {
                let value = if reversed { value } else { -value };
                (Reverse(is_directory && directories_first), value)
            });
        }
        Ok((rows.into_iter().map(|(_, _, id)| id).collect(), largest))
    }

    /// Returns what the rows are sorted by, unless the tree sorts them.
    fn value(&self, item: &Item) -> i128 {
        if self.order.by_growth {
            let growth = self.comparison.as_ref().and_then(|comparison| {
                comparison.growth(&self.path, &item.name, item.charged_alloc())
            });
            // Entries with unknown growth come after all others.
            return growth.map_or(i128::MIN + 1, i128::from);
        }
        match self.order.order.key {
            SortKey::Size => item.size.into(),
            SortKey::Entries => item.entries.into(),
            _ => item.alloc.into(),
        }
    }

    /// Returns the largest size in a listing.
    fn largest(&self, ids: &[Id]) -> io::Result<u64> {
        let order = self.order.order;
        let wanted = key_of(self.weight);
        let sorted = order.key == wanted && !order.directories_first;
        let id = match order.direction {
            Direction::Usual if sorted => ids.first().copied(),
            Direction::Reversed if sorted => ids.last().copied(),
            _ => {
                let order = Order {
                    key: wanted,
                    ..Order::default()
                };
                self.tree.listing(self.directory, order)?.first().copied()
            }
        };
        let Some(id) = id else {
            return Ok(0);
        };
        Ok(self
            .tree
            .items(&[id])?
            .first()
            .map_or(0, |item| size(item, self.weight)))
    }
}

/// Returns the size of an entry that is shown.
pub(crate) fn size(item: &Item, weight: Weight) -> u64 {
    match weight {
        Weight::Alloc => item.alloc,
        Weight::Size => item.size,
    }
}

/// Returns the key of an order by the shown size.
pub(crate) fn key_of(weight: Weight) -> SortKey {
    match weight {
        Weight::Alloc => SortKey::Alloc,
        Weight::Size => SortKey::Size,
    }
}

/// Replaces the totals of an entry by the totals of the matches in it. Returns false if nothing
/// does.
pub(crate) fn narrow(item: &mut Item, directory: &[u8], matches: &dyn Matches) -> bool {
    if !item.is_directory() {
        return matches.matched(directory, &item.name);
    }
    let totals = matches.totals(&join(directory, &item.name));
    if totals.entries == 0 {
        return false;
    }
    item.size = totals.size;
    item.alloc = totals.alloc;
    item.entries = totals.entries;
    // What deletion of the matches would free is known for marks only.
    item.freeable = None;
    true
}

/// Returns the path of an entry of a directory, relative to the top.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len());
    path.extend_from_slice(directory);
    if !directory.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
