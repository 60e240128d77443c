//! The order of the groups of a report, and the largest of them.

use super::{Group, Report, Sums};
use std::cmp::Reverse;

/// The largest groups of a report in the order in which they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ranking<'r> {
    /// The groups.
    pub groups: Vec<&'r Group>,
    /// All other rows; `None` if there are none.
    pub others: Option<Others>,
}

/// Rows that are not shown by group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Others {
    /// The number of groups.
    pub groups: u64,
    /// True if there are more groups than that. Their number is not known.
    pub more: bool,
    /// Their sums.
    pub sums: Sums,
}

impl Report {
    /// Returns the `top` groups with the largest allocated sizes, or all of them.
    ///
    /// Groups come in the order of their allocated sizes, largest first; then of their entries;
    /// then of their values. Classes of a single key come in their own order.
    pub fn ranking(&self, top: Option<usize>) -> Ranking<'_> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| Reverse((group.sums.alloc, group.sums.entries)));
        let shown = top.unwrap_or(usize::MAX).min(groups.len());
        let cut = groups.split_off(shown);
        if let [key] = self.by[..]
            && key.has_classes()
        {
            groups.sort_by(|a, b| a.values.cmp(&b.values));
        }
        let mut sums = self.overflow.unwrap_or_default();
        for group in &cut {
            sums.add(group.sums);
        }
        let more = self.overflow.is_some();
        let others = (more || !cut.is_empty()).then_some(Others {
            groups: cut.len() as u64,
            more,
            sums,
        });
        Ranking { groups, others }
    }

    /// Returns the share of `sums` in the allocated size of the report, in hundredths of a percent.
    /// `None` if nothing is allocated.
    pub fn share(&self, sums: &Sums) -> Option<u32> {
        let total = u128::from(self.total.alloc);
        if total == 0 {
            return None;
        }
        let share = (u128::from(sums.alloc) * 10_000 + total / 2) / total;
        u32::try_from(share).ok()
    }
}
