//! Text in which bytes that are not UTF-8 are written as `\xHH`.

use crate::hex::digits;

/// Appends text in which bytes that are not UTF-8 are written as `\xHH`.
pub fn push_escaped(bytes: &[u8], out: &mut String) {
    // The check of a whole name is faster than a search for its parts.
    if let Ok(text) = std::str::from_utf8(bytes) {
        out.push_str(text);
        return;
    }
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
    push_escaped(bytes, &mut text);
    text
}
