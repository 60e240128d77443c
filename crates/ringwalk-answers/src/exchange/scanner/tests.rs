use super::*;

/// Gives one byte at a time, so that each token crosses the end of the buffer.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        (buffer[0], self.0) = (*first, rest);
        Ok(1)
    }
}

fn scanner(text: &[u8]) -> Scanner<Drops<'_>, String> {
    Scanner::new(Drops(text))
}

fn string(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let mut out = Vec::new();
    match scanner(text).string(&mut out, 100) {
        Ok(()) => Ok(out),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn strings_keep_any_bytes() {
    assert_eq!(string(b"\"a\xff\xc3b\x7f\"").unwrap(), b"a\xff\xc3b\x7f");
    assert_eq!(string(b" \n\t\"\"").unwrap(), b"");
}

#[test]
fn escapes_become_utf8() {
    let text = br#""\"\\\/\b\f\n\r\t\u0001\u00e9\u20AC\ud83d\ude00""#;
    let expected = "\"\\/\x08\x0c\n\r\t\x01é€😀";
    assert_eq!(string(text).unwrap(), expected.as_bytes());
}

#[test]
fn half_a_surrogate_pair_is_refused_with_its_place() {
    for text in [
        r#""\ud83d""#,
        r#""\ud83dx""#,
        r#""\ud83d\n""#,
        r#""\ud83d\u0041""#,
        r#""\udc80""#,
    ] {
        let error = string(text.as_bytes()).unwrap_err();
        assert!(
            error.starts_with("line 1, column 2 (byte 1): half"),
            "{error}"
        );
    }
}

#[test]
fn strings_that_are_wrong_are_refused() {
    for (text, expected) in [
        (
            &b"\"a\nb\""[..],
            "line 1, column 3 (byte 2): a string has a control character",
        ),
        (b"\"abc", "(byte 4): the file ends too early"),
        (b"\"\\", "ends too early"),
        (b"\"\\u12", "ends too early"),
        (b"\"\\x\"", "column 2 (byte 1): unknown escape"),
        (
            b"\"\\u12g4\"",
            "column 6 (byte 5): expected a hexadecimal digit",
        ),
        (b"1", "expected a string"),
    ] {
        let error = string(text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let error = string(&[b"\"", [b'a'; 101].as_slice(), b"\""].concat()).unwrap_err();
    assert!(error.contains("more than 100 bytes"), "{error}");
}

#[test]
fn numbers_are_whole_and_limited() {
    let number = |text: &str, max| {
        let read = scanner(text.as_bytes()).number(max);
        read.map_err(|error| error.to_string())
    };
    assert_eq!(number("0", 0), Ok(0));
    assert_eq!(number(" 18446744073709551615,", u64::MAX), Ok(u64::MAX));
    for (text, expected) in [
        ("18446744073709551616", "larger than 18446744073709551615"),
        ("-1", "not negative"),
        ("1.5", "whole number"),
        ("1e3", "whole number"),
        ("07", "begins with 0"),
        ("\"1\"", "expected a whole number"),
        ("", "too early"),
    ] {
        let error = number(text, u64::MAX).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    assert!(number("256", 255).unwrap_err().contains("larger than 255"));
}

#[test]
fn times_have_fractions_and_may_be_before_1970() {
    let time = |text: &str| scanner(text.as_bytes()).time().ok();
    assert_eq!(time("12"), Some((12, 0)));
    assert_eq!(time("12.5"), Some((12, 500_000_000)));
    assert_eq!(time("12.1234567899"), Some((12, 123_456_789)));
    assert_eq!(time("18446744073709551615.25"), Some((-1, 250_000_000)));
    assert_eq!(time("-157766400"), Some((-157_766_400, 0)));
    assert_eq!(time("-1.25"), Some((-2, 750_000_000)));
    assert_eq!(time("-0"), Some((0, 0)));
    assert_eq!(time("-9223372036854775808"), Some((i64::MIN, 0)));
    for wrong in ["12.", "12e3", "- 1", "-", "-9223372036854775809", "x"] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
}

#[test]
fn a_skipped_value_may_be_anything() {
    for value in [
        "null",
        "true",
        "false",
        "-1.5e+3",
        "\"a\\\"b\"",
        "[]",
        "{}",
        "[[],{}]",
        "{\"a\":[1,{\"b\":null}],\"c\":\"\\ud800\\udc00\"}",
        "[ 1 , 2 ]",
    ] {
        let text = format!("{value} ,");
        let mut scanner = scanner(text.as_bytes());
        scanner
            .skip()
            .unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(scanner.one_of(b",", "','").unwrap(), b',');
    }
    for wrong in [
        "[1,]",
        "{,}",
        "{\"a\"}",
        "{1:2}",
        "[1 2]",
        "nul",
        "[}",
        "{\"a\":1]",
        "[",
        "",
    ] {
        assert!(scanner(wrong.as_bytes()).skip().is_err(), "{wrong}");
    }
}

#[test]
fn deep_values_are_refused_without_recursion() {
    let error = scanner("[".repeat(1_000_000).as_bytes())
        .skip()
        .unwrap_err();
    assert!(
        error.to_string().contains("more than 1000 levels"),
        "{error}"
    );
}

#[test]
fn places_count_lines() {
    let mut scanner = scanner(b"1\n\n  2");
    scanner.number(9).unwrap();
    scanner.token().unwrap();
    assert_eq!(scanner.place().to_string(), "line 3, column 3 (byte 5)");
}
