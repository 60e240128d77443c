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
mod tests;
