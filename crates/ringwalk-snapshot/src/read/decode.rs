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
use super::unpack::MOST_TEXT;
use crate::schema::Values;
use parquet::basic::Encoding;

/// The most values of a miniblock, so that a damaged header does not take memory.
const MOST_IN_BLOCK: u64 = 1 << 16;

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
    numbers: Vec<i64>,
    lengths: Vec<i64>,
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
        Encoding::DELTA_BINARY_PACKED => {
            delta_binary(&mut bytes, values, numbers)?;
            narrow(numbers, page.values)?;
        }
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let known = &dictionary?.numbers;
            numbers.reserve(values);
            indices(bytes, values, |index| {
                numbers.push(*known.get(index)?);
                Some(())
            })?;
        }
        Encoding::PLAIN => plain_numbers(bytes, values, page.values, numbers)?,
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
    } else {
        plain_numbers(bytes, count, values, &mut dictionary.numbers)?;
    }
    Some(dictionary)
}

impl Dictionary {
    fn text(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let begin = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        self.data.get(begin..end)
    }
}

/// Notes the end of a value of text. A page may say so often "as before" that its text would fill
/// any memory: returns `None` if it is longer than that of a page can be.
#[inline]
fn end_text(data: &[u8], ends: &mut Vec<u32>) -> Option<()> {
    const { assert!(MOST_TEXT < u32::MAX as usize) }
    (data.len() <= MOST_TEXT).then_some(())?;
    ends.push(data.len() as u32);
    Some(())
}

/// Decodes values of text or bytes.
fn texts(
    page: PageBytes<'_>,
    mut bytes: &[u8],
    values: usize,
    dictionary: Option<&Dictionary>,
    scratch: &mut Scratch,
    cells: &mut Cells,
) -> Option<()> {
    match page.encoding {
        Encoding::DELTA_BYTE_ARRAY => delta_texts(bytes, values, scratch, cells)?,
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let known = dictionary?;
            indices(bytes, values, |index| {
                cells.data.extend_from_slice(known.text(index)?);
                end_text(&cells.data, &mut cells.ends)
            })?;
        }
        Encoding::PLAIN => {
            for _ in 0..values {
                let length = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
                cells
                    .data
                    .extend_from_slice(take(&mut bytes, length as usize)?);
                end_text(&cells.data, &mut cells.ends)?;
            }
        }
        _ => return None,
    }
    if cells.ends.len() != values {
        return None;
    }
    if !cells.present.is_empty() {
        spread_ends(cells);
    }
    Some(())
}

/// Gives rows without a value an empty one.
fn spread_ends(cells: &mut Cells) {
    let (mut ends, mut last) = (std::mem::take(&mut cells.ends).into_iter(), 0);
    for present in &cells.present {
        if *present && let Some(end) = ends.next() {
            last = end;
        }
        cells.ends.push(last);
    }
}

/// Decodes texts of which each is stored as the number of bytes that it shares with the one before,
/// and the rest.
fn delta_texts(
    mut bytes: &[u8],
    values: usize,
    scratch: &mut Scratch,
    cells: &mut Cells,
) -> Option<()> {
    let total = shared_and_rests(&mut bytes, values, scratch)?;
    let data = &mut cells.data;
    data.try_reserve(total).ok()?;
    cells.ends.reserve(values);
    let (mut begin, mut end) = (0, 0);
    for (shared, length) in scratch.numbers.iter().zip(&scratch.lengths) {
        let shared = usize::try_from(*shared).ok()?;
        if shared > end - begin {
            return None;
        }
        let rest = take(&mut bytes, usize::try_from(*length).ok()?)?;
        data.extend_from_within(begin..begin + shared);
        data.extend_from_slice(rest);
        (begin, end) = (end, data.len());
        end_text(data, &mut cells.ends)?;
    }
    Some(())
}

/// Calls `each` with the index of every text of a page that is equal to `wanted`. Makes no other
/// text, so it takes a tenth of the time of decoding them all.
///
/// Returns `None` for a page with nulls, or that is stored in another way than as shared beginnings
/// and rests.
pub(super) fn equal_texts(
    page: PageBytes<'_>,
    wanted: &[u8],
    scratch: &mut Scratch,
    mut each: impl FnMut(usize),
) -> Option<()> {
    if page.encoding != Encoding::DELTA_BYTE_ARRAY || !page.is_required {
        return None;
    }
    let mut bytes = page.bytes;
    shared_and_rests(&mut bytes, page.rows, scratch)?;
    let lengths = scratch.numbers.iter().zip(&scratch.lengths);
    // The bytes that the text before shares with `wanted`.
    let mut alike = 0;
    for (at, (shared, length)) in lengths.enumerate() {
        let shared = usize::try_from(*shared).ok()?;
        let rest = take(&mut bytes, usize::try_from(*length).ok()?)?;
        // A text that shares more with the one before differs from `wanted` where that does.
        if shared <= alike {
            let both = rest.iter().zip(&wanted[shared..]);
            alike = shared + both.take_while(|(a, b)| a == b).count();
        }
        if alike == wanted.len() && shared + rest.len() == wanted.len() {
            each(at);
        }
    }
    Some(())
}

