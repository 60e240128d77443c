//! Shell patterns as in the GNU C library's `fnmatch(3)` without flags, or with `FNM_CASEFOLD`:
//! `*`, `?`, `[...]` and `\`. All of them match a `/` and a leading dot like any other character.
//!
//! In UTF-8 a pattern is tried twice, as in glibc since 2.33: by characters, and if that fails, by
//! bytes. So `??` matches the two bytes of `é`.
//!
//! Only patterns that glibc reads beyond their end differ from it: sets that do not end, or end
//! with a dash.

use crate::locale::first;
use ringwalk_sys::{CharacterLocale, fnmatch};
use set::Set;
use std::ffi::CString;

mod set;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Glob {
    /// The pattern by characters. None unless text and pattern are UTF-8.
    characters: Option<Vec<Token>>,
    /// The pattern by bytes, which C uses for invalid text.
    bytes: Vec<Token>,
    ascii: bool,
    rules: Rules,
    /// The pattern for the C library, when text is UTF-8. The C library decides about invalid text,
    /// since it knows more characters than Unicode has, and about ranges as `asking` says.
    pattern: Option<CString>,
    asking: Asking,
}

/// The rules of a whole pattern.
#[derive(Clone, Copy, Debug)]
struct Rules {
    utf8: bool,
    fold_case: bool,
    /// True if units are characters, false if they are bytes. In UTF-8 both are tried.
    characters: bool,
}

#[derive(Clone, Debug)]
enum Token {
    /// This character (or byte).
    One(u32),
    /// Any character.
    Any,
    /// Any number of any characters.
    Run,
    /// A character in the set.
    Set(Set),
    /// No character: the pattern cannot match.
    Never,
}

/// When the C library must decide about the order of characters in ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asking {
    Never,
    /// For text that is not ASCII.
    NotAscii,
    Always,
}

impl Glob {
    /// Compiles `pattern`. In UTF-8, `?` and sets match whole characters.
    pub fn new(pattern: &[u8], utf8: bool) -> Self {
        Self::with_case(pattern, false, utf8)
    }

    /// Compiles `pattern`. With `fold_case`, upper and lower case are the same.
    pub fn with_case(pattern: &[u8], fold_case: bool, utf8: bool) -> Self {
        let rules = Rules {
            utf8,
            fold_case,
            characters: true,
        };
        let characters = utf8
            .then(|| std::str::from_utf8(pattern).ok())
            .flatten()
            .map(|text| rules.compile(text.chars().map(u32::from)));
        let asking = characters.iter().flatten().map(Token::asking).max();
        Self {
            characters,
            asking: asking.unwrap_or(Asking::Never),
            bytes: rules
                .by_bytes()
                .compile(pattern.iter().map(|byte| u32::from(*byte))),
            ascii: pattern.is_ascii(),
            rules,
            pattern: utf8.then(|| CString::new(pattern).ok()).flatten(),
        }
    }

    /// Returns true if the whole of `text` matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let by_bytes = || self.matches_bytes(text);
        if !self.rules.utf8 || (self.ascii && text.is_ascii() && self.asking < Asking::Always) {
            return by_bytes();
        }
        match &self.characters {
            Some(tokens) if self.asking == Asking::Never && std::str::from_utf8(text).is_ok() => {
                self.rules.matches(tokens, text) || by_bytes()
            }
            _ => self.ask(text).unwrap_or_else(by_bytes),
        }
    }

    /// Matches by bytes. The tokens after the last run are compared first: each takes one byte, and
    /// names differ in their ends.
    fn matches_bytes(&self, text: &[u8]) -> bool {
        let rules = self.rules.by_bytes();
        let is_run = |token: &Token| matches!(token, Token::Run);
        let Some(last_run) = self.bytes.iter().rposition(is_run) else {
            return rules.matches(&self.bytes, text);
        };
        let (head, tail) = self.bytes.split_at(last_run + 1);
        let Some((front, end)) = text
            .len()
            .checked_sub(tail.len())
            .map(|length| text.split_at(length))
        else {
            return false;
        };
        let unit = |byte: u8| first(&[byte], false).map_or(Err(byte), |(unit, _)| unit);
        tail.iter()
            .zip(end)
            .rev()
            .all(|(token, byte)| rules.takes(token, unit(*byte)))
            && (head.len() == 1 || rules.matches(head, front))
    }

    /// Returns the C library's answer. None if there is a zero byte, which ends text for the C
    /// library.
    fn ask(&self, text: &[u8]) -> Option<bool> {
        let pattern = self.pattern.as_ref()?;
        let text = CString::new(text).ok()?;
        let locale = CharacterLocale::get(true);
        Some(fnmatch(pattern, &text, self.rules.fold_case, locale))
    }
}

