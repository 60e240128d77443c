//! Merging neighbours into one read.

use std::ops::Range;

use super::Request;
use super::drive::PlannedRead;

/// Cuts requests, sorted by offset, into pieces of at most `longest` bytes with gaps of at most
/// `gap`. A piece holds the range of its requests in `requests`. A request that is longer than
/// `longest`, or that would end beyond the largest offset, is not merged.
pub(super) fn pieces(
    requests: &[Request],
    longest: u32,
    gap: u32,
) -> impl Iterator<Item = PlannedRead<Range<usize>>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let first = requests.get(start)?;
        let mut end = first.offset.saturating_add(u64::from(first.len));
        next += 1;
        while let Some(request) = requests.get(next) {
            let further = end.max(request.offset.saturating_add(u64::from(request.len)));
            if request.offset > end.saturating_add(u64::from(gap))
                || further - first.offset > u64::from(longest)
            {
                break;
            }
            end = further;
            next += 1;
        }
        let len = if next - start == 1 {
            first.len
        } else {
            u32::try_from(end - first.offset).unwrap_or(u32::MAX)
        };
        Some(PlannedRead {
            offset: first.offset,
            len,
            what: start..next,
        })
    })
}

#[cfg(test)]
mod tests {
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
}
