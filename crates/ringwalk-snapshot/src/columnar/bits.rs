//! Numbers packed into bits (`Encodings.md` of the Parquet format). `read/packed.rs` unpacks them.

#![expect(
    clippy::cast_possible_truncation,
    reason = "the low bits of a number are stored one after the other"
)]

/// Numbers that are packed together. A run of equal ones begins at a multiple of this.
const GROUP: usize = 8;
/// Differences with a common least difference.
const BLOCK: usize = 128;
/// Differences with a common number of bits.
const MINIBLOCK: usize = 32;

/// Returns the number of bits that a number has.
pub(super) fn width(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Appends a number of variable length.
pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Turns small numbers of both signs into small unsigned numbers.
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Appends the low bits of each number.
fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut filled) = (0_u128, 0);
    for number in numbers {
        bits |= u128::from(number) << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&(bits as u64).to_le_bytes());
            bits >>= u64::BITS;
            filled -= u64::BITS;
        }
    }
    let rest = (bits as u64).to_le_bytes();
    out.extend_from_slice(&rest[..filled.div_ceil(8) as usize]);
}

/// Appends numbers of at most `width` bits as runs of equal numbers and groups of packed ones.
pub(super) fn runs<T: Copy + Into<u64> + PartialEq>(numbers: &[T], width: u32, out: &mut Vec<u8>) {
    let (mut packed, mut at) = (0, 0);
    while at < numbers.len() {
        let first = numbers[at];
        let rest = numbers[at..].iter();
        let equal = rest.take_while(|number| **number == first).count();
        if equal < GROUP {
            at = numbers.len().min(at + GROUP);
            continue;
        }
        groups(&numbers[packed..at], width, out);
        varint((equal as u64) << 1, out);
        let bytes = first.into().to_le_bytes();
        out.extend_from_slice(&bytes[..width.div_ceil(8) as usize]);
        at += equal;
        packed = at;
    }
    groups(&numbers[packed..], width, out);
}

fn groups<T: Copy + Into<u64>>(numbers: &[T], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(GROUP);
    varint((groups as u64) << 1 | 1, out);
    let numbers = numbers.iter().map(|&number| number.into());
    // The last group is whole.
    let padded = numbers.chain(std::iter::repeat(0)).take(groups * GROUP);
    pack(padded, width, out);
}

/// Appends the first number and the differences, `DELTA_BINARY_PACKED`.
pub(super) fn delta(numbers: &[i64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint((BLOCK / MINIBLOCK) as u64, out);
    varint(numbers.len() as u64, out);
    varint(zigzag(numbers.first().copied().unwrap_or(0)), out);
    let mut differences = [0; BLOCK];
    for begin in (1..numbers.len()).step_by(BLOCK) {
        let end = numbers.len().min(begin + BLOCK);
        let pairs = numbers[begin - 1..end].windows(2);
        let differences = &mut differences[..end - begin];
        for (difference, pair) in differences.iter_mut().zip(pairs) {
            *difference = pair[1].wrapping_sub(pair[0]);
        }
        block(differences, out);
    }
}

fn block(differences: &[i64], out: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or(0);
    varint(zigzag(least), out);
    let above = |difference: &i64| difference.wrapping_sub(least).cast_unsigned();
    let widths = out.len();
    out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
    for (at, miniblock) in differences.chunks(MINIBLOCK).enumerate() {
        let width = width(miniblock.iter().map(above).fold(0, |all, one| all | one));
        out[widths + at] = width as u8;
        let numbers = miniblock.iter().map(above);
        let padded = numbers.chain(std::iter::repeat(0)).take(MINIBLOCK);
        pack(padded, width, out);
    }
}
