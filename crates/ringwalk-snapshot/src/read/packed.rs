//! Numbers that are packed into bits (`Encodings.md` of the Parquet format).
//!
//! These functions return `None` for bytes that are anything else.

#![allow(
    clippy::cast_possible_truncation,
    reason = "bits of a number, and sizes within a page"
)]

/// The most values of a miniblock, so that a damaged header does not take memory.
const MOST_IN_BLOCK: u64 = 1 << 16;

/// Some numbers of a sequence.
#[derive(Clone, Copy)]
pub(super) enum Run<'r> {
    /// A number, and how often it is repeated: at least once.
    Same(u64, usize),
    /// At least one number.
    Packed(&'r [u64]),
}

/// Decodes runs of equal numbers, and groups of numbers with `width` bits each.
pub(super) fn runs(
    mut bytes: &[u8],
    width: u32,
    count: usize,
    mut each: impl FnMut(Run<'_>) -> Option<()>,
) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut left = count;
    let mut block = [0; BLOCK];
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
            each(Run::Same(u64::from_le_bytes(value), times))?;
            left -= times;
        } else {
            let groups = usize::try_from(header >> 1).ok()?;
            // The last group may be cut off where its values are not needed.
            let length = groups.checked_mul(width as usize)?.min(bytes.len());
            let mut packed = take(&mut bytes, length)?;
            let mut here = groups.checked_mul(8)?.min(left);
            if here == 0 || here * width as usize > length * 8 {
                return None;
            }
            left -= here;
            while here > 0 {
                let now = unpack(&mut packed, width, here, &mut block);
                each(Run::Packed(now))?;
                here -= now.len();
            }
        }
    }
    Some(())
}

/// Decodes numbers that are stored as packed differences, `DELTA_BINARY_PACKED`.
pub(super) fn delta_binary(bytes: &mut &[u8], most: usize, out: &mut Vec<i64>) -> Option<()> {
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
    let mut block = [0; BLOCK];
    while left > 0 {
        let least = unzigzag(varint(bytes)?);
        let widths = take(bytes, miniblocks as usize)?;
        for width in widths {
            let mut here = left.min(each);
            if here == 0 {
                break;
            }
            left -= here;
            let width = u32::from(*width);
            if width > 64 {
                return None;
            }
            if (width, least) == (0, 0) {
                out.resize(out.len() + here, value);
                continue;
            }
            let mut packed = take(bytes, each / 8 * width as usize)?;
            while here > 0 {
                let differences = unpack(&mut packed, width, here, &mut block);
                out.extend(differences.iter().map(|difference| {
                    let step = least.wrapping_add(difference.cast_signed());
                    value = value.wrapping_add(step);
                    value
                }));
                here -= differences.len();
            }
        }
    }
    Some(())
}

/// Numbers that are unpacked at a time. Their bytes end at a whole byte for each width.
const BLOCK: usize = 32;

/// Takes up to `BLOCK` numbers of `width` bits each, at most 64, from `packed`. Returns at least
/// one if `most` is not 0. Bits that are missing are 0.
fn unpack<'o>(packed: &mut &[u8], width: u32, most: usize, out: &'o mut [u64; BLOCK]) -> &'o [u64] {
    // So all bits of a number can be read as one word, and the last one does not end the bytes.
    const WORD: usize = 8;
    const BYTES: usize = BLOCK * 64 / 8;
    let width = width as usize;
    let mut bytes = [0; BYTES + 2 * WORD];
    let length = (BLOCK * width / 8).min(packed.len()).min(BYTES);
    let (taken, rest) = packed.split_at(length);
    bytes[..length].copy_from_slice(taken);
    *packed = rest;
    let mask = 1_u64.unbounded_shl(width as u32).wrapping_sub(1);
    let word = |at: usize| bytes[at..].first_chunk().copied().unwrap_or_default();
    for (at, number) in out.iter_mut().enumerate() {
        // The remainder is what the compiler needs to see that the word is there.
        let (byte, shift) = (at * width / 8 % BYTES, (at * width % 8) as u32);
        let mut bits = u64::from_le_bytes(word(byte)) >> shift;
        if width > 56 {
            bits |= u64::from_le_bytes(word(byte + WORD)).unbounded_shl(64 - shift);
        }
        *number = bits & mask;
    }
    &out[..most.min(BLOCK)]
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packs numbers with `width` bits each, bit by bit from the lowest one.
    fn pack(numbers: &[u64], width: u32) -> Vec<u8> {
        let bits = numbers
            .iter()
            .flat_map(|number| (0..width).map(move |bit| number >> bit & 1));
        let bits: Vec<_> = bits.collect();
        bits.chunks(8)
            .map(|byte| {
                (0_u8..)
                    .zip(byte)
                    .fold(0, |sum, (at, bit)| sum | u8::from(*bit > 0) << at)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn numbers_of_every_width_are_unpacked(
            numbers in prop::collection::vec(any::<u64>(), 1..200),
            width in 0_u32..=64,
        ) {
            let mask = 1_u64.unbounded_shl(width).wrapping_sub(1);
            let numbers: Vec<_> = numbers.iter().map(|number| number & mask).collect();
            let bytes = pack(&numbers, width);
            let (mut packed, mut found, mut block) = (&bytes[..], Vec::new(), [0; BLOCK]);
            while found.len() < numbers.len() {
                let most = numbers.len() - found.len();
                found.extend_from_slice(unpack(&mut packed, width, most, &mut block));
            }
            prop_assert_eq!(found, numbers);
            prop_assert!(packed.is_empty());
        }
    }

    #[test]
    fn runs_of_both_kinds_follow_each_other() {
        // A run of three sevens, and two groups of eight numbers of three bits of which nine count.
        let groups = pack(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7], 3);
        let bytes = [&[3 << 1, 7, 2 << 1 | 1][..], &groups].concat();
        let mut found = Vec::new();
        let each = |run: Run<'_>| {
            match run {
                Run::Same(number, times) => found.extend(std::iter::repeat_n(number, times)),
                Run::Packed(numbers) => found.extend_from_slice(numbers),
            }
            Some(())
        };
        assert_eq!(runs(&bytes, 3, 12, each), Some(()));
        assert_eq!(found, [7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0]);
        assert_eq!(runs(&bytes[..4], 3, 12, |_| Some(())), None);
    }
}
