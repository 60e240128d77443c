use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"K",
    b"s",
    b"_",
    b".",
    b"/",
    b"\n",
    b" ",
    b"1",
    b"*",
    b"*",
    b"+",
    b"?",
    b"|",
    b"(",
    b")",
    b"{",
    b"}",
    b",",
    b"^",
    b"$",
    b"[",
    b"]",
    b"-",
    b"\\",
    b"\\(",
    b"\\)",
    b"\\|",
    b"\\{",
    b"\\}",
    b"\\+",
    b"\\?",
    b"\\w",
    b"\\W",
    b"\\s",
    b"\\S",
    b"\\b",
    b"\\B",
    b"\\<",
    b"\\>",
    b"\\`",
    b"\\'",
    b"\\1",
    b".*",
    b".*",
    b"{2}",
    b"{1,2}",
    b"{,1}",
    b"\\{2\\}",
    b"\\{0,\\}",
    b"{0}",
    b"[[:alpha:]]",
    b"[^[:upper:]]",
    b"[a-k]",
    b"[^a]",
    b"[]a]",
    b"[^]a]",
    b"[a-]",
    b"[\\b]",
    b"[[.a.]]",
    b"[[=b=]]",
    b"[[:",
    b"[z-a]",
    b"\xc3\xa9",
    b"[^\xc3\xa9]",
    b"\xff",
];
const UNITS: &[&[u8]] = &[
    b"a",
    b"a",
    b"b",
    b"B",
    b"k",
    b"K",
    b"S",
    b"s",
    b"_",
    b".",
    b"/",
    b"\n",
    b" ",
    b"1",
    b"*",
    b"+",
    b"{",
    b"}",
    b"^",
    b"$",
    b"|",
    b"(",
    b")",
    b"-",
    b"]",
    b"\\",
    b"?",
    b",",
    b"w",
    b"\xc3\xa9",
    b"\xc3\x89",
    b"\xff",
    b"\xc5\xbf",
    b"\xe2\x84\xaa",
];

fn syntax() -> impl Strategy<Value = Syntax> {
    let all: Vec<Syntax> = Syntax::names()
        .filter_map(|name| Syntax::named(name.as_bytes()))
        .collect();
    select(all)
}

fn bytes(pieces: &'static [&'static [u8]], most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(select(pieces), 0..most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn matches_as_the_c_library_does(
        pattern in bytes(PIECES, 7),
        path in bytes(UNITS, 5),
        syntax in syntax(),
        fold_case: bool,
        utf8: bool,
    ) {
        let gnu = GnuRegex::new(&pattern, syntax.bits(fold_case), CharacterLocale::get(utf8));
        let ours = Regex::new(&pattern, syntax, fold_case, utf8);
        match (gnu, ours) {
            (Ok(gnu), Ok(ours)) => {
                let expected = gnu.matches_whole(&path);
                prop_assert_eq!(
                    ours.matches(&path), expected,
                    "{} on {}", pattern.escape_ascii(), path.escape_ascii()
                );
                prop_assert!(!expected || path.starts_with(ours.literal_prefix()));
            }
            (gnu, ours) => prop_assert_eq!(gnu.err(), ours.err()),
        }
    }
}
