//! Places of a device: sorted, and neighbours made one.

/// Bytes that lie between two places and are read along, because a read of its own costs more. A disk that turns reads this much
/// in half a millisecond, and needs four to seek and four to turn; on a disk with 2 ms a read and many at a time, or on flash, it costs
/// little too. Merging is all there is to the question whether inodes are read one block at a time or table by table: what lies dense
/// becomes one long read.
pub(super) const GAP: u64 = 64 << 10;

/// Bytes `start..end` of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
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

/// Sorts, and makes one of places that overlap, touch, or are at most `gap` bytes apart.
pub(super) fn sort_and_merge(ranges: &mut Vec<Range>, gap: u64) {
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
            .map(|&(start, end)| Range { start, end })
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
