//! Byte ranges of a device: sorts them and merges neighbours.

/// The widest gap between two ranges that is read along, as a separate read costs more. A rotating
/// disk reads this much in half a millisecond, and needs four milliseconds to seek and four to
/// turn. On flash, or on a disk that takes 2 ms for a read and many reads at a time, the gap costs
/// little too. This merging alone decides whether inodes are read block by block or table by table:
/// dense blocks become one long read.
pub(super) const GAP: u64 = 64 << 10;

/// The bytes `start..end` of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ByteRange {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl ByteRange {
    pub(super) fn new(start: u64, length: u64) -> Self {
        Self {
            start,
            end: start.saturating_add(length),
        }
    }

    pub(super) fn bytes(self) -> u64 {
        self.end - self.start
    }
}

/// Sorts ranges, and merges those that overlap, touch, or have at most `gap` bytes between them.
pub(super) fn sort_and_merge(ranges: &mut Vec<ByteRange>, gap: u64) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let near = next.start <= kept.end.saturating_add(gap);
        if near {
            kept.end = kept.end.max(next.end);
        }
        near
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(ranges: &[(u64, u64)], gap: u64) -> Vec<(u64, u64)> {
        let mut ranges: Vec<_> = ranges
            .iter()
            .map(|&(start, end)| ByteRange { start, end })
            .collect();
        sort_and_merge(&mut ranges, gap);
        ranges
            .iter()
            .map(|range| (range.start, range.end))
            .collect()
    }

    #[test]
    fn neighbours_become_one() {
        let ranges = [(80, 90), (0, 10), (10, 20), (25, 30), (5, 12), (85, 86)];
        assert_eq!(merged(&ranges, 0), [(0, 20), (25, 30), (80, 90)]);
        assert_eq!(merged(&ranges, 5), [(0, 30), (80, 90)]);
        assert_eq!(merged(&ranges, 50), [(0, 90)]);
        assert_eq!(merged(&[], 5), []);
        assert_eq!(merged(&[(3, u64::MAX), (1, 2)], u64::MAX), [(1, u64::MAX)]);
    }
}
