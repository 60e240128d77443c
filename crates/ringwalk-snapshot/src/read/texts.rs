//! The texts of one page, decoded from its bytes.

#![allow(
    clippy::cast_possible_truncation,
    reason = "lengths of texts within a page"
)]

use super::chunk::Cells;
use super::decode::{Dictionary, PageBytes, Scratch, indices};
use super::packed::{Run, delta_binary, take};
use crate::columnar::Encoding;
use crate::schema::MOST_TEXT;

/// Notes the end of a value of text. A damaged page can repeat "as before" so often that its text
/// would fill the memory: returns `None` if the text is longer than the text of a page can be.
#[inline]
pub(super) fn end_text(data: &[u8], ends: &mut Vec<u32>) -> Option<()> {
    const { assert!(MOST_TEXT < u32::MAX as usize) }
    (data.len() <= MOST_TEXT).then_some(())?;
    ends.push(data.len() as u32);
    Some(())
}

/// Decodes values of text or bytes.
pub(super) fn texts(
    page: PageBytes<'_>,
    mut bytes: &[u8],
    values: usize,
    dictionary: Option<&Dictionary>,
    scratch: &mut Scratch,
    cells: &mut Cells,
) -> Option<()> {
    match page.encoding {
        Encoding::DeltaByteArray => delta_texts(bytes, values, scratch, cells)?,
        Encoding::RleDictionary | Encoding::PlainDictionary => {
            let known = dictionary?;
            let mut add = |index: u64| {
                let text = known.text(usize::try_from(index).ok()?)?;
                cells.data.extend_from_slice(text);
                end_text(&cells.data, &mut cells.ends)
            };
            indices(bytes, values, |run| match run {
                Run::Same(index, times) => (0..times).try_for_each(|_| add(index)),
                Run::Packed(indices) => indices.iter().try_for_each(|index| add(*index)),
            })?;
        }
        Encoding::Plain => {
            for _ in 0..values {
                let length = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
                cells
                    .data
                    .extend_from_slice(take(&mut bytes, length as usize)?);
                end_text(&cells.data, &mut cells.ends)?;
            }
            bytes.is_empty().then_some(())?;
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

/// Decodes texts. Each is stored as the number of bytes that it shares with the text before it, and
/// the rest.
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
/// text, so it copies no bytes.
///
/// Returns `None` for a page with nulls, or that is stored in another way than as shared beginnings
/// and rests.
pub(super) fn equal_texts(
    page: PageBytes<'_>,
    wanted: &[u8],
    scratch: &mut Scratch,
    mut each: impl FnMut(usize),
) -> Option<()> {
    if page.encoding != Encoding::DeltaByteArray || !page.is_required {
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
/// `None` if a text shares more bytes than the text before it has, or if all texts together are
/// longer than the text of a page can be.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_would_fill_the_memory_is_refused() {
        // Memory of zeros is not taken before it is written.
        let data = vec![0; MOST_TEXT + 1];
        let mut ends = Vec::new();
        assert_eq!(end_text(&data[..MOST_TEXT], &mut ends), Some(()));
        assert_eq!(end_text(&data, &mut ends), None);
        assert_eq!(ends, [u32::try_from(MOST_TEXT).unwrap()]);
    }
}
