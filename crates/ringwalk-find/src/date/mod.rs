//! Dates in the forms that `date -d` takes: the arguments of `-newermt`.
//!
//! | file | contents |
//! |---|---|
//! | `token.rs` | from bytes to tokens |
//! | `words.rs` | the words, and the names of time zones |
//! | `items.rs` | from tokens to items, each of which says something about the date |
//! | `days.rs`, `relative.rs` | items that name a day, and items that give a distance |
//! | `resolve.rs` | from items to a moment |
//! | `wall.rs` | clocks, also where they are set forward and back |
//!
//! The chapter "Date input formats" of the manual of GNU's core utilities describes the language.
//! Experiments with `date` and `find` showed the rest, and `tests/dates.rs` compares. The crate
//! `parse_datetime` reads most of it too. But version 0.17 was wrong about 28 of 427 texts that GNU
//! takes, most of them random combinations: it refuses `tomorrow 20200315`, and a zone's letter
//! before a date without separators. It also takes times that clocks skipped, and of a time that
//! clocks showed twice it takes the first, where `date` takes the last.

mod days;
mod items;
mod relative;
mod resolve;
mod token;
mod wall;
mod words;

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{DAY, Zone};
use token::{DateToken, Decimal};
use words::LocalNames;

/// Returns the moment that `text` means at `now` in `zone`, as GNU's `parse_datetime` reads it.
/// None if it has no meaning.
///
/// ```
/// use ringwalk::Timestamp;
/// use ringwalk_find::date::parse;
/// use ringwalk_gnu::civil::{DAY, Zone};
///
/// let now = Timestamp { secs: 1_700_000_000, nanos: 0 };
/// let berlin = Zone::named("Europe/Berlin");
/// let day = parse(b"10 Sep 2020 12:30", now, &berlin).unwrap();
/// assert_eq!(day.secs, 1_599_733_800);
/// assert_eq!(parse(b"2 hours ago", now, &berlin).unwrap().secs, now.secs - 7200);
/// assert_eq!(parse(b"2021-02-29", now, &berlin), None);
/// ```
pub fn parse(text: &[u8], now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    match named_zone(text) {
        Some((name, rest)) => parse_in(rest, now, &Zone::named(&name)),
        None => parse_in(text, now, zone),
    }
}

fn parse_in(text: &[u8], now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let tokens = token::tokens(text, &LocalNames::new(now, zone))?;
    if let Some((DateToken::Other(b'@'), count)) = tokens.split_first() {
        return since_1970(count);
    }
    resolve::moment(&items::items(&tokens)?, now, zone)
}

/// Reads seconds since 1970, which stand alone after their sign.
fn since_1970(count: &[DateToken]) -> Option<Timestamp> {
    let (secs, nanos) = match *count {
        [DateToken::Unsigned(number) | DateToken::Signed(number)] => (number.value, 0),
        [DateToken::Decimal(Decimal { secs, nanos, .. })] => (secs, nanos),
        _ => return None,
    };
    Some(Timestamp { secs, nanos })
}

/// Returns the text between the quotes of `TZ="..."` at the beginning, and the rest.
fn named_zone(text: &[u8]) -> Option<(String, &[u8])> {
    let blank = text.iter().take_while(|byte| token::is_space(**byte));
    let quoted = text[blank.count()..].strip_prefix(b"TZ=\"")?;
    let mut name = Vec::new();
    let mut bytes = quoted.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'"' => {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Some((name, &quoted[at + 1..]));
            }
            b'\\' => match bytes.next()? {
                (_, escaped @ (b'\\' | b'"')) => name.push(*escaped),
                _ => return None,
            },
            byte => name.push(byte),
        }
    }
    None
}

/// Returns the moment from which `-daystart` measures: the midnight that ends the day of `now` in
/// `zone`.
///
/// Found by experiment with GNU find: the day begins when clocks would have shown midnight with the
/// distance from UTC that they have at `now`, and it always has 24 hours. On days on which clocks
/// are set, this is up to an hour away from midnight by the clock.
pub fn end_of_day(now: Timestamp, zone: &Zone) -> Timestamp {
    let into = now
        .secs
        .saturating_add(zone.offset(now.secs))
        .rem_euclid(DAY);
    Timestamp {
        secs: now.secs.saturating_sub(into).saturating_add(DAY),
        nanos: 0,
    }
}

#[cfg(test)]
mod tests;
