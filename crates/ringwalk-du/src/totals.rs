//! The totals of files that lines show.

use std::ops::AddAssign;

use ringwalk::Timestamp;

/// The totals of one file, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes, of contents or of space. A sum that would not fit stays at the greatest value.
    pub size: u64,
    /// Number of files of any type.
    pub inodes: u64,
    /// The latest of the times that are shown; `None` if no file is included or no time is shown.
    pub time: Option<Timestamp>,
}

impl AddAssign for Totals {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.size = self.size.saturating_add(other.size);
        self.inodes += other.inodes;
        self.time = self.time.max(other.time);
    }
}

#[cfg(test)]
mod tests;
