//! Bytes as text: escaped where they are not UTF-8, as hexadecimal digits, as fields of CSV.

/// Appends text in which bytes that are not UTF-8 are written as `\xHH`, as in the column `path`.
pub(crate) fn escape_into(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str("\\x");
            out.extend(digits(*byte).map(char::from));
        }
    }
}

/// Returns text in which bytes that are not UTF-8 are written as `\xHH`.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    escape_into(bytes, &mut text);
    text
}

/// Appends two hexadecimal digits for each byte.
pub(crate) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes.iter().flat_map(|byte| digits(*byte)));
}

/// Returns two hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| digits(*byte));
    digits.map(char::from).collect()
}

/// Returns the bytes of pairs of hexadecimal digits, or `None` if the text is something else.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// Appends a field of CSV (RFC 4180), in quotes if it needs them. So an empty text differs from an
/// empty field, which stands for null.
pub fn push_csv(text: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let at_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    if !text.iter().any(special) && !at_end(text.first()) && !at_end(text.last()) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)])
}

#[cfg(test)]
mod tests;
