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
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let time = |secs| Some(Timestamp { secs, nanos: 0 });
        let mut sum = Totals::default();
        sum += Totals {
            size: 5,
            inodes: 1,
            time: time(-7),
        };
        assert_eq!(sum.time, time(-7), "a time before 1970 is later than none");
        sum += Totals {
            size: u64::MAX - 1,
            inodes: 2,
            time: time(-9),
        };
        assert_eq!((sum.size, sum.inodes, sum.time), (u64::MAX, 3, time(-7)));
    }
}