impl Token {
    fn asking(&self) -> Asking {
        match self {
            Self::Set(set) => set.asking(),
            Self::One(_) | Self::Any | Self::Run | Self::Never => Asking::Never,
        }
    }
}

impl Rules {
    fn by_bytes(self) -> Self {
        Self {
            characters: false,
            ..self
        }
    }

    fn compile(self, units: impl Iterator<Item = u32>) -> Vec<Token> {
        let units: Vec<u32> = units.collect();
        let mut tokens = Vec::with_capacity(units.len());
        let mut rest = &units[..];
        while let Some((&code, tail)) = rest.split_first() {
            rest = tail;
            tokens.push(match char::from_u32(code) {
                Some('*') => Token::Run,
                Some('?') => Token::Any,
                Some('\\') => match tail.split_first() {
                    Some((&escaped, tail)) => {
                        rest = tail;
                        Token::One(self.fold(escaped))
                    }
                    None => Token::Never,
                },
                Some('[') => match Set::parse(tail, self) {
                    Some((set, tail)) => {
                        rest = tail;
                        Token::Set(set)
                    }
                    // A set without an end is a plain bracket.
                    None => Token::One(code),
                },
                _ => Token::One(self.fold(code)),
            });
        }
        tokens
    }

    /// Returns the lower-case form if case does not count.
    fn fold(self, unit: u32) -> u32 {
        match char::from_u32(unit) {
            Some(c) if self.fold_case && c.is_ascii() => u32::from(c.to_ascii_lowercase()),
            Some(c) if self.fold_case && self.characters => {
                u32::from(CharacterLocale::get(true).lower(c))
            }
            _ => unit,
        }
    }

    /// Matches with a single retry position. When the tokens after a run fail, the last run takes
    /// one more unit; a longer match of an earlier run could not do better.
    fn matches(self, tokens: &[Token], text: &[u8]) -> bool {
        let (mut at, mut rest) = (0, text);
        let mut retry: Option<(usize, &[u8])> = None;
        loop {
            if let Some(Token::Run) = tokens.get(at) {
                at += 1;
                retry = Some((at, rest));
                continue;
            }
            match (tokens.get(at), first(rest, self.characters)) {
                (None, None) => return true,
                (Some(token), Some((unit, length))) if self.takes(token, unit) => {
                    at += 1;
                    rest = &rest[length..];
                    continue;
                }
                _ => {}
            }
            let Some((after, from)) = retry else {
                return false;
            };
            let Some((_, length)) = first(from, self.characters) else {
                return false;
            };
            rest = &from[length..];
            at = after;
            retry = Some((after, rest));
        }
    }

    fn takes(self, token: &Token, unit: Result<char, u8>) -> bool {
        // A byte that is no character has no case.
        let code = unit.map_or_else(u32::from, |c| self.fold(u32::from(c)));
        match token {
            Token::One(wanted) => *wanted == code,
            Token::Any => true,
            Token::Run | Token::Never => false,
            Token::Set(set) => set.takes(unit, code, self),
        }
    }
}

#[cfg(test)]
mod tests;
