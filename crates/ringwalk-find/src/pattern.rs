//! Shell patterns, compiled once for many names.
//!
//! Most patterns are a text with `*` before, behind or within, so a match is a comparison of bytes.
//! That is right for characters too, because in UTF-8 no character lies within another. [`Glob`]
//! matches all other patterns.

use memchr::memmem::Finder;
use ringwalk_gnu::glob::Glob;

/// A shell pattern as in `fnmatch(3)`, without flags or with `FNM_CASEFOLD`.
#[derive(Clone, Debug)]
pub struct Pattern {
    method: Method,
    fold_case: bool,
    prefix: Vec<u8>,
    /// Decides when bytes cannot. None if bytes always can.
    glob: Option<Glob>,
}

#[derive(Clone, Debug)]
enum Method {
    /// A text without special characters.
    Literal(Vec<u8>),
    /// `text*`.
    Prefix(Vec<u8>),
    /// `*text`, also `*` alone.
    Suffix(Vec<u8>),
    /// `text*text`.
    Both(Vec<u8>, Vec<u8>),
    /// `*text*`, where case counts.
    Within(Box<Finder<'static>>),
    /// `*text*`, where case does not.
    WithinFolded(Vec<u8>),
    /// Any other pattern.
    Glob,
}

impl Pattern {
    /// Compiles `pattern`. With `fold_case`, upper and lower case are the same. In UTF-8 (`utf8`),
    /// `?` and sets match whole characters.
    pub fn new(pattern: &[u8], fold_case: bool, utf8: bool) -> Self {
        let texts = texts(pattern);
        let method = match texts.as_deref() {
            // Characters that fold to ASCII are known, and handled below. Other folding is not.
            Some(texts) if fold_case && !texts.iter().all(|text| text.is_ascii()) => Method::Glob,
            Some([only]) => Method::Literal(only.clone()),
            Some([first, last]) => match (&first[..], &last[..]) {
                (_, []) if !first.is_empty() => Method::Prefix(first.clone()),
                ([], _) => Method::Suffix(last.clone()),
                _ => Method::Both(first.clone(), last.clone()),
            },
            Some([first, text, last]) if first.is_empty() && last.is_empty() => {
                if fold_case {
                    Method::WithinFolded(text.clone())
                } else {
                    Method::Within(Box::new(Finder::new(text).into_owned()))
                }
            }
            _ => Method::Glob,
        };
        let asks = matches!(method, Method::Glob) || (fold_case && utf8);
        Self {
            prefix: literal_prefix(pattern, fold_case),
            glob: asks.then(|| Glob::with_case(pattern, fold_case, utf8)),
            method,
            fold_case,
        }
    }

    /// Returns true if the whole of `text` matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let equal = |one: &[u8], other: &[u8]| {
            if self.fold_case {
                one.eq_ignore_ascii_case(other)
            } else {
                // Most texts differ in their last byte, and a comparison of it costs less than a
                // call.
                one.last() == other.last() && one == other
            }
        };
        let begins = |with: &[u8]| text.get(..with.len()).is_some_and(|part| equal(part, with));
        let ends = |with: &[u8]| {
            text.len()
                .checked_sub(with.len())
                .is_some_and(|start| equal(&text[start..], with))
        };
        let by_bytes = match &self.method {
            Method::Literal(whole) => equal(text, whole),
            Method::Prefix(first) => begins(first),
            Method::Suffix(last) => ends(last),
            Method::Both(first, last) => {
                text.len() >= first.len() + last.len() && begins(first) && ends(last)
            }
            Method::Within(finder) => finder.find(text).is_some(),
            Method::WithinFolded(part) => contains_folded(text, part),
            Method::Glob => false,
        };
        // Some characters that are not ASCII fold to ASCII, such as the Kelvin sign.
        let asks = || matches!(self.method, Method::Glob) || !text.is_ascii();
        by_bytes
            || self
                .glob
                .as_ref()
                .is_some_and(|glob| asks() && glob.matches(text))
    }

    /// Returns a prefix of every text that matches, byte for byte. It may be empty.
    pub fn literal_prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Returns the method of matching, for `-D tree`: `literal`, `prefix`, `suffix`, `prefix and
    /// suffix`, `substring`, or `pattern`.
    pub fn method(&self) -> &'static str {
        match self.method {
            Method::Literal(_) => "literal",
            Method::Prefix(_) => "prefix",
            Method::Suffix(_) => "suffix",
            Method::Both(..) => "prefix and suffix",
            Method::Within(_) | Method::WithinFolded(_) => "substring",
            Method::Glob => "pattern",
        }
    }
}

/// Returns true if `text` contains `part`, in upper or lower case.
fn contains_folded(text: &[u8], part: &[u8]) -> bool {
    let [first, rest @ ..] = part else {
        return true;
    };
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(|at| {
        text[at + 1..]
            .get(..rest.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(rest))
    })
}

/// Returns the texts between runs of `*`, without their escapes, if nothing else is special.
fn texts(pattern: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut texts = vec![Vec::new()];
    let mut in_run = false;
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        if byte == b'*' {
            if !in_run {
                texts.push(Vec::new());
            }
            in_run = true;
            continue;
        }
        in_run = false;
        let literal = match byte {
            // A set that does not end is a plain bracket; [`Glob`] handles that.
            b'?' | b'[' => return None,
            b'\\' => *bytes.next()?,
            byte => byte,
        };
        texts.last_mut()?.push(literal);
    }
    Some(texts)
}

fn literal_prefix(pattern: &[u8], fold_case: bool) -> Vec<u8> {
    let special = |byte: &u8| {
        b"*?[\\".contains(byte) || (fold_case && (byte.is_ascii_alphabetic() || !byte.is_ascii()))
    };
    let length = pattern.iter().position(special).unwrap_or(pattern.len());
    pattern[..length].to_vec()
}

#[cfg(test)]
mod tests {
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
}
