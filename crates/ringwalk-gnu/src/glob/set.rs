//! What stands in brackets in a pattern.

use super::{Asking, Rules};
use ringwalk_sys::{CharacterClass, CharacterLocale};

/// A set of characters (or bytes).
#[derive(Clone, Debug)]
pub(super) struct Set {
    negated: bool,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Range(u32, u32),
    Class(CharacterClass),
    /// What the C library does not know: nothing matches that is not in the set by what stands before.
    Unknown,
    /// `[=` that begins nothing: a bracket, but nothing matches that is in the set by what stands before.
    Stray,
}

impl Set {
    /// The set whose opening bracket stands before `body`, and what follows it; none if it does not end.
    pub(super) fn parse(body: &[u32], rules: Rules) -> Option<(Self, &[u32])> {
        let (negated, mut rest) = match body.split_first() {
            Some((&first, tail)) if is(first, '!') || is(first, '^') => (true, tail),
            _ => (false, body),
        };
        let mut items = Vec::new();
        loop {
            if let [open, dot, ..] = rest
                && is(*open, '[')
                && is(*dot, '.')
                && bracketed(rest, '.').is_none()
            {
                // A name that does not end: the C library gives up, whatever is before it.
                let items = vec![Item::Unknown];
                return Some((Self { negated, items }, &[]));
            }
            if let [code, tail @ ..] = rest
                && is(*code, ']')
                && !items.is_empty()
            {
                return Some((Self { negated, items }, tail));
            }
            match item(rest, rules) {
                Some((item, tail)) => {
                    items.push(item);
                    rest = tail;
                }
                None if items.iter().any(|item| matches!(item, Item::Unknown)) => {
                    let items = vec![Item::Unknown];
                    return Some((Self { negated, items }, &[]));
                }
                None => return None,
            }
        }
    }

    /// When only the C library knows what lies in the ranges: in a locale with an order of its own, what lies between
    /// letters or digits of ASCII is clear for ASCII only, and glibc has no order for some characters even in `C.UTF-8`.
    pub(super) fn asking(&self) -> Asking {
        let of = |item: &Item| match *item {
            Item::Range(low, high) if low != high => {
                let plain = [low, high].map(|end| char::from_u32(end).filter(char::is_ascii));
                let alike = [
                    char::is_ascii_digit,
                    char::is_ascii_lowercase,
                    char::is_ascii_uppercase,
                ]
                .iter()
                .any(|kind| plain.iter().all(|end| end.as_ref().is_some_and(kind)));
                if plain.contains(&None) {
                    Asking::Always
                } else if CharacterLocale::get(true).collates_by_number() {
                    Asking::Never
                } else if alike {
                    Asking::NotAscii
                } else {
                    Asking::Always
                }
            }
            _ => Asking::Never,
        };
        self.items.iter().map(of).max().unwrap_or(Asking::Never)
    }

    /// Whether the set takes `unit`, whose lower-case form is `folded` if case does not count.
    pub(super) fn takes(&self, unit: Result<char, u8>, folded: u32, rules: Rules) -> bool {
        for (index, item) in self.items.iter().enumerate() {
            let found = match item {
                Item::Range(low, high) => (*low..=*high).contains(&folded),
                // Classes see characters as they are, whether case counts or not.
                Item::Class(class) => {
                    unit.is_ok_and(|c| CharacterLocale::get(rules.utf8).is(*class, c))
                }
                Item::Unknown => return false,
                Item::Stray => folded == u32::from('['),
            };
            if found {
                let rest = &self.items[index + 1..];
                return !self.negated && !rest.iter().any(|item| matches!(item, Item::Stray));
            }
        }
        self.negated
    }
}

fn item(text: &[u32], rules: Rules) -> Option<(Item, &[u32])> {
    if let Some((name, tail)) = named_class(text) {
        let class = CharacterLocale::get(rules.utf8).class(&name);
        return Some((class.map_or(Item::Unknown, Item::Class), tail));
    }
    match text {
        [open, first, only, last, close, tail @ ..]
            if is(*open, '[') && is(*first, '=') && is(*last, '=') && is(*close, ']') =>
        {
            let only = rules.fold(*only);
            return Some((Item::Range(only, only), tail));
        }
        [open, first, ..] if is(*open, '[') && is(*first, '=') => {
            return Some((Item::Stray, &text[1..]));
        }
        _ => {}
    }
    let (low, tail) = end_of_range(text)?;
    let (high, tail) = match tail {
        [dash, after, ..] if is(*dash, '-') && !is(*after, ']') => end_of_range(&tail[1..])?,
        _ => (low, tail),
    };
    let item = match (low, high) {
        (Some(low), Some(high)) => Item::Range(rules.fold(low), rules.fold(high)),
        _ => Item::Unknown,
    };
    Some((item, tail))
}

/// One end of a range: a character, an escaped one, or `[.x.]`, of which names are not known.
fn end_of_range(text: &[u32]) -> Option<(Option<u32>, &[u32])> {
    if let [open, dot, ..] = text
        && is(*open, '[')
        && is(*dot, '.')
    {
        let (name, tail) = bracketed(text, '.')?;
        return Some((name.first().copied().filter(|_| name.len() == 1), tail));
    }
    match text.split_first()? {
        (&code, tail) if is(code, '\\') => {
            tail.split_first().map(|(code, tail)| (Some(*code), tail))
        }
        (&code, tail) => Some((Some(code), tail)),
    }
}

/// The name in `[:name:]`. In glibc it is of the letters from a to y; anything else is a bracket and a colon.
fn named_class(text: &[u32]) -> Option<(Vec<u8>, &[u32])> {
    let (name, tail) = bracketed(text, ':')?;
    let name = name
        .iter()
        .map(|code| {
            u8::try_from(*code)
                .ok()
                .filter(|byte| (b'a'..=b'y').contains(byte))
        })
        .collect::<Option<Vec<u8>>>()?;
    Some((name, tail))
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
