//! Text made safe for a terminal, as in GNU find's output of names.
//!
//! `ringwalk::shown` makes text in messages safe, and loses nothing of it.

use crate::locale::utf8;
use std::ffi::OsStr;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Returns true if the terminal knows no escape sequences, so that nothing may write colours or
/// move the cursor: `TERM` is `dumb`, empty, or not set, as for GNU grep.
pub fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_none_or(|term| is_dumb(&term))
}

fn is_dumb(term: &OsStr) -> bool {
    term.is_empty() || term == "dumb"
}

/// Appends `name` with a `?` for each character that a terminal does not show or may obey: control
/// characters, line and paragraph separators, and unassigned ones. A `?` also stands for each byte
/// that is no text in the locale, and for a character that the end of the name cuts off. In a
/// locale other than UTF-8, no byte from 128 on is text.
pub fn terminal_safe(name: &[u8], out: &mut Vec<u8>) {
    safe(name, utf8(), out);
}

fn safe(name: &[u8], utf8: bool, out: &mut Vec<u8>) {
    let mut rest = name;
    while !rest.is_empty() {
        let plain = rest.iter().take_while(|byte| matches!(byte, b' '..=b'~'));
        let (head, tail) = rest.split_at(plain.count());
        out.extend_from_slice(head);
        rest = tail;
        if rest.is_empty() {
            break;
        }
        let length = if utf8 { sequence(rest) } else { 1 };
        let (character, tail) = rest.split_at(length);
        if shown(character) {
            out.extend_from_slice(character);
        } else {
            out.push(b'?');
        }
        rest = tail;
    }
}

/// Returns true if `bytes` are one character that a terminal shows.
fn shown(bytes: &[u8]) -> bool {
    let Some(character) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|s| s.chars().next())
    else {
        return false;
    };
    !matches!(
        character.general_category(),
        GeneralCategory::Control
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Surrogate
            | GeneralCategory::Unassigned
    )
}

/// Returns the number of bytes that the C library reads as the first character of `text`, or 1 if
/// the first bytes are not a character. The C library accepts sequences of up to six bytes.
/// Characters beyond U+10FFFF are never shown.
fn sequence(text: &[u8]) -> usize {
    let (length, least) = match text[0] {
        0xc2..=0xdf => (2, 0x80),
        0xe0 => (3, 0xa0),
        0xe1..=0xef => (3, 0x80),
        0xf0 => (4, 0x90),
        0xf1..=0xf7 => (4, 0x80),
        0xf8 => (5, 0x88),
        0xf9..=0xfb => (5, 0x80),
        0xfc => (6, 0x84),
        0xfd => (6, 0x80),
        _ => return 1,
    };
    let there = &text[1..length.min(text.len())];
    let goes_on = there.iter().enumerate().all(|(at, byte)| {
        let least = if at == 0 { least } else { 0x80 };
        (least..=0xbf).contains(byte)
    });
    let surrogate = text[0] == 0xed && there.first().is_some_and(|byte| *byte >= 0xa0);
    if goes_on && !surrogate {
        there.len() + 1
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
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
}
