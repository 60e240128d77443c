//! Unit tests of `sweep.rs`.

use super::*;

#[test]
fn tables_are_cut_without_gap_or_overlap() {
    let table = InodeTable {
        first: 8193,
        count: 2500,
        offset: 1 << 20,
    };
    let pieces: Vec<_> = cut(&table, 256).collect();
    let counts: Vec<_> = pieces.iter().map(|piece| piece.count).collect();
    assert_eq!(counts, [1024, 1024, 452]);
    for pair in pieces.windows(2) {
        assert_eq!(pair[0].first + pair[0].count, pair[1].first);
        let bytes = u64::from(pair[0].count) * 256;
        assert_eq!(pair[0].offset + bytes, pair[1].offset);
    }
    assert_eq!((pieces[0].first, pieces[0].offset), (8193, 1 << 20));
}
