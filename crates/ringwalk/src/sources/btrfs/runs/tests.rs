//! Unit tests of `runs.rs`.

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
