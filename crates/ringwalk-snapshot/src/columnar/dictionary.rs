//! The different values of a column of a row group, with a number for each.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a dictionary has less than 2^32 values"
)]

use super::values::{push_numbers, push_text};
use super::{Cells, Physical};
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

/// Once the values take so many bytes, the pages behind do without the dictionary.
const MOST: usize = 1 << 20;

pub(super) struct Dictionary {
    physical: Physical,
    /// Values by their hashes.
    table: HashTable<u32>,
    numbers: Vec<i64>,
    data: Vec<u8>,
    ends: Vec<usize>,
    hasher: Hasher,
}

impl Dictionary {
    pub(super) fn new(physical: Physical) -> Self {
        Self {
            physical,
            table: HashTable::new(),
            numbers: Vec::new(),
            data: Vec::new(),
            ends: Vec::new(),
            hasher: Hasher::new(),
        }
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.numbers.len() + self.ends.len()
    }

    /// Returns true if the values of one more page may be added.
    pub(super) fn has_room(&self) -> bool {
        8 * self.numbers.len() + 4 * self.ends.len() + self.data.len() < MOST
    }

    /// Adds the values of a page that are new. Appends the number of each value of the page.
    pub(super) fn add(&mut self, cells: &Cells, out: &mut Vec<u32>) {
        let mut last = (0, u32::MAX);
        for &number in &cells.numbers {
            // Most values of most columns are the value before.
            if last.1 == u32::MAX || last.0 != number {
                last = (number, self.number(number));
            }
            out.push(last.1);
        }
        let mut last: (&[u8], u32) = (&[], u32::MAX);
        for text in cells.texts() {
            if last.1 == u32::MAX || last.0 != text {
                last = (text, self.text(text));
            }
            out.push(last.1);
        }
    }

    fn number(&mut self, number: i64) -> u32 {
        let Self {
            table,
            numbers,
            hasher,
            ..
        } = self;
        let hash = hasher.number(number);
        if let Some(at) = table.find(hash, |at| numbers[*at as usize] == number) {
            return *at;
        }
        let at = numbers.len() as u32;
        numbers.push(number);
        table.insert_unique(hash, at, |at| hasher.number(numbers[*at as usize]));
        at
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        let Self {
            table,
            data,
            ends,
            hasher,
            ..
        } = self;
        let hash = hasher.text(text);
        if let Some(at) = table.find(hash, |at| nth(data, ends, *at) == text) {
            return *at;
        }
        let at = ends.len() as u32;
        data.extend_from_slice(text);
        ends.push(data.len());
        table.insert_unique(hash, at, |at| hasher.text(nth(data, ends, *at)));
        at
    }

    /// Appends the values, stored plainly.
    pub(super) fn push_plain(&self, out: &mut Vec<u8>) {
        push_numbers(&self.numbers, self.physical, out);
        for at in 0..self.ends.len() {
            push_text(nth(&self.data, &self.ends, at as u32), out);
        }
    }
}

fn nth<'d>(data: &'d [u8], ends: &[usize], at: u32) -> &'d [u8] {
    let at = at as usize;
    let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
    &data[begin..ends[at]]
}

/// A fast hash. Nobody outside can choose values that collide, as two numbers of it are random.
/// The numbers of values, and so the files, do not depend on them.
#[derive(Clone, Copy)]
struct Hasher {
    begin: u64,
    factor: u64,
}

impl Hasher {
    fn new() -> Self {
        let random = RandomState::new();
        Self {
            begin: random.hash_one(0),
            factor: random.hash_one(1) | 1,
        }
    }

    fn mix(self, hash: u64) -> u64 {
        let product = u128::from(hash) * u128::from(self.factor);
        product as u64 ^ (product >> 64) as u64
    }

    fn number(self, number: i64) -> u64 {
        self.mix(number.cast_unsigned() ^ self.begin)
    }

    fn text(self, text: &[u8]) -> u64 {
        let (words, rest) = text.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain([&last]);
        words.fold(self.begin ^ text.len() as u64, |hash, word| {
            self.mix(hash ^ u64::from_le_bytes(*word))
        })
    }
}
