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
