//! Shell patterns as `fnmatch(3)` has them with no flags: `*`, `?`, `[...]` and `\`, all of which
//! match a `/` and a leading dot like any other character.

use crate::locale::first;

/// A pattern made ready for matching.
#[derive(Clone, Debug)]
pub struct Glob {
    /// By characters, when text is UTF-8 and the pattern is.
    characters: Option<Vec<Token>>,
    /// By bytes: C's way with text that is not valid.
    bytes: Vec<Token>,
}

#[derive(Clone, Debug)]
enum Token {
    /// This character (or byte).
    One(u32),
    /// Any one.
    Any,
    /// Any number of any.
    Run,
    /// One in the set, or one not in it.
    Set { negated: bool, items: Vec<Item> },
    /// Nothing: the pattern can match no text.
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Range(u32, u32),
    Class(fn(char) -> bool),
}

impl Glob {
    /// Makes `pattern` ready; in UTF-8, `?` and sets match whole characters.
    pub fn new(pattern: &[u8], utf8: bool) -> Self {
        let characters = utf8
            .then(|| std::str::from_utf8(pattern).ok())
            .flatten()
            .map(|text| compile(&text.chars().map(u32::from).collect::<Vec<_>>()));
        let bytes = compile(&pattern.iter().map(|b| u32::from(*b)).collect::<Vec<_>>());
        Self { characters, bytes }
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        match &self.characters {
            Some(tokens) if text.is_ascii() || std::str::from_utf8(text).is_ok() => {
                matches(tokens, text, true)
            }
            _ => matches(&self.bytes, text, false),
        }
    }
}

/// Matches with one point to go back to: when what follows a run fails, the last run takes one
/// more, for a run before it could not do better.
fn matches(tokens: &[Token], text: &[u8], utf8: bool) -> bool {
    let (mut at, mut rest) = (0, text);
    let mut retry: Option<(usize, &[u8])> = None;
    loop {
        if let Some(Token::Run) = tokens.get(at) {
            at += 1;
            retry = Some((at, rest));
            continue;
        }
        match (tokens.get(at), first(rest, utf8)) {
            (None, None) => return true,
            (Some(token), Some((unit, length))) if token.takes(unit) => {
                at += 1;
                rest = &rest[length..];
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = retry else {
            return false;
        };
        let Some((_, length)) = first(from, utf8) else {
            return false;
        };
        rest = &from[length..];
        at = after;
        retry = Some((after, rest));
    }
}

impl Token {
    fn takes(&self, unit: Result<char, u8>) -> bool {
        let code = unit.map_or_else(u32::from, u32::from);
        match self {
            Self::One(wanted) => *wanted == code,
            Self::Any => true,
            Self::Run | Self::Never => false,
            Self::Set { negated, items } => {
                let found = items.iter().any(|item| match item {
                    Item::Range(low, high) => (*low..=*high).contains(&code),
                    Item::Class(holds) => unit.is_ok_and(holds),
                });
                found != *negated
            }
        }
    }
}

fn compile(pattern: &[u32]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((&code, tail)) = rest.split_first() {
        rest = tail;
        tokens.push(match char::from_u32(code) {
            Some('*') => Token::Run,
            Some('?') => Token::Any,
            Some('\\') => match tail.split_first() {
                Some((&escaped, tail)) => {
                    rest = tail;
                    Token::One(escaped)
                }
                None => Token::Never,
            },
            Some('[') => match set(tail) {
                Some((token, tail)) => {
                    rest = tail;
                    token
                }
                // A set that does not end is no set.
                None => Token::One(code),
            },
            _ => Token::One(code),
        });
    }
    tokens
}

/// The set whose opening bracket stands before `body`, and what follows it.
fn set(body: &[u32]) -> Option<(Token, &[u32])> {
    let (negated, mut rest) = match body.split_first() {
        Some((&first, tail)) if is(first, '!') || is(first, '^') => (true, tail),
        _ => (false, body),
    };
    let mut items = Vec::new();
    let mut known = true;
    let mut begun = false;
    loop {
        let (&code, tail) = rest.split_first()?;
        if is(code, ']') && begun {
            let token = if known {
                Token::Set { negated, items }
            } else {
                Token::Never
            };
            return Some((token, tail));
        }
        begun = true;
        if let Some((name, tail)) = bracketed(rest, ':') {
            rest = tail;
            match class(name) {
                Some(class) => items.push(Item::Class(class)),
                None => known = false,
            }
            continue;
        }
        let (low, tail) = element(rest)?;
        rest = tail;
        let high = match rest {
            [dash, after, ..] if is(*dash, '-') && !is(*after, ']') => {
                let (high, tail) = element(&rest[1..])?;
                rest = tail;
                high
            }
            _ => low,
        };
        items.push(Item::Range(low, high));
    }
}

/// One end of a range: a character, an escaped one, `[.x.]` or `[=x=]`.
fn element(text: &[u32]) -> Option<(u32, &[u32])> {
    for mark in ['.', '='] {
        if let Some(([only], tail)) = bracketed(text, mark) {
            return Some((*only, tail));
        }
    }
    match text.split_first()? {
        (&code, tail) if is(code, '\\') => tail.split_first().map(|(code, tail)| (*code, tail)),
        (&code, tail) => Some((code, tail)),
    }
}

/// What stands between `[` and the mark, and the mark and `]`, at the start of `text`.
fn bracketed(text: &[u32], mark: char) -> Option<(&[u32], &[u32])> {
    let [open, first, body @ ..] = text else {
        return None;
    };
    if !is(*open, '[') || !is(*first, mark) {
        return None;
    }
    let end = body
        .windows(2)
        .position(|pair| is(pair[0], mark) && is(pair[1], ']'))?;
    Some((&body[..end], &body[end + 2..]))
}

fn is(code: u32, character: char) -> bool {
    code == u32::from(character)
}

fn class(name: &[u32]) -> Option<fn(char) -> bool> {
    let name: String = name
        .iter()
        .filter_map(|code| char::from_u32(*code))
        .collect();
    Some(match name.as_str() {
        "alnum" => char::is_alphanumeric,
        "alpha" => char::is_alphabetic,
        "blank" => |c| c == ' ' || c == '\t',
        "cntrl" => char::is_control,
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| !c.is_control() && !c.is_whitespace(),
        "lower" => char::is_lowercase,
        "print" => |c| !c.is_control(),
        "punct" => |c| !c.is_control() && !c.is_whitespace() && !c.is_alphanumeric(),
        "space" => char::is_whitespace,
        "upper" => char::is_uppercase,
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
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
}
