//! The entries that an expression would mark.

use super::listing::join;
use crate::service::Matches;
use crate::tree::{Id, Order, SortKey, Tree};
use std::io;

/// Entries are fetched in groups of this many.
const GROUP: usize = 1024;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    /// The entries.
    pub(crate) ids: Vec<Id>,
    /// Directories that match but hold something that does not.
    pub(crate) partial: u64,
}

/// Returns the entries below a directory that match an expression.
///
/// A directory is among them only if everything in it matches too: deleting a marked directory
/// deletes all of it, and the expression has not chosen that. Its contents are then left out.
pub(crate) fn matching(
    tree: &dyn Tree,
    directory: Id,
    path: Vec<u8>,
    matches: &dyn Matches,
) -> io::Result<Matching> {
    let mut found = Matching::default();
    let order = Order {
        key: SortKey::Name,
        ..Order::default()
    };
    let mut pending = vec![(directory, path)];
    while let Some((directory, path)) = pending.pop() {
        for ids in tree.listing(directory, order)?.chunks(GROUP) {
            for item in tree.items(ids)? {
                if !item.is_directory() {
                    if matches.matched(&path, &item.name) {
                        found.ids.push(item.id);
                    }
                    continue;
                }
                let below = join(&path, &item.name);
                let totals = matches.totals(&below);
                if totals.entries == item.entries && item.errors == 0 {
                    found.ids.push(item.id);
                    continue;
                }
                if matches.matched(&path, &item.name) {
                    found.partial += 1;
                }
                if totals.entries > 0 {
                    pending.push((item.id, below));
                }
            }
        }
    }
    Ok(found)
}
