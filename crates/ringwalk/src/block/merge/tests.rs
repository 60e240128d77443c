use super::*;

fn cut(requests: &[(u64, u32)], longest: u32, gap: u32) -> Vec<(u64, u32, usize)> {
    let requests: Vec<_> = requests
        .iter()
        .map(|&(offset, len)| Request {
            offset,
            len,
            tag: 0,
        })
        .collect();
    pieces(&requests, longest, gap)
        .map(|piece| (piece.offset, piece.len, piece.what.len()))
        .collect()
}

#[test]
fn neighbours_are_merged_up_to_the_longest_read() {
    let requests = [(0, 4), (4, 4), (8, 4), (12, 4)];
    assert_eq!(cut(&requests, 16, 0), [(0, 16, 4)]);
    assert_eq!(cut(&requests, 15, 0), [(0, 12, 3), (12, 4, 1)]);
    assert_eq!(
        cut(&requests, 4, 9),
        [(0, 4, 1), (4, 4, 1), (8, 4, 1), (12, 4, 1)]
    );
}

#[test]
fn gaps_count_from_the_furthest_end() {
    assert_eq!(cut(&[(0, 4), (6, 4)], 100, 1), [(0, 4, 1), (6, 4, 1)]);
    assert_eq!(cut(&[(0, 4), (6, 4)], 100, 2), [(0, 10, 2)]);
    // Overlapping requests, the same request twice, one within another.
    assert_eq!(
        cut(&[(0, 20), (0, 20), (3, 2), (20, 1)], 100, 0),
        [(0, 21, 4)]
    );
}

#[test]
fn what_cannot_be_merged_stays_alone() {
    let end = u64::MAX;
    assert_eq!(
        cut(&[(0, 50), (1, 1), (end - 1, 8), (end, 8)], 10, 5),
        [(0, 50, 1), (1, 1, 1), (end - 1, 1, 2)]
    );
    assert_eq!(cut(&[], 10, 0), []);
}
