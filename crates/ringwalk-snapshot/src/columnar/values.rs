//! Values of a page as bytes (`Encodings.md` of the Parquet format).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "lengths within a page, and columns of 32 bits"
)]

use super::bits::delta;
use super::{Cells, Encoding, Physical};

/// Appends all values of a page in an encoding without a dictionary.
pub(super) fn push_values(
    cells: &Cells,
    physical: Physical,
    encoding: Encoding,
    out: &mut Vec<u8>,
) {
    match encoding {
        Encoding::DeltaBinaryPacked => delta(&cells.numbers, out),
        Encoding::DeltaByteArray => push_rests(cells, out),
        _ => match physical {
            Physical::ByteArray => cells.texts().for_each(|text| push_text(text, out)),
            _ => push_numbers(&cells.numbers, physical, out),
        },
    }
}

/// Appends numbers as they are.
pub(super) fn push_numbers(numbers: &[i64], physical: Physical, out: &mut Vec<u8>) {
    match physical {
        Physical::Boolean => {
            for eight in numbers.chunks(8) {
                let bits = eight
                    .iter()
                    .rev()
                    .fold(0, |bits, one| bits << 1 | u8::from(*one != 0));
                out.push(bits);
            }
        }
        Physical::Int32 => {
            for number in numbers {
                out.extend_from_slice(&(*number as i32).to_le_bytes());
            }
        }
        _ => {
            for number in numbers {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }
}

/// Appends the length of a text, and the text.
pub(super) fn push_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

/// Appends how many bytes each text shares with the one before, and the rests.
fn push_rests(cells: &Cells, out: &mut Vec<u8>) {
    let (mut starts, mut lengths, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    let mut before: &[u8] = &[];
    for text in cells.texts() {
        let shared = shared(before, text);
        starts.push(shared as i64);
        lengths.push((text.len() - shared) as i64);
        rests.extend_from_slice(&text[shared..]);
        before = text;
    }
    delta(&starts, out);
    delta(&lengths, out);
    out.extend_from_slice(&rests);
}

/// Returns the number of bytes at the begin of both texts that are the same.
fn shared(a: &[u8], b: &[u8]) -> usize {
    // Whole words first: paths share most of their bytes.
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let same = 8 * words.take_while(|(a, b)| a == b).count();
    let rest = a[same..].iter().zip(&b[same..]);
    same + rest.take_while(|(a, b)| a == b).count()
}
