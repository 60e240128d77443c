//! Fields of CSV (RFC 4180).

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
