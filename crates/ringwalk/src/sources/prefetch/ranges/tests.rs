//! Unit tests of `ranges.rs`.

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
