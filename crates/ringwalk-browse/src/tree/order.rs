//! Orders of a listing.

use super::Item;
use std::cmp::{Ordering, Reverse};

/// What a listing is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortKey {
    /// The allocated size.
    #[default]
    Alloc,
    /// The apparent size.
    Size,
    /// The bytes that deletion frees.
    Freeable,
    /// The number of entries.
    Entries,
    /// The time of the last change.
    Mtime,
    /// The name.
    Name,
    /// The number of the owner.
    Owner,
}

/// What a file weighs among the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Its allocated size.
    #[default]
    Alloc,
    /// Its apparent size.
    Size,
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// As people expect it: names from A to Z, everything else the largest or latest first.
    #[default]
    Usual,
    /// The other way round.
    Reversed,
}

/// The order of a listing. Entries that are equal in it are sorted by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Order {
    /// What it is sorted by.
    pub key: SortKey,
    /// The direction.
    pub direction: Direction,
    /// Directories come before other files.
    pub directories_first: bool,
}

impl Order {
    /// Compares two entries.
    pub fn compare(self, a: &Item, b: &Item) -> Ordering {
        let directories = if self.directories_first {
            Reverse(a.is_directory()).cmp(&Reverse(b.is_directory()))
        } else {
            Ordering::Equal
        };
        let largest_first = |of: fn(&Item) -> Option<u64>| of(b).cmp(&of(a));
        let usual = match self.key {
            SortKey::Alloc => largest_first(|item| Some(item.alloc)),
            SortKey::Size => largest_first(|item| Some(item.size)),
            SortKey::Freeable => largest_first(|item| item.freeable),
            SortKey::Entries => largest_first(|item| Some(item.entries)),
            SortKey::Mtime => b.mtime.cmp(&a.mtime),
            SortKey::Owner => a.uid.cmp(&b.uid),
            SortKey::Name => a.name.cmp(&b.name),
        };
        let by_key = match self.direction {
            Direction::Usual => usual,
            Direction::Reversed => usual.reverse(),
        };
        let by_name = || a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id));
        directories.then(by_key).then_with(by_name)
    }
}
