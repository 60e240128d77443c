//! The columns of the list. They appear as the width allows.

use crate::tree::{SortKey, Weight};
use crate::view::ListOrder;

/// A column. Their order here is their order on the screen; flags come before, the name behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Column {
    /// The size that is shown: apparent or allocated.
    Size,
    /// The other one of the two.
    OtherSize,
    /// What deletion frees.
    Freeable,
    /// The growth since the older snapshot.
    Growth,
    /// The share of the directory.
    Share,
    /// A bar in relation to the largest entry.
    Bar,
    /// The number of entries.
    Entries,
    /// The date of the last change.
    Mtime,
    /// The owner.
    Owner,
}

/// Columns that a name keeps at least, before a further column appears.
const NAME: usize = 24;
/// Columns of the flags, and of the space behind each column.
pub(crate) const FLAGS: usize = 2;

/// In this order columns get their place.
const IMPORTANCE: [Column; 9] = [
    Column::Size,
    Column::Growth,
    Column::Bar,
    Column::Share,
    Column::Entries,
    Column::Mtime,
    Column::Freeable,
    Column::Owner,
    Column::OtherSize,
];

impl Column {
    /// Returns the width, without the space behind it.
    pub(crate) fn width(self, screen: usize) -> usize {
        match self {
            Self::Size | Self::OtherSize | Self::Growth | Self::Share => 6,
            Self::Entries => 7,
            Self::Freeable => 8,
            Self::Mtime => 10,
            Self::Bar if screen >= 160 => 22,
            Self::Bar | Self::Owner => 12,
        }
    }

    /// Returns the heading.
    pub(crate) fn heading(self, weight: Weight) -> &'static str {
        match (self, weight) {
            (Self::Size, Weight::Alloc) | (Self::OtherSize, Weight::Size) => "alloc",
            (Self::Size, Weight::Size) | (Self::OtherSize, Weight::Alloc) => "size",
            (Self::Freeable, _) => "freeable",
            (Self::Growth, _) => "growth",
            (Self::Share, _) => "share",
            (Self::Bar, _) => "",
            (Self::Entries, _) => "entries",
            (Self::Mtime, _) => "changed",
            (Self::Owner, _) => "owner",
        }
    }
}

/// Returns the columns for a width. The column that the list is sorted by comes before others that
/// would also fit.
pub(crate) fn columns(width: usize, order: ListOrder, has_growth: bool) -> Vec<Column> {
    let sorted = if order.by_growth {
        Some(Column::Growth)
    } else {
        match order.order.key {
            SortKey::Alloc | SortKey::Size | SortKey::Name => None,
            SortKey::Freeable => Some(Column::Freeable),
            SortKey::Entries => Some(Column::Entries),
            SortKey::Mtime => Some(Column::Mtime),
            SortKey::Owner => Some(Column::Owner),
        }
    };
    let mut columns = vec![Column::Size];
    let mut used = FLAGS + Column::Size.width(width) + 1;
    for column in sorted.into_iter().chain(IMPORTANCE) {
        let needed = column.width(width) + 1;
        let is_possible = column != Column::Growth || has_growth;
        if is_possible && !columns.contains(&column) && used + needed + NAME <= width {
            columns.push(column);
            used += needed;
        }
    }
    columns.sort_unstable();
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Order;

    #[test]
    fn columns_appear_with_the_width() {
        let order = ListOrder::default();
        assert_eq!(columns(20, order, true), [Column::Size]);
        assert_eq!(columns(40, order, true), [Column::Size, Column::Growth]);
        let all = columns(300, order, false);
        assert_eq!(all.len(), 8);
        assert!(all.is_sorted());
    }

    #[test]
    fn the_sorted_column_comes_first() {
        let by_owner = Order {
            key: SortKey::Owner,
            ..Order::default()
        };
        let order = ListOrder {
            order: by_owner,
            by_growth: false,
        };
        assert_eq!(columns(48, order, true), [Column::Size, Column::Owner]);
    }
}
