//! Unit tests of `table.rs`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const ONE: Sums = Sums {
    entries: 1,
    size: 10,
    alloc: 512,
};

fn add(table: &mut Table, values: &[Code]) {
    let mut group = table.value(0, values[0]);
    for (key, value) in values.iter().enumerate().skip(1) {
        let second = table.value(key, *value);
        group = table.pair(key, group, second);
    }
    table.sums(group).add(ONE);
}

fn entries(table: &Table) -> BTreeMap<Vec<Code>, u64> {
    table
        .groups()
        .map(|(values, sums)| (values, sums.entries))
        .collect()
}

#[test]
fn values_come_back() {
    let mut table = Table::new(3);
    let rows = [[1, 2, 3], [u128::MAX, 0, 7], [1, 2, 3], [1, 2, 4]];
    for row in &rows {
        add(&mut table, row);
    }
    let expected = [
        (vec![1, 2, 3], 2),
        (vec![u128::MAX, 0, 7], 1),
        (vec![1, 2, 4], 1),
    ];
    assert_eq!(entries(&table), expected.into_iter().collect());
}

#[test]
fn beyond_the_limit_only_known_groups_grow() {
    let mut all = Table::new(1);
    let mut first = Table::new(1);
    for value in [5, 6] {
        add(&mut first, &[value]);
    }
    let mut second = Table::new(1);
    for value in [7, 6, 8, 8] {
        add(&mut second, &[value]);
    }
    all.merge(&first, 3);
    assert_eq!(all.merge(&second, 3), [2, 1, OVERFLOW]);
    let expected = [(vec![5], 1), (vec![6], 2), (vec![7], 1)];
    assert_eq!(entries(&all), expected.into_iter().collect());
    assert_eq!(all.overflow.entries, 2);
    assert_eq!(all.overflow.alloc, 1024);
}

#[test]
fn a_row_without_a_group_stays_without_one() {
    let mut table = Table::new(2);
    let first = table.value(0, 1);
    assert_eq!(table.pair(1, first, OVERFLOW), OVERFLOW);
    assert_eq!(table.pair(1, OVERFLOW, 0), OVERFLOW);
    table.sums(OVERFLOW).add(ONE);
    assert_eq!((table.len(), table.overflow), (0, ONE));
}

#[test]
fn sums_stop_growing() {
    let mut sums = Sums {
        entries: u64::MAX,
        size: u64::MAX - 1,
        alloc: u64::MAX,
    };
    sums.add(ONE);
    assert_eq!(
        (sums.entries, sums.size, sums.alloc),
        (u64::MAX, u64::MAX, u64::MAX)
    );
}

proptest! {
    /// Values that share slots of the cache, in one table and in merged pieces.
    #[test]
    fn pieces_give_the_sums_of_the_whole(
        rows in prop::collection::vec((0_u128..40, 0_u128..600), 0..2000),
        size in 1_usize..300,
    ) {
        let mut expected = BTreeMap::new();
        let mut merged = Table::new(2);
        for piece in rows.chunks(size) {
            let mut table = Table::new(2);
            for (first, second) in piece {
                let values = [first << 100 | first, *second];
                add(&mut table, &values);
                *expected.entry(values.to_vec()).or_insert(0) += 1;
            }
            merged.merge(&table, usize::MAX);
        }
        prop_assert_eq!(entries(&merged), expected);
    }
}
