//! Unit tests of `gnu_regex.rs`.

use super::*;

/// `RE_DOT_NEWLINE`, the only bit that GNU find's own syntax sets.
const FINDUTILS: u32 = 0x40;

fn regex(pattern: &[u8], utf8: bool) -> Result<GnuRegex, String> {
    GnuRegex::new(pattern, FINDUTILS, CharacterLocale::get(utf8))
}

#[test]
fn back_references() {
    let twice = regex(br"\(a*b\)/\1", false).expect("it is well formed");
    assert!(twice.matches_whole(b"aab/aab"));
    assert!(!twice.matches_whole(b"aab/ab"));
    assert!(!twice.matches_whole(b"aab/aabc"));
}

#[test]
fn characters_and_bytes() {
    assert!(regex(b".", true).is_ok_and(|one| one.matches_whole("é".as_bytes())));
    assert!(regex(b"..", false).is_ok_and(|two| two.matches_whole("é".as_bytes())));
    assert!(regex(b".", true).is_ok_and(|one| !one.matches_whole(b"\xff")));
}

#[test]
fn errors() {
    let words = regex(br"a\(", false).err();
    assert_eq!(words.as_deref(), Some(r"Unmatched ( or \("));
}

#[test]
fn many_threads() {
    let twice = regex(br"\(a*\)b\1", true).expect("it is well formed");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert!(twice.matches_whole(b"aaabaaa"));
                    assert!(!twice.matches_whole(b"aaabaa"));
                }
            });
        }
    });
}
