use super::*;

fn made_safe(name: &[u8], utf8: bool) -> Vec<u8> {
    let mut out = Vec::new();
    safe(name, utf8, &mut out);
    out
}

#[test]
fn bytes() {
    for byte in 1..=u8::MAX {
        let expected = if (32..127).contains(&byte) {
            byte
        } else {
            b'?'
        };
        assert_eq!(made_safe(&[byte, b'Z'], false), [expected, b'Z']);
        assert_eq!(made_safe(&[byte, b'Z'], true), [expected, b'Z']);
    }
}

/// Names, and how GNU find 4.9 wrote them on a terminal in C.UTF-8.
#[test]
fn utf8_seen() {
    let seen: &[(&[u8], &str)] = &[
        ("é€😀".as_bytes(), "é€😀"),
        (b"\xe2\x82a", "??a"),
        (b"x\xe2\x82", "x?"),
        (b"\xf0\x9f\x98", "?"),
        (b"\xf0\x9f\x98z", "???z"),
        (b"\xc3", "?"),
        (b"\xc3\xc3\xa9", "?é"),
        (b"\xed\xa0\x80", "???"),
        (b"\xf4\x90\x80\x80", "?"),
        (b"\xc0\xaf", "??"),
        (b"\xe0\x80\xaf", "???"),
        (b"\xe2\x82\xac\xe2", "€?"),
        (b"\xf8\x88\x80\x80\x80", "?"),
        (b"\xe2\x82\n\xe9", "????"),
        ("\u{80}\u{9f}\u{a0}\u{ad}".as_bytes(), "??\u{a0}\u{ad}"),
        (
            "\u{2028}\u{2029}\u{202e}\u{200b}".as_bytes(),
            "??\u{202e}\u{200b}",
        ),
        (
            "\u{378}\u{fdd0}\u{ffff}\u{e000}\u{10fffd}\u{10ffff}".as_bytes(),
            "???\u{e000}\u{10fffd}?",
        ),
    ];
    for (name, expected) in seen {
        let safe = String::from_utf8(made_safe(name, true)).unwrap();
        assert_eq!(&safe, expected, "{name:x?}");
    }
}

#[test]
fn terminals_without_a_name_are_dumb() {
    for (term, expected) in [
        ("", true),
        ("dumb", true),
        ("xterm", false),
        ("dumb-emacs", false),
    ] {
        assert_eq!(is_dumb(OsStr::new(term)), expected, "{term}");
    }
}
