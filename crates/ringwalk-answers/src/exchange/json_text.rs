//! Strings and numbers of JSON, written.

use ringwalk_text::push_hex;

/// Appends `bytes` as the contents of a JSON string, without its quotes. Bytes that are no UTF-8
/// stay as they are, as ncdu writes them.
pub(crate) fn push_string(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| needs_escape(byte)) {
        out.extend_from_slice(&rest[..at]);
        push_escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)
}

fn push_escape(byte: u8, out: &mut Vec<u8>) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            return push_hex(&[byte], out);
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Appends a signed number in decimal digits.
pub(crate) fn push_signed(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    push_number(number.unsigned_abs(), out);
}

/// Appends a number in decimal digits.
pub(crate) fn push_number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_string(bytes, &mut out);
        out
    }

    #[test]
    fn control_characters_quotes_and_backslashes_are_escaped() {
        let expected = br#"a\"\\\b\f\n\r\t\u0001\u001f\u007f"#;
        assert_eq!(string(b"a\"\\\x08\x0c\n\r\t\x01\x1f\x7f"), expected);
    }

    #[test]
    fn other_bytes_stay() {
        let bytes = "/é😀\u{85}".as_bytes();
        assert_eq!(string(bytes), bytes);
        assert_eq!(string(b"\xff\xed\xa0\x80"), b"\xff\xed\xa0\x80");
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for number in [0, 7, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            push_number(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
