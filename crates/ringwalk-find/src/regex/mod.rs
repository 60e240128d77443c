//! Regular expressions in the syntaxes of `-regextype`, each matched against a whole path.
//!
//! | file | contents |
//! |---|---|
//! | `syntax.rs` | the syntaxes, as glibc's bits |
//! | `shy.rs` | Emacs's groups without a number |
//! | `parse.rs`, `brackets.rs` | the parser |
//! | `tree.rs` | the parsed expression |
//! | `automaton.rs` | the automaton that matches most paths |
//!
//! GNU find matches with the C library, so glibc's answers are right here too. glibc itself decides
//! whether an expression is well formed, and words the error, after shy groups have become plain
//! ones. An automaton of our own, many times faster, matches expressions and paths for which both
//! give the same answer beyond doubt. glibc matches all others:
//!
//! - expressions with back-references, collating symbols, or ranges that are not ASCII, expressions
//!   that repeat more than 255 times, and expressions whose automaton would be large; where case
//!   does not count, also escaped small letters that mean nothing (`\a`), which glibc lets match
//!   nothing;
//! - in UTF-8, expressions that are not ASCII where case does not count, and expressions that are
//!   not UTF-8;
//! - in UTF-8, paths that are not ASCII, unless they are decided by their ASCII end, or the
//!   expression has neither classes (`\w`, `[:alpha:]`) nor words' ends, and case counts; and paths
//!   that are not UTF-8.
//!
//! No difference from glibc is known: some millions of random expressions and paths give the same
//! answers (`tests.rs`, and the fuzz target `regex`).
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

use automaton::{Answer, Automaton, Encoding, left_out};
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
    /// The text between `.*` and `.*`, if the expression has no other part.
    within: Option<Finder<'static>>,
    /// The automaton for any bytes, or in UTF-8 for ASCII.
    narrow: Option<Automaton>,
    wide: Wide,
    gnu: GnuRegex,
    prefix: Vec<u8>,
}

/// The automaton for paths that are UTF-8 and not ASCII. It is built for the first such path.
#[derive(Debug)]
struct Wide {
    automaton: OnceLock<Option<Automaton>>,
    /// The expression to build it from. None if glibc matches such paths.
    node: Option<Node>,
}

impl Regex {
    /// Compiles `pattern`. In UTF-8 (`utf8`), `.` and brackets match whole characters.
    ///
    /// # Errors
    ///
    /// GNU's message about the fault (`Unmatched ( or \\(`).
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
        let texts = if utf8 {
            Encoding::Ascii
        } else {
            Encoding::Bytes
        };
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

    /// Returns true if the whole of `path` matches.
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

    /// Returns a prefix of every path that matches, byte for byte. It may be empty.
    pub fn literal_prefix(&self) -> &[u8] {
        &self.0.prefix
    }

    /// Returns the method of matching, for `-D tree`: `substring`, `automaton`, or `regex.h` for
    /// the C library.
    pub fn method(&self) -> &'static str {
        match (&self.0.within, &self.0.narrow) {
            (Some(_), _) => "substring",
            (None, Some(_)) => "automaton",
            (None, None) => "regex.h",
        }
    }
}

impl Inner {
    /// Returns true if `.*` matches the text.
    fn is_anything(&self, text: &[u8]) -> bool {
        let [newline, zero] = left_out(self.bits);
        let takes_all = match (newline, zero) {
            (None, None) => true,
            (Some(byte), None) | (None, Some(byte)) => memchr::memchr(byte, text).is_none(),
            (Some(newline), Some(zero)) => memchr::memchr2(newline, zero, text).is_none(),
        };
        takes_all && (!self.utf8 || text.is_ascii() || std::str::from_utf8(text).is_ok())
    }

    /// Matches a path in which the automaton for ASCII has found another byte.
    fn matches_wide(&self, path: &[u8]) -> bool {
        let automaton = self.wide.node.as_ref().and_then(|node| {
            self.wide
                .automaton
                .get_or_init(|| Automaton::new(node, self.bits, Encoding::Utf8))
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

/// Returns the pattern's characters, or its bytes. None if glibc must match the expression.
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
