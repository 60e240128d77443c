use super::*;

fn matches(pattern: &str, text: &str) -> bool {
    Glob::new(pattern.as_bytes(), true).matches(text.as_bytes())
}

#[test]
fn runs_and_any() {
    assert!(matches("", ""));
    assert!(!matches("", "a"));
    assert!(matches("*", ""));
    assert!(matches("*", "a/b"));
    assert!(matches("a*c", "abbc"));
    assert!(!matches("a*c", "abcd"));
    assert!(matches("*a*b*", "xaxxbx"));
    assert!(!matches("*a*b*", "xbxxax"));
    assert!(matches("a?b", "a/b"));
    assert!(!matches("?", ""));
    assert!(matches("?", "é"));
    assert!(matches("*.o", "sub/.o"));
    // What takes exponential time when every run is tried anew.
    assert!(!matches(
        &"a*".repeat(40),
        &("a".repeat(39) + "b").repeat(3).replace('b', "c")[..39].replace('c', "b")
    ));
}

#[test]
fn escapes() {
    assert!(matches("\\*", "*"));
    assert!(!matches("\\*", "a"));
    assert!(matches("a\\bc", "abc"));
    assert!(!matches("*\\", "\\"));
}

#[test]
fn sets() {
    assert!(matches("[abc]", "b"));
    assert!(!matches("[abc]", "d"));
    assert!(matches("[!abc]", "d"));
    assert!(matches("[^abc]", "d"));
    assert!(matches("[]a]", "]"));
    assert!(matches("[!]a]", "b"));
    assert!(matches("[a-c]x", "bx"));
    assert!(!matches("[c-a]", "b"));
    assert!(matches("[a-]", "-"));
    assert!(matches("[[:digit:][:upper:]]", "7"));
    assert!(matches("[[:digit:][:upper:]]", "X"));
    assert!(!matches("[[:nothing:]]", "n"));
    assert!(matches("[[.-.]]", "-"));
    assert!(matches("[[=a=]b]", "a"));
    assert!(matches("[\\]]", "]"));
    assert!(matches("[ä-ö]", "é"));
    assert!(matches("[a", "[a"));
    assert!(!matches("[a", "a"));
}

#[test]
fn bytes_that_are_no_text() {
    let glob = Glob::new(b"?\xff", true);
    assert!(glob.matches(b"a\xff"));
    assert!(!glob.matches(b"\xff"));
    assert!(Glob::new(b"?", true).matches(b"\xff"));
    assert!(Glob::new("??".as_bytes(), false).matches("é".as_bytes()));
}

#[test]
fn case() {
    let folds = |pattern: &str, text: &str| {
        Glob::with_case(pattern.as_bytes(), true, true).matches(text.as_bytes())
    };
    assert!(folds("*.JPG", "x.jpg") && folds("*.jpg", "X.JPG"));
    assert!(folds("É", "é"));
    // The Kelvin sign is a k by its lower-case form; a long s is lower-case already.
    assert!(folds("k", "\u{212a}") && folds("\u{212a}", "k") && !folds("s", "\u{17f}"));
    assert!(folds("[A-C]", "b") && folds("[_-a]", "A") && !folds("[Z-a]", "_"));
    assert!(folds("[[:upper:]]", "A") && !folds("[[:upper:]]", "a"));
    for exact in ["[[.A.]]", "[[=A=]]", "[b[.A.]]"] {
        assert!(folds(exact, "A") && !folds(exact, "a"), "{exact}");
    }
    assert!(folds("[[.A.]-K]", "_") && folds("[A-[.c.]]", "B") && !folds("[a-[.C.]]", "B"));
    assert!(!Glob::with_case("É".as_bytes(), true, false).matches("é".as_bytes()));
}

#[test]
fn characters_then_bytes() {
    assert!(matches("??", "é"));
    assert!(!matches("???", "é"));
    assert!(!matches("[!é]?", "é"));
    assert!(Glob::new(b"*\xa9", true).matches("é".as_bytes()));
}

/// Patterns that are not well formed, as glibc has them.
#[test]
fn malformed_sets() {
    assert!(
        matches("[[:ALPHA:]", "[") && matches("[[:ALPHA:]", ":") && !matches("[[:ALPHA:]", "b")
    );
    assert!(matches("[a[:nothing:]]", "a") && !matches("[![:nothing:]]", "b"));
    assert!(!matches("[[:nothing:]", "[[:nothing:]"));
    assert!(!matches("[a[.", "a") && !matches("[a[.", "[a[."));
    assert!(matches("[[=]", "=") && !matches("[:[=]", ":"));
    assert!(matches("[*-[=a=]", "["));
}

mod oracle {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Characters, some of which fold to others, and bytes that are not characters.
    const UNITS: &[&[u8]] = &[
        b"a",
        b"A",
        b"b",
        b"B",
        b"k",
        b"K",
        b"z",
        b"Z",
        b".",
        b"/",
        b"_",
        b"1",
        b"\n",
        b":",
        b"=",
        b"-",
        b"\xc3\xa9",
        b"\xc3\x89",
        b"\xe2\x84\xaa",
        b"\xc4\xb0",
        b"\xc4\xb1",
        b"\xc5\xbf",
        b"\xc3",
        b"\xff",
        b"\xf4\x90\x80\x80",
    ];
    const OPERATORS: &[&[u8]] = &[
        b"*", b"*", b"*", b"?", b"?", b"]", b"!", b"^", b"\\*", b"\\a",
    ];
    const OPENINGS: &[&[u8]] = &[b"", b"]", b"!", b"^", b"!]", b"-"];
    const ITEMS: &[&[u8]] = &[
        b"[:alpha:]",
        b"[:upper:]",
        b"[:lower:]",
        b"[:punct:]",
        b"[:space:]",
        b"[:nothing:]",
        b"[=a=]",
        b"[=K=]",
        b"[.-.]",
        b"[.k.]",
        b"[.K.]",
        b"[.A.]-k",
        b"a-[.K.]",
        b"A-[.k.]",
        b"a-k",
        b"A-K",
        b"_-a",
        b"Z-a",
        b"\\]",
        b"*",
        b"?",
        b"!",
        b"\xc3\xa9-\xc5\xbf",
        b"a-\xc3\xa9",
    ];

    fn set() -> impl Strategy<Value = Vec<u8>> {
        // No dash by itself: what glibc takes for a range depends on whether it has matched
        // already.
        let unit = select(UNITS).prop_filter("a dash", |unit| *unit != b"-");
        let items = vec(prop_oneof![unit, select(ITEMS)], 1..4);
        let first = select(OPENINGS);
        (first, items).prop_map(|(first, items)| [b"[", first, &items.concat(), b"]"].concat())
    }

    fn pattern() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => select(UNITS).prop_map(<[u8]>::to_vec),
            2 => select(OPERATORS).prop_map(<[u8]>::to_vec),
            2 => set(),
        ];
        vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn matches_as_the_c_library_does(
            pattern in pattern(),
            text in vec(select(UNITS), 0..4).prop_map(|units| units.concat()),
            fold_case: bool,
            utf8: bool,
        ) {
            let expected = ringwalk_sys::fnmatch(
                &CString::new(pattern.clone()).expect("no zero byte"),
                &CString::new(text.clone()).expect("no zero byte"),
                fold_case,
                CharacterLocale::get(utf8),
            );
            let found = Glob::with_case(&pattern, fold_case, utf8).matches(&text);
            prop_assert_eq!(
                found, expected, "{} on {}", pattern.escape_ascii(), text.escape_ascii()
            );
        }
    }
}
