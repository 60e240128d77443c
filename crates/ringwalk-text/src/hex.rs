//! Hexadecimal digits.

/// Appends two lower-case hexadecimal digits for each byte.
pub fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes.iter().flat_map(|byte| digits(*byte)));
}

/// Returns two lower-case hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| digits(*byte));
    digits.map(char::from).collect()
}

/// Returns the hexadecimal digits of bytes that are not UTF-8, and `None` for text.
pub fn hex_unless_text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| hex(bytes))
}

/// Returns the bytes of pairs of hexadecimal digits of either case, or `None` if there is anything
/// else.
pub fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    text.chunks(2).map(pair).collect()
}

pub(crate) fn digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)])
}
