//! Regular expressions in the syntaxes of `-regextype`, each matched against a whole path.
//!
//! | file | what is in it |
//! |---|---|
//! | `syntax.rs` | the syntaxes, as glibc's bits |
//! | `shy.rs` | Emacs's groups without a number |
//! | `parse.rs`, `brackets.rs` | from text to what it means |
//! | `tree.rs` | what it means |
//! | `automaton.rs` | what matches most paths |
//!
//! GNU find matches with the C library, and what the C library says is right here too: whether an
//! expression is well formed, and in which words it is not, is asked of glibc itself, once shy
//! groups are plain ones. What matches is an automaton of our own, many times faster, for
//! expressions and paths where both say the same beyond doubt. Everything else is matched by glibc:
//!
//! - expressions with back-references, collating symbols, ranges other than those of ASCII, those that
//!   repeat more than 255 times, and those whose automaton would be large; where case does not count, escaped small letters
//!   that mean nothing (`\a`), which glibc lets match nothing;
//! - in UTF-8, expressions that are not ASCII where case does not count, and expressions that are not UTF-8;
//! - in UTF-8, paths that are not ASCII, unless they are decided by their ASCII end, or the expression has
//!   neither classes (`\w`, `[:alpha:]`) nor words' ends, and case counts; and paths that are not UTF-8.
//!
//! No difference from glibc is known: some millions of random expressions and paths are matched alike (`tests.rs`, and the
//! fuzz target `regex`).
//!
//! glibc matches in a locale of its own ([`CharacterLocale`]), so the process needs none.

mod automaton;
mod brackets;
mod parse;
mod shy;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;

use automaton::{Answer, Automaton, Texts, left_out};
use memchr::memmem::Finder;
use ringwalk_sys::{CharacterLocale, GnuRegex};
use std::sync::{Arc, OnceLock};
use syntax::Bits;
pub use syntax::Syntax;
use tree::Node;

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Regex(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bits: Bits,
    utf8: bool,
    /// What lies between `.*` and `.*`, if nothing else does.
    within: Option<Finder<'static>>,
    /// For any bytes, or in UTF-8 for ASCII.
    narrow: Option<Automaton>,
    wide: Wide,
    gnu: GnuRegex,
    prefix: Vec<u8>,
}

/// For paths that are UTF-8 and not ASCII: built when the first is met.
#[derive(Debug)]
struct Wide {
    automaton: OnceLock<Option<Automaton>>,
    /// What to build it from; none if such paths are left to glibc.
    node: Option<Node>,
}

impl Regex {
    /// Makes `pattern` ready. In UTF-8 (`utf8`), `.` and brackets match whole characters.
    ///
    /// # Errors
    ///
    /// GNU's words for what is wrong with it (`Unmatched ( or \\(`).
    pub fn new(
        pattern: &[u8],
        syntax: Syntax,
        fold_case: bool,
        utf8: bool,
    ) -> Result<Self, String> {
        let pattern = if syntax.has_shy_groups() {
            &shy::expand(pattern)?
        } else {
            pattern
        };
        let bits = syntax.bits(fold_case);
        let gnu = GnuRegex::new(pattern, bits, CharacterLocale::get(utf8))?;
        let bits = Bits::from_bits_retain(bits);
        let node = units(pattern, utf8, fold_case).and_then(|units| parse::parse(&units, bits));
        let texts = if utf8 { Texts::Ascii } else { Texts::Bytes };
        let narrow = node
            .as_ref()
            .and_then(|node| Automaton::new(node, bits, texts));
        let within = node.as_ref().filter(|_| !fold_case).and_then(Node::within);
        let within = within.map(|units| Finder::new(&encoded(&units, utf8)).into_owned());
        let prefix = node.as_ref().map(|node| prefix(node, utf8, fold_case));
        Ok(Self(Arc::new(Inner {
            bits,
            utf8,
            within,
            narrow,
            wide: Wide {
                automaton: OnceLock::new(),
                node: node.filter(|node| utf8 && !fold_case && node.is_plain()),
            },
            gnu,
            prefix: prefix.unwrap_or_default(),
        })))
    }

    /// Whether the whole of `path` matches.
    pub fn matches(&self, path: &[u8]) -> bool {
        let inner = &*self.0;
        if let Some(within) = &inner.within {
            return within.find(path).is_some()
                && (inner.is_anything(path) || inner.gnu.matches_whole(path));
        }
        match inner.narrow.as_ref().map(|narrow| narrow.run(path)) {
            Some(Answer::No) => false,
            Some(Answer::If(rest)) if inner.is_anything(rest) => true,
            Some(Answer::Unknown) => inner.matches_wide(path),
            Some(Answer::If(_)) | None => inner.gnu.matches_whole(path),
        }
    }

    /// What every path that matches begins with, byte for byte; may be empty.
    pub fn literal_prefix(&self) -> &[u8] {
        &self.0.prefix
    }

    /// How it is matched, for `-D tree`: `substring`, `automaton`, or `regex.h` for the C library.
    pub fn method(&self) -> &'static str {
        match (&self.0.within, &self.0.narrow) {
            (Some(_), _) => "substring",
            (None, Some(_)) => "automaton",
            (None, None) => "regex.h",
        }
    }
}

impl Inner {
    /// Whether `.*` takes it.
    fn is_anything(&self, text: &[u8]) -> bool {
        let [newline, zero] = left_out(self.bits);
        let takes_all = match (newline, zero) {
            (None, None) => true,
            (Some(byte), None) | (None, Some(byte)) => memchr::memchr(byte, text).is_none(),
            (Some(newline), Some(zero)) => memchr::memchr2(newline, zero, text).is_none(),
        };
        takes_all && (!self.utf8 || text.is_ascii() || std::str::from_utf8(text).is_ok())
    }

    /// For a path in which the automaton for ASCII met another byte.
    fn matches_wide(&self, path: &[u8]) -> bool {
        let automaton = self.wide.node.as_ref().and_then(|node| {
            self.wide
                .automaton
                .get_or_init(|| Automaton::new(node, self.bits, Texts::Utf8))
                .as_ref()
        });
        match automaton {
            Some(automaton) if std::str::from_utf8(path).is_ok() => match automaton.run(path) {
                Answer::No => false,
                Answer::If(rest) if self.is_anything(rest) => true,
                Answer::If(_) | Answer::Unknown => self.gnu.matches_whole(path),
            },
            _ => self.gnu.matches_whole(path),
        }
    }
}

/// The pattern's characters, or its bytes; none if it is to be left to glibc.
fn units(pattern: &[u8], utf8: bool, fold_case: bool) -> Option<Vec<u32>> {
    if !utf8 {
        return Some(pattern.iter().map(|byte| u32::from(*byte)).collect());
    }
    if fold_case && !pattern.is_ascii() {
        return None;
    }
    let pattern = std::str::from_utf8(pattern).ok()?;
    Some(pattern.chars().map(u32::from).collect())
}

fn prefix(node: &Node, utf8: bool, fold_case: bool) -> Vec<u8> {
    let mut units = Vec::new();
    node.prefix(&mut units);
    if fold_case {
        let letter = |unit: &u32| u8::try_from(*unit).is_ok_and(|byte| byte.is_ascii_alphabetic());
        let length = units.iter().position(letter).unwrap_or(units.len());
        units.truncate(length);
    }
    encoded(&units, utf8)
}

fn encoded(units: &[u32], utf8: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in units {
        match u8::try_from(*unit) {
            Ok(byte) if byte.is_ascii() || !utf8 => bytes.push(byte),
            _ => {
                let character = char::from_u32(*unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    bytes
}
