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

#[test]
fn sizes_are_rounded_up_and_have_five_columns() {
    let cases = [
        (0, "0", "0"),
        (999, "999", "999"),
        (1023, "1023", "1.1k"),
        (1024, "1.0K", "1.1k"),
        (1025, "1.1K", "1.1k"),
        (10_240, "10K", "11k"),
        (102_348, "100K", "103k"),
        (1_047_553, "1.0M", "1.1M"),
        (5 << 40, "5.0T", "5.5T"),
        (u64::MAX, "16E", "19E"),
    ];
    for (bytes, human, si) in cases {
        assert_eq!(SizeFormat::Human.size(bytes), human);
        assert_eq!(SizeFormat::Si.size(bytes), si);
        assert_eq!(SizeFormat::Bytes.size(bytes), bytes.to_string());
    }
}

#[test]
fn growth_has_a_sign() {
    let growth = [2048, -2048, 0, i64::MIN].map(|growth| SizeFormat::Human.growth(growth));
    assert_eq!(growth, ["+2.0K", "-2.0K", "0", "-8.0E"]);
}
