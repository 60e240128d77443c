//! The cells of one page, decoded from its bytes.
//!
//! The readers of the parquet crate make one value after the other, a path with two allocations. A
//! walk of a snapshot reads names only, so that takes most of its time. These functions take a
//! tenth of it. They know the encodings that Ringwalk writes (`Encodings.md` of the Parquet
//! format), and return `None` for bytes that are anything else. The crate's readers panic for some
//! of these.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of 32 bits, and sizes within a page"
)]

use super::chunk::Cells;
use super::packed::{Run, delta_binary, runs, take};
use super::texts::{end_text, texts};
use crate::columnar::Encoding;
use crate::schema::Values;

/// The values that the pages of a row group refer to by number.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    pub(super) numbers: Vec<i64>,
    pub(super) data: Vec<u8>,
    pub(super) ends: Vec<u32>,
}

/// Memory that is used for each page.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) numbers: Vec<i64>,
    pub(super) lengths: Vec<i64>,
}

/// A data page of the first version.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBytes<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) encoding: Encoding,
    pub(super) values: Values,
    pub(super) rows: usize,
    pub(super) is_required: bool,
}

/// Decodes a page into cells. The cells are undefined if it returns `None`.
pub(super) fn page(
    page: PageBytes<'_>,
    dictionary: Option<&Dictionary>,
    scratch: &mut Scratch,
    cells: &mut Cells,
) -> Option<()> {
    cells.clear();
    cells.is_absent = false;
    let mut bytes = page.bytes;
    let mut values = page.rows;
    if !page.is_required {
        let length = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
        let levels = take(&mut bytes, length as usize)?;
        values = presence(levels, page.rows, &mut cells.present)?;
    }
    if matches!(page.values, Values::Text | Values::Bytes) {
        return texts(page, bytes, values, dictionary, scratch, cells);
    }
    let direct = cells.present.is_empty();
    let numbers = if direct {
        &mut cells.numbers
    } else {
        scratch.numbers.clear();
        &mut scratch.numbers
    };
    match page.encoding {
        Encoding::DeltaBinaryPacked => {
            delta_binary(&mut bytes, values, numbers)?;
            narrow(numbers, page.values)?;
        }
        Encoding::RleDictionary | Encoding::PlainDictionary => {
            dictionary_numbers(bytes, values, &dictionary?.numbers, numbers)?;
        }
        Encoding::Plain => plain_numbers(bytes, values, page.values, numbers)?,
        _ => return None,
    }
    if numbers.len() != values {
        return None;
    }
    if !direct {
        let mut numbers = scratch.numbers.iter();
        for present in &cells.present {
            let number = if *present { *numbers.next()? } else { 0 };
            cells.numbers.push(number);
        }
    }
    Some(())
}

/// Decodes the values of a dictionary page, which are stored plainly.
pub(super) fn dictionary(bytes: &[u8], count: usize, values: Values) -> Option<Dictionary> {
    let mut dictionary = Dictionary::default();
    if matches!(values, Values::Text | Values::Bytes) {
        let mut rest = bytes;
        for _ in 0..count {
            let length = u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?);
            let value = take(&mut rest, length as usize)?;
            dictionary.data.extend_from_slice(value);
            end_text(&dictionary.data, &mut dictionary.ends)?;
        }
        rest.is_empty().then_some(())?;
    } else {
        plain_numbers(bytes, count, values, &mut dictionary.numbers)?;
    }
    Some(dictionary)
}

impl Dictionary {
    pub(super) fn text(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let begin = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        self.data.get(begin..end)
    }
}

/// Decodes which rows have a value. Returns how many have one; `present` stays empty if all have.
fn presence(levels: &[u8], rows: usize, present: &mut Vec<bool>) -> Option<usize> {
    let (mut count, mut before) = (0, 0);
    runs(levels, 1, rows, |run| {
        // Most pages are one run of rows with a value.
        if let Run::Same(1, times) = run
            && count == before
        {
            count += times;
            before += times;
            return Some(());
        }
        present.resize(before, true);
        match run {
            Run::Same(level, times) => present.resize(before + times, level > 0),
            Run::Packed(levels) => present.extend(levels.iter().map(|level| *level > 0)),
        }
        count += present[before..].iter().filter(|has| **has).count();
        before = present.len();
        Some(())
    })?;
    if count == rows {
        present.clear();
    } else {
        present.resize(rows, true);
    }
    Some(count)
}

/// Decodes numbers that are stored as indices of `known`.
fn dictionary_numbers(
    bytes: &[u8],
    values: usize,
    known: &[i64],
    numbers: &mut Vec<i64>,
) -> Option<()> {
    numbers.reserve(values);
    let number = |index: u64| known.get(usize::try_from(index).ok()?).copied();
    indices(bytes, values, |run| match run {
        Run::Same(index, times) => {
            numbers.resize(numbers.len() + times, number(index)?);
            Some(())
        }
        Run::Packed(indices) => {
            let mut are_known = true;
            numbers.extend(indices.iter().map(|index| {
                let number = number(*index);
                are_known &= number.is_some();
                number.unwrap_or_default()
            }));
            are_known.then_some(())
        }
    })
}

/// Decodes indices of values in a dictionary.
pub(super) fn indices(
    bytes: &[u8],
    values: usize,
    each: impl FnMut(Run<'_>) -> Option<()>,
) -> Option<()> {
    if values == 0 {
        return Some(());
    }
    let (width, bytes) = bytes.split_first()?;
    runs(bytes, u32::from(*width), values, each)
}

/// Cuts differences that were added up to the bits of the type. Returns `None` for a type that is
/// not stored as differences.
fn narrow(numbers: &mut [i64], values: Values) -> Option<()> {
    match values {
        Values::Int32 => {
            for number in numbers {
                *number = i64::from(*number as i32);
            }
        }
        Values::Uint32 => {
            for number in numbers {
                *number = (*number as i32).cast_unsigned().into();
            }
        }
        Values::Int64 | Values::Uint64 | Values::Time => {}
        Values::Boolean | Values::Text | Values::Bytes => return None,
    }
    Some(())
}

fn plain_numbers(mut bytes: &[u8], count: usize, values: Values, out: &mut Vec<i64>) -> Option<()> {
    match values {
        Values::Int32 => {
            for number in take(&mut bytes, count.checked_mul(4)?)?.as_chunks().0 {
                out.push(i32::from_le_bytes(*number).into());
            }
        }
        Values::Uint32 => {
            for number in take(&mut bytes, count.checked_mul(4)?)?.as_chunks().0 {
                out.push(u32::from_le_bytes(*number).into());
            }
        }
        Values::Int64 | Values::Uint64 | Values::Time => {
            for number in take(&mut bytes, count.checked_mul(8)?)?.as_chunks().0 {
                out.push(i64::from_le_bytes(*number));
            }
        }
        Values::Boolean => {
            let packed = take(&mut bytes, count.div_ceil(8))?;
            out.extend((0..count).map(|at| i64::from(packed[at / 8] >> (at % 8) & 1)));
        }
        Values::Text | Values::Bytes => return None,
    }
    // More bytes than values: the count or the encoding is wrong.
    bytes.is_empty().then_some(())
}

#[cfg(test)]
mod tests;
