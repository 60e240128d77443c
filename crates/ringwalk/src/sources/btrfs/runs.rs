//! Groups inodes for one search each.
//!
//! A search returns all items between two keys. So it also returns inodes in between that are not
//! wanted, and the other items of each inode (references, extents, contents of small files, entries
//! of directories). Each item costs a sixth of a microsecond; a search by itself costs two and a
//! half. So one search asks for inodes with close numbers.

/// The greatest distance of two inode numbers for which one search is better: about three items
/// belong to each number.
const GAP: u64 = 5;

/// One search: entries of the batch in the order of their inode numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InodeRun {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// An entry of a batch to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lookup {
    pub(super) ino: u64,
    pub(super) index: usize,
}

/// Returns the first run of `sorted`, which is sorted by inode number.
pub(super) fn first_run(sorted: &[Lookup]) -> Option<InodeRun> {
    let first = sorted.first()?.ino;
    let mut last = first;
    for lookup in sorted {
        if lookup.ino - last > GAP + 1 {
            break;
        }
        last = lookup.ino;
    }
    Some(InodeRun { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_gaps_are_wide() {
        let inos = [257, 258, 258, 258 + GAP + 1, 1000, 1000 + GAP + 2];
        let all: Vec<_> = inos.map(|ino| Lookup { ino, index: 0 }).into();
        let mut sorted = all.as_slice();
        let mut runs = Vec::new();
        while let Some(run) = first_run(sorted) {
            runs.push((run.first, run.last));
            let next = sorted.iter().position(|lookup| lookup.ino > run.last);
            sorted = &sorted[next.unwrap_or(sorted.len())..];
        }
        let expected = [
            (257, 258 + GAP + 1),
            (1000, 1000),
            (1000 + GAP + 2, 1000 + GAP + 2),
        ];
        assert_eq!(runs, expected);
    }
}
