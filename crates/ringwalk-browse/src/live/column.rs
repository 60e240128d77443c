//! Columns of numbers that grow without being moved.
//!
//! A `Vec` that doubles would hold up to twice what it needs. Copying it would hold up the screen,
//! which waits for the tree.

use std::collections::HashMap;

const CHUNK: usize = 1 << 14;

/// A column of numbers.
#[derive(Debug, Default)]
pub(super) struct Column<T> {
    chunks: Vec<Box<[T]>>,
    len: usize,
}

impl<T: Copy + Default> Column<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, value: T) {
        if self.len == self.chunks.len() * CHUNK {
            self.chunks.push(vec![T::default(); CHUNK].into());
        }
        let at = self.len;
        self.len += 1;
        self.set(at, value);
    }

    /// Returns the value at a place below `len`.
    pub(super) fn get(&self, at: usize) -> T {
        self.chunks[at / CHUNK][at % CHUNK]
    }

    pub(super) fn set(&mut self, at: usize, value: T) {
        self.chunks[at / CHUNK][at % CHUNK] = value;
    }
}

/// The value of a [`WideColumn`] that stands for one in its map.
const WIDE: u32 = u32::MAX;

/// A column of 64-bit numbers, most of which fit in 32 bits.
#[derive(Debug, Default)]
pub(super) struct WideColumn {
    narrow: Column<u32>,
    /// The others, by their place.
    wide: HashMap<usize, u64>,
}

impl WideColumn {
    pub(super) fn push(&mut self, value: u64) {
        let at = self.narrow.len();
        self.narrow.push(0);
        self.set(at, value);
    }

    pub(super) fn get(&self, at: usize) -> u64 {
        match self.narrow.get(at) {
            WIDE => self.wide[&at],
            narrow => u64::from(narrow),
        }
    }

    pub(super) fn set(&mut self, at: usize, value: u64) {
        if self.narrow.get(at) == WIDE {
            self.wide.remove(&at);
        }
        let narrow = u32::try_from(value).ok().filter(|narrow| *narrow != WIDE);
        if narrow.is_none() {
            self.wide.insert(at, value);
        }
        self.narrow.set(at, narrow.unwrap_or(WIDE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_values_are_kept_and_replaced() {
        let mut column = WideColumn::default();
        let values = [
            0,
            7,
            u64::from(WIDE) - 1,
            u64::from(WIDE),
            u64::MAX,
            1 << 40,
        ];
        for value in values {
            column.push(value);
        }
        for (at, value) in values.into_iter().enumerate() {
            assert_eq!(column.get(at), value);
            column.set(at, value ^ (1 << 50));
            assert_eq!(column.get(at), value ^ (1 << 50));
            column.set(at, 3);
            assert_eq!(column.get(at), 3);
        }
        assert!(column.wide.is_empty());
    }

    #[test]
    fn values_of_several_chunks_are_kept() {
        let mut column = Column::default();
        for value in 0..3 * CHUNK {
            column.push(value);
        }
        assert_eq!(column.len(), 3 * CHUNK);
        assert!((0..3 * CHUNK).all(|at| column.get(at) == at));
    }
}
