use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use ringwalk_sys::{CharacterLocale, fnmatch};
use std::ffi::CString;

#[test]
fn methods() {
    let method = |pattern: &str, fold| Pattern::new(pattern.as_bytes(), fold, true).method();
    assert_eq!(method("Makefile", false), "literal");
    assert_eq!(method("a\\*b", true), "literal");
    assert_eq!(method("Makefile*", true), "prefix");
    assert_eq!(method("*.c", true), "suffix");
    assert_eq!(method("**", false), "suffix");
    assert_eq!(method("k*.c", false), "prefix and suffix");
    assert_eq!(method("*/.git/*", false), "substring");
    assert_eq!(method("*git*", true), "substring");
    assert_eq!(method("*.[ch]", false), "pattern");
    assert_eq!(method("*É", true), "pattern");
    assert_eq!(method("a\\", false), "pattern");
}

#[test]
fn prefixes() {
    let prefix = |pattern: &str, fold| {
        Pattern::new(pattern.as_bytes(), fold, true)
            .literal_prefix()
            .to_vec()
    };
    assert_eq!(prefix("./src/*.c", false), b"./src/");
    assert_eq!(prefix("./src/*.c", true), b"./");
    assert_eq!(prefix("*.c", false), b"");
}

const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"B",
    b"k",
    b"K",
    b".",
    b"/",
    b"s",
    b"i",
    b"*",
    b"*",
    b"*",
    b"?",
    b"[ab]",
    b"[!k]",
    b"\\*",
    b"\\a",
    b"\xc3\xa9",
    b"\xc3\x89",
    b"\xe2\x84\xaa",
    b"\xc4\xb0",
    b"\xc5\xbf",
    b"\xa9",
    b"\xff",
];

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn matches_as_the_c_library_does(
        pattern in bytes(5), text in bytes(5), fold_case: bool, utf8: bool,
    ) {
        let expected = fnmatch(
            &CString::new(pattern.clone()).expect("no zero byte"),
            &CString::new(text.clone()).expect("no zero byte"),
            fold_case,
            CharacterLocale::get(utf8),
        );
        let ours = Pattern::new(&pattern, fold_case, utf8);
        prop_assert_eq!(
            ours.matches(&text), expected,
            "{} on {}", pattern.escape_ascii(), text.escape_ascii()
        );
        prop_assert!(!expected || text.starts_with(ours.literal_prefix()));
    }
}
