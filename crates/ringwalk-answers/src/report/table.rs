//! Sums by group. A group is a list of values, one for each key.
//!
//! Every value of every key fits in 16 bytes ([`Code`]), so no row allocates memory. One
//! [`Interner`] gives each value of a key a small number, another one each pair of numbers, and so
//! on. The last number is the index of the group's sums.

use std::collections::HashMap;

/// A value of a key, as a number.
pub(super) type Code = u128;

/// The group of rows that have no group of their own.
pub(super) const OVERFLOW: u32 = u32::MAX;

/// The sums of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of entries, each name of a file with several hard links included.
    pub entries: u64,
    /// Apparent size in bytes. A file with several hard links counts once.
    pub size: u64,
    /// Allocated size in bytes. A file with several hard links counts once.
    pub alloc: u64,
}

impl Sums {
    /// Adds `other`. Sums stop growing at `u64::MAX`.
    pub(super) fn add(&mut self, other: Self) {
        self.entries = self.entries.saturating_add(other.entries);
        self.size = self.size.saturating_add(other.size);
        self.alloc = self.alloc.saturating_add(other.alloc);
    }
}

/// Slots of the cache in front of a hash map.
const SLOTS: usize = 256;

/// Numbers values in the order in which they come.
///
/// Most rows have a value that was seen shortly before. A small cache answers for those, so the
/// hash map may have a hash that no choice of names can slow down.
#[derive(Debug)]
struct Interner {
    numbers: HashMap<Code, u32>,
    values: Vec<Code>,
    cache: Box<[(Code, u32); SLOTS]>,
}

impl Interner {
    fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            values: Vec::new(),
            cache: Box::new([(0, OVERFLOW); SLOTS]),
        }
    }

    #[inline]
    fn number(&mut self, value: Code) -> u32 {
        let slot = slot(value);
        let (cached, number) = self.cache[slot];
        if cached == value && number != OVERFLOW {
            return number;
        }
        let number = self.number_of_map(value);
        self.cache[slot] = (value, number);
        number
    }

    #[inline(never)]
    fn number_of_map(&mut self, value: Code) -> u32 {
        // A row group has fewer values than u32 has numbers, and a merged table has a limit.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the number of values is limited"
        )]
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }

    fn find(&self, value: Code) -> Option<u32> {
        self.numbers.get(&value).copied()
    }
}

/// Returns a slot that depends on all bits of `value`.
#[inline]
fn slot(value: Code) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves, and 8 bits"
    )]
    {
        let folded = (value as u64) ^ ((value >> 64) as u64).rotate_left(29);
        // The multiplier of Fibonacci hashing: 2 to the power of 64, divided by the golden ratio.
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }
}

/// Sums by group.
#[derive(Debug)]
pub(super) struct Table {
    /// One for each key: from values to numbers.
    keys: Vec<Interner>,
    /// One for each key but the first: from pairs of numbers to numbers.
    pairs: Vec<Interner>,
    sums: Vec<Sums>,
    /// The sums of rows without a group of their own.
    pub(super) overflow: Sums,
}

impl Table {
    /// Creates a table for groups of `keys` values, at least one.
    pub(super) fn new(keys: usize) -> Self {
        Self {
            keys: (0..keys).map(|_| Interner::new()).collect(),
            pairs: (1..keys).map(|_| Interner::new()).collect(),
            sums: Vec::new(),
            overflow: Sums::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Returns the number of a value of the key at `key`.
    #[inline]
    pub(super) fn value(&mut self, key: usize, value: Code) -> u32 {
        self.keys[key].number(value)
    }

    /// Returns the number of a pair: number `first` of the first key, and number `second` of the
    /// key at `key`.
    #[inline]
    pub(super) fn pair(&mut self, key: usize, first: u32, second: u32) -> u32 {
        if first == OVERFLOW || second == OVERFLOW {
            return OVERFLOW;
        }
        self.pairs[key - 1].number(pair(first, second))
    }

    /// Returns the sums of a group, which begin with zeros.
    #[inline]
    pub(super) fn sums(&mut self, group: u32) -> &mut Sums {
        if group == OVERFLOW {
            return &mut self.overflow;
        }
        let group = group as usize;
        if group >= self.sums.len() {
            self.sums.resize(group + 1, Sums::default());
        }
        &mut self.sums[group]
    }

    /// Returns the values of a group.
    pub(super) fn values(&self, group: u32) -> Vec<Code> {
        let mut values = vec![0; self.keys.len()];
        let mut number = group;
        for key in (1..self.keys.len()).rev() {
            let pair = self.pairs[key - 1].values[number as usize];
            let (first, second) = unpair(pair);
            values[key] = self.keys[key].values[second as usize];
            number = first;
        }
        values[0] = self.keys[0].values[number as usize];
        values
    }

    /// Returns all groups with their values and sums.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Vec<Code>, Sums)> {
        (0_u32..)
            .zip(&self.sums)
            .map(|(group, sums)| (self.values(group), *sums))
    }

    /// Adds the groups of `other` in their order. When this table has `limit` groups, the rows of
    /// further ones are added to [`overflow`](Self::overflow). Returns the number here of each
    /// group of `other`.
    pub(super) fn merge(&mut self, other: &Self, limit: usize) -> Vec<u32> {
        self.overflow.add(other.overflow);
        let mut numbers = Vec::with_capacity(other.len());
        for (values, sums) in other.groups() {
            let group = self.group(&values, limit);
            self.sums(group).add(sums);
            numbers.push(group);
        }
        numbers
    }

    fn group(&mut self, values: &[Code], limit: usize) -> u32 {
        if let Some(group) = self.find(values) {
            return group;
        }
        if self.len() >= limit {
            return OVERFLOW;
        }
        let mut number = self.value(0, values[0]);
        for (key, value) in values.iter().enumerate().skip(1) {
            let second = self.value(key, *value);
            number = self.pair(key, number, second);
        }
        number
    }

    fn find(&self, values: &[Code]) -> Option<u32> {
        let mut number = self.keys[0].find(values[0])?;
        for (key, value) in values.iter().enumerate().skip(1) {
            let second = self.keys[key].find(*value)?;
            number = self.pairs[key - 1].find(pair(number, second))?;
        }
        Some(number)
    }
}

fn pair(first: u32, second: u32) -> Code {
    Code::from(first) << 32 | Code::from(second)
}

fn unpair(pair: Code) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    ((pair >> 32) as u32, pair as u32)
}

#[cfg(test)]
mod tests {
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
}
