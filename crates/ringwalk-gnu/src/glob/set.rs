//! Sets in brackets.

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
    /// Units from one to another, both included; where case does not count, lower-case forms.
    Range(u32, u32),
    /// A range that ends with a symbol, `a-[.k.]`.
    UpToSymbol(u32, u32),
    /// `[.x.]`, `[=x=]`: this unit. Its case counts, whatever is asked for.
    Exact(u32),
    Class(CharacterClass),
    /// A class or range that the C library does not know. No character matches that no item before
    /// it matches.
    Unknown,
    /// `[=` without an end: a plain bracket. A character that an item before it matches does not
    /// match then.
    Stray,
}

impl Set {
    /// Parses the set whose opening bracket is before `body`. Returns the set and the rest. None if
    /// the set does not end.
    pub(super) fn parse(body: &[u32], rules: Rules) -> Option<(Self, &[u32])> {
        let (negated, mut rest) = match body.split_first() {
            Some((&first, tail)) if is(first, '!') || is(first, '^') => (true, tail),
            _ => (false, body),
        };
        let mut items = Vec::new();
        loop {
            if is_symbol(rest) && bracketed(rest, '.').is_none() {
                // A name without an end: the C library gives up, whatever precedes it.
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

    /// Returns when only the C library knows the contents of ranges. In a locale with an order of
    /// its own, ranges between letters or digits of ASCII are clear for ASCII only. glibc has no
    /// order for some characters even in `C.UTF-8`.
    pub(super) fn asking(&self) -> Asking {
        let of = |item: &Item| match *item {
            Item::Range(low, high) => asking_of_range(low, high),
            // glibc puts some characters that are not ASCII into such a range.
            Item::UpToSymbol(low, high) => asking_of_range(low, high).max(Asking::NotAscii),
            Item::Exact(_) | Item::Class(_) | Item::Unknown | Item::Stray => Asking::Never,
        };
        self.items.iter().map(of).max().unwrap_or(Asking::Never)
    }

    /// Returns true if the set contains `unit`. `folded` is its lower-case form if case does not
    /// count, or else itself.
    pub(super) fn takes(&self, unit: Result<char, u8>, folded: u32, rules: Rules) -> bool {
        for (index, item) in self.items.iter().enumerate() {
            let found = match item {
                Item::Range(low, high) | Item::UpToSymbol(low, high) => {
                    (*low..=*high).contains(&folded)
                }
                Item::Exact(only) => unit.map_or_else(u32::from, u32::from) == *only,
                // Classes see the character itself, whether case counts or not.
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

fn asking_of_range(low: u32, high: u32) -> Asking {
    let plain = [low, high].map(|end| char::from_u32(end).filter(char::is_ascii));
    let alike = [
        char::is_ascii_digit,
        char::is_ascii_lowercase,
        char::is_ascii_uppercase,
    ]
    .iter()
    .any(|kind| plain.iter().all(|end| end.as_ref().is_some_and(kind)));
    if low == high {
        Asking::Never
    } else if plain.contains(&None) {
        Asking::Always
    } else if CharacterLocale::get(true).collates_by_number() {
        Asking::Never
    } else if alike {
        Asking::NotAscii
    } else {
        Asking::Always
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
            return Some((Item::Exact(*only), tail));
        }
        [open, first, ..] if is(*open, '[') && is(*first, '=') => {
            return Some((Item::Stray, &text[1..]));
        }
        _ => {}
    }
    let (low, tail) = end_of_range(text, rules)?;
    let (item, tail) = match tail {
        [dash, after, ..] if is(*dash, '-') && !is(*after, ']') => {
            let (high, rest) = end_of_range(&tail[1..], rules)?;
            let range = if is_symbol(&tail[1..]) {
                Item::UpToSymbol
            } else {
                Item::Range
            };
            (low.zip(high).map(|(low, high)| range(low, high)), rest)
        }
        _ if is_symbol(text) => (low.map(Item::Exact), tail),
        _ => (low.map(|only| Item::Range(only, only)), tail),
    };
    Some((item.unwrap_or(Item::Unknown), tail))
}

/// Returns true if `[.` stands at the beginning of `text`.
fn is_symbol(text: &[u32]) -> bool {
    matches!(text, [open, dot, ..] if is(*open, '[') && is(*dot, '.'))
}

/// Reads one end of a range: a character, an escaped one, or `[.x.]`. Names in `[.name.]` are
/// unknown. The C library does not fold `[.x.]`.
fn end_of_range(text: &[u32], rules: Rules) -> Option<(Option<u32>, &[u32])> {
    if is_symbol(text) {
        let (name, tail) = bracketed(text, '.')?;
        return Some((name.first().copied().filter(|_| name.len() == 1), tail));
    }
    let (mut code, mut tail) = text.split_first()?;
    if is(*code, '\\') {
        (code, tail) = tail.split_first()?;
    }
    Some((Some(rules.fold(*code)), tail))
}

/// Returns the name in `[:name:]`. In glibc it has letters from a to y; other text is a bracket and
/// a colon.
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

/// Returns the text between `[` and the mark, and the mark and `]`, at the start of `text`.
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
