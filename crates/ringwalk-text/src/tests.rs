use super::*;

#[test]
fn bytes_that_are_not_utf_8_are_escaped() {
    assert_eq!(escaped("a\u{e9}\n".as_bytes()), "a\u{e9}\n");
    assert_eq!(escaped(b"a\xff\xc3b\xe2\x82"), "a\\xff\\xc3b\\xe2\\x82");
}

#[test]
fn hexadecimal_digits_come_back_as_their_bytes() {
    let all: Vec<u8> = (0..=255).collect();
    let text = hex(&all);
    assert!(text.starts_with("000102") && text.ends_with("fdfeff"));
    assert_eq!(from_hex(text.as_bytes()), Some(all.clone()));
    assert_eq!(from_hex(text.to_uppercase().as_bytes()), Some(all));
    let mut out = b"x".to_vec();
    push_hex(b"\x0a\xb0", &mut out);
    assert_eq!(out, b"x0ab0");
    assert_eq!(hex_unless_text("\u{e9}".as_bytes()), None);
    assert_eq!(hex_unless_text(b"a\xff").as_deref(), Some("61ff"));
}

#[test]
fn anything_but_pairs_of_digits_is_refused() {
    for text in ["0", "abc", "0g", "+1", "-1", " 1", "\u{e9}"] {
        assert_eq!(from_hex(text.as_bytes()), None, "{text}");
    }
    assert_eq!(from_hex(b""), Some(Vec::new()));
}

#[test]
fn fields_of_csv_stand_in_quotes_where_they_need_them() {
    let field = |text: &[u8]| {
        let mut out = b",".to_vec();
        push_csv(text, &mut out);
        out
    };
    assert_eq!(field(b"a b\xff"), b",a b\xff");
    assert_eq!(field(b"a,\"b\""), b",\"a,\"\"b\"\"\"");
    assert_eq!(field(b"a\nb"), b",\"a\nb\"");
    assert_eq!(field(b" a"), b",\" a\"");
    assert_eq!(field(b""), b",\"\"");
}
