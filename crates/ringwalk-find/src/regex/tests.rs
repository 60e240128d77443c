use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn regex(pattern: &str, syntax: &str, fold_case: bool) -> Regex {
    let syntax = Syntax::named(syntax.as_bytes()).expect("it is a syntax");
    Regex::new(pattern.as_bytes(), syntax, fold_case, true).expect("it is well formed")
}

#[test]
fn whole_paths() {
    let headers = regex(r".*/k[a-z]*\.h", "findutils-default", true);
    assert!(headers.matches(b"./include/Kernel.H"));
    assert!(!headers.matches(b"./include/kernel.hh"));
    assert!(headers.matches("./é/k.h".as_bytes()));
    assert!(
        !headers.matches(b"./\xff/k.h"),
        "what is no character is not taken by a dot"
    );
    assert!(regex("a|b", "posix-extended", false).matches(b"b"));
    assert!(regex("a|b", "posix-basic", false).matches(b"a|b"));
    assert!(regex("a\nb", "grep", false).matches(b"b"));
    assert!(regex("a.b", "findutils-default", false).matches(b"a\nb"));
    assert!(!regex("a.b", "emacs", false).matches(b"a\nb"));
}

#[test]
fn what_it_is_matched_by() {
    assert_eq!(regex(".*/x/.*", "egrep", false).method(), "substring");
    assert_eq!(regex(r".*\.c", "egrep", false).method(), "automaton");
    assert_eq!(regex(r"(a)\1", "egrep", false).method(), "regex.h");
    assert!(regex(r"(a*)b\1", "egrep", false).matches(b"aabaa"));
}

#[test]
fn shy_groups() {
    for syntax in Syntax::names() {
        let pattern = match syntax {
            "posix-extended" | "posix-awk" => continue, // An error there.
            _ => r".*/\(?:f+o?o?\|bar\)",
        };
        let shy = ["emacs", "findutils-default"].contains(&syntax);
        assert_eq!(
            regex(pattern, syntax, false).matches(b"./foo"),
            shy,
            "{syntax}"
        );
    }
    let again = regex(r"\(?:a\|b\)\(c\|d\)\1", "emacs", false);
    assert!(again.matches(b"acc") && again.matches(b"bdd"));
    assert!(!again.matches(b"aca") && !again.matches(b"acd"));
    let word = regex(r"a\(?:x\)+\.c", "findutils-default", true);
    assert_eq!(word.method(), "automaton");
    assert!(word.matches(b"aXx.C") && !word.matches(b"a?:x.c"));
    let error = Regex::new(br"\(?:a\)\1", Syntax::Emacs, false, true).unwrap_err();
    assert_eq!(error, "Invalid back reference");
    assert_eq!(
        Regex::new(br"\(?:a", Syntax::Emacs, false, true).unwrap_err(),
        r"Unmatched ( or \("
    );
}

#[test]
fn prefixes() {
    let prefix = |pattern, fold| {
        regex(pattern, "posix-extended", fold)
            .literal_prefix()
            .to_vec()
    };
    assert_eq!(prefix(r"\./src/é+/.*", false), "./src/é".as_bytes());
    assert_eq!(prefix(r"^\./src/.*", true), b"./");
    assert_eq!(prefix("ab*", false), b"a");
    assert_eq!(prefix("a|ab", false), b"");
}

#[test]
fn errors_are_the_c_librarys() {
    let error = |pattern: &[u8], syntax| Regex::new(pattern, syntax, false, true).err();
    assert_eq!(
        error(br"a\(", Syntax::default()).as_deref(),
        Some(r"Unmatched ( or \(")
    );
    assert_eq!(
        error(b"[b-a]", Syntax::PosixExtended).as_deref(),
        Some("Invalid range end")
    );
    assert_eq!(error(b"[b-a]", Syntax::Emacs), None);
    assert_eq!(
        error(b"*", Syntax::PosixExtended).as_deref(),
        Some("Invalid preceding regular expression")
    );
}

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
    #![proptest_config(ProptestConfig::with_cases(5_000))]

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
