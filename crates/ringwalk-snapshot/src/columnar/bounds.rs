//! The least and the largest value of a page or a column. Readers skip pages by them.

use super::values::push_numbers;
use super::{Cells, Leaf, Physical};

/// A value that compares as readers compare the values of its column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Number(i64),
    Text(Vec<u8>),
}

/// The least and the largest value.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    least: Bound,
    largest: Bound,
}

/// Whether bounds grow from page to page, with the numbers of `parquet.thrift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Unordered = 0,
    Ascending = 1,
    Descending = 2,
}

impl Bounds {
    /// Returns the bounds of the values of a page. Returns `None` if it has none, or if all its
    /// values are NaN.
    pub(super) fn of(cells: &Cells, leaf: &Leaf) -> Option<Self> {
        if leaf.physical == Physical::ByteArray {
            let text = |text: &[u8]| Bound::Text(text.to_vec());
            return Some(Self {
                least: text(cells.texts().min()?),
                largest: text(cells.texts().max()?),
            });
        }
        let is_real = leaf.physical == Physical::Double;
        let numbers = cells.numbers.iter().copied();
        let comparable = numbers.filter(|number| !is_real || !real(*number).is_nan());
        let (mut least, mut largest) = (i64::MAX, i64::MIN);
        let mut is_empty = true;
        for number in comparable {
            let key = key(number, leaf);
            (least, largest) = (least.min(key), largest.max(key));
            is_empty = false;
        }
        if is_empty {
            return None;
        }
        if is_real {
            // Readers may take both zeros as equal.
            let zeros = [-0.0_f64, 0.0].map(|zero| key(zero.to_bits().cast_signed(), leaf));
            if least == zeros[1] {
                least = zeros[0];
            }
            if largest == zeros[0] {
                largest = zeros[1];
            }
        }
        Some(Self {
            least: Bound::Number(least),
            largest: Bound::Number(largest),
        })
    }

    /// Widens the bounds of a column by those of a page.
    pub(super) fn widen(column: &mut Option<Self>, page: Option<&Self>) {
        let Some(page) = page else { return };
        let Some(column) = column else {
            *column = Some(page.clone());
            return;
        };
        if page.least < column.least {
            column.least = page.least.clone();
        }
        if page.largest > column.largest {
            column.largest = page.largest.clone();
        }
    }

    /// Returns the least and the largest value as they are stored.
    pub(super) fn stored(&self, leaf: &Leaf) -> [Vec<u8>; 2] {
        [&self.least, &self.largest].map(|bound| match bound {
            Bound::Text(text) => text.clone(),
            Bound::Number(number) => {
                let mut out = Vec::new();
                push_numbers(&[key(*number, leaf)], leaf.physical, &mut out);
                out
            }
        })
    }
}

impl Order {
    /// Returns the order of the bounds of pages.
    pub(super) fn of<'b>(bounds: impl Iterator<Item = &'b Bounds>) -> Self {
        let (mut ascends, mut descends) = (true, true);
        let mut before: Option<&Bounds> = None;
        for bounds in bounds {
            if let Some(before) = before {
                ascends &= before.least <= bounds.least && before.largest <= bounds.largest;
                descends &= before.least >= bounds.least && before.largest >= bounds.largest;
            }
            before = Some(bounds);
        }
        match (ascends, descends) {
            (true, _) => Self::Ascending,
            (_, true) => Self::Descending,
            _ => Self::Unordered,
        }
    }
}

fn real(number: i64) -> f64 {
    f64::from_bits(number.cast_unsigned())
}

/// Turns a value into a number that compares as the value does, and back.
fn key(number: i64, leaf: &Leaf) -> i64 {
    match leaf.physical {
        // Negative fractions have the opposite order.
        Physical::Double => number ^ ((number >> 63).cast_unsigned() >> 1).cast_signed(),
        Physical::Int64 if leaf.is_unsigned => number ^ i64::MIN,
        // The values of columns with 32 bits are never negative where they are unsigned.
        _ => number,
    }
}