/// Decodes the numbers of shared bytes into `scratch.numbers`, and the lengths of the rests into
/// `scratch.lengths`. Returns the length of all texts.
fn shared_and_rests(bytes: &mut &[u8], values: usize, scratch: &mut Scratch) -> Option<usize> {
    let Scratch { numbers, lengths } = scratch;
    numbers.clear();
    lengths.clear();
    delta_binary(bytes, values, numbers)?;
    delta_binary(bytes, values, lengths)?;
    if numbers.len() != values || lengths.len() != values {
        return None;
    }
    total_length(numbers, lengths)
}

/// Returns the number of bytes of texts with these shared beginnings and these rests. Returns
/// `None` if one shares more than the one before has, or if all are longer than those of a page can
/// be.
fn total_length(shared: &[i64], rests: &[i64]) -> Option<usize> {
    let (mut total, mut last) = (0_i64, 0_i64);
    for (shared, rest) in shared.iter().zip(rests) {
        if *shared < 0 || *rest < 0 || *shared > last {
            return None;
        }
        last = shared.checked_add(*rest)?;
        total = total.checked_add(last)?;
    }
    usize::try_from(total)
        .ok()
        .filter(|total| *total <= MOST_TEXT)
}

/// Decodes which rows have a value. Returns how many have one; `present` stays empty if all have.
fn presence(levels: &[u8], rows: usize, present: &mut Vec<bool>) -> Option<usize> {
    let mut count = 0;
    runs(levels, 1, rows, |level, times| {
        let has = level > 0;
        count += if has { times } else { 0 };
        present.resize(present.len() + times, has);
        Some(())
    })?;
    if count == rows {
        present.clear();
    }
    Some(count)
}

/// Decodes numbers of values in a dictionary.
fn indices(bytes: &[u8], values: usize, mut each: impl FnMut(usize) -> Option<()>) -> Option<()> {
    if values == 0 {
        return Some(());
    }
    let (width, bytes) = bytes.split_first()?;
    runs(bytes, u32::from(*width), values, |index, times| {
        for _ in 0..times {
            each(index as usize)?;
        }
        Some(())
    })
}

/// Decodes runs of equal numbers, and groups of numbers with `width` bits each.
fn runs(
    mut bytes: &[u8],
    width: u32,
    count: usize,
    mut each: impl FnMut(u64, usize) -> Option<()>,
) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut left = count;
    while left > 0 {
        let header = varint(&mut bytes)?;
        if header & 1 == 0 {
            let times = usize::try_from(header >> 1).ok()?.min(left);
            let mut value = [0; 8];
            let stored = take(&mut bytes, width.div_ceil(8) as usize)?;
            value[..stored.len()].copy_from_slice(stored);
            if times == 0 {
                return None;
            }
            each(u64::from_le_bytes(value), times)?;
            left -= times;
        } else {
            let groups = usize::try_from(header >> 1).ok()?;
            // The last group may be cut off where its values are not needed.
            let length = groups.checked_mul(width as usize)?.min(bytes.len());
            let packed = take(&mut bytes, length)?;
            let here = groups.checked_mul(8)?.min(left);
            if here == 0 || here * width as usize > length * 8 {
                return None;
            }
            for at in 0..here {
                each(unpacked(packed, width, at), 1)?;
            }
            left -= here;
        }
    }
    Some(())
}

/// Decodes numbers that are stored as packed differences, `DELTA_BINARY_PACKED`.
fn delta_binary(bytes: &mut &[u8], most: usize, out: &mut Vec<i64>) -> Option<()> {
    let (block, miniblocks) = (varint(bytes)?, varint(bytes)?);
    let count = usize::try_from(varint(bytes)?).ok()?;
    let mut value = unzigzag(varint(bytes)?);
    let is_sound = (1..=MOST_IN_BLOCK).contains(&block)
        && (1..=block).contains(&miniblocks)
        && block % (32 * miniblocks) == 0;
    if !is_sound || count > most {
        return None;
    }
    if count == 0 {
        return Some(());
    }
    out.reserve(count);
    out.push(value);
    let each = (block / miniblocks) as usize;
    let mut left = count - 1;
    while left > 0 {
        let least = unzigzag(varint(bytes)?);
        let widths = take(bytes, miniblocks as usize)?;
        for width in widths {
            let here = left.min(each);
            if here == 0 {
                break;
            }
            let width = u32::from(*width);
            if width > 64 {
                return None;
            }
            let packed = take(bytes, each / 8 * width as usize)?;
            out.extend((0..here).map(|at| {
                let difference = unpacked(packed, width, at).cast_signed();
                value = value.wrapping_add(least).wrapping_add(difference);
                value
            }));
            left -= here;
        }
    }
    Some(())
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
    Some(())
}

/// Returns the number `at` of numbers with `width` bits each.
#[inline]
fn unpacked(packed: &[u8], width: u32, at: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    let bit = at * width as usize;
    let (byte, shift) = (bit / 8, (bit % 8) as u32);
    let rest = packed.get(byte..).unwrap_or_default();
    let mask = u64::MAX >> (64 - width);
    if let (Some(word), true) = (rest.first_chunk::<8>(), width + shift <= 64) {
        return u64::from_le_bytes(*word) >> shift & mask;
    }
    let mut word = [0; 16];
    let length = rest.len().min(9);
    word[..length].copy_from_slice(&rest[..length]);
    (u128::from_le_bytes(word) >> shift) as u64 & mask
}

#[inline]
pub(super) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Decodes a number of variable length.
#[inline]
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

#[cfg(test)]
mod tests;
