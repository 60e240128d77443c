//! Sums over all groups.

use crate::{Found, Group};

/// Sums over groups of files with the same contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Number of groups.
    pub groups: u64,
    /// Number of redundant copies: all except the first of each group and copies in references. A
    /// file with several names is one copy.
    pub files: u64,
    /// Sum of the sizes of the redundant copies, in bytes.
    pub bytes: u64,
    /// Bytes that are free without the redundant copies. Less than `bytes` if copies share extents,
    /// are in snapshots, or have names that were not found.
    pub freeable: u64,
}

impl Totals {
    /// Adds a group.
    pub fn add(&mut self, group: &Group) {
        let others = group.copies.iter().skip(1);
        let redundant = others.filter(|copy| !copy.is_reference).count() as u64;
        self.groups += 1;
        self.files += redundant;
        let bytes = group.size.saturating_mul(redundant);
        self.bytes = self.bytes.saturating_add(bytes);
        self.freeable = self.freeable.saturating_add(group.freeable);
    }
}

impl Found {
    /// Returns the sums over all groups. Takes as long as [`groups`](Self::groups): code that reads
    /// the groups anyway should use [`Totals::add`].
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for group in self.groups() {
            totals.add(&group);
        }
        totals
    }
}
