//! From bytes to tokens.
//!
//! White space separates tokens. Comments in parentheses may nest and count as white space; a
//! comment without an end goes to the end of the text. A sign belongs to the number after it, with
//! or without space between, and means nothing before other tokens. Periods may stand in words.
//! With digits on both sides a period or a comma makes a fraction.

use super::words::{self, LocalNames};
use ringwalk_gnu::civil::NANOS_PER_SECOND;

/// Further letters of a word do not count.
const LONGEST: usize = 19;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateToken {
    /// A number without a sign.
    Unsigned(Number),
    /// A number with a sign.
    Signed(Number),
    /// A number with a fraction.
    Decimal(Decimal),
    /// A month, 1 to 12.
    Month(i64),
    /// A day of the week, 0 being Sunday.
    Weekday(i64),
    /// A length of time.
    Unit(CalendarUnit, i64),
    /// A number of days from one word: `tomorrow`.
    Days(i64),
    /// A number in words: `last`, `third`.
    Ordinal(i64),
    /// `ago`.
    Ago,
    /// `am` (false) or `pm` (true).
    Afternoon(bool),
    /// A time zone by seconds east of UTC.
    Zone(i64),
    /// A time zone that already includes daylight-saving time.
    SummerZone(i64),
    /// An abbreviation of the zone in use. True if it means daylight-saving time; `None` if
    /// standard time has the same abbreviation.
    LocalZone(Option<bool>),
    /// `DST`.
    Summer,
    /// `T`: a zone, or between a date and a time.
    T,
    /// Any other character.
    Other(u8),
}

/// A whole number, and the number of its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub value: i64,
    pub digits: usize,
    pub negative: bool,
}

/// A number with a fraction: whole seconds, rounded down, and nanoseconds after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub secs: i64,
    pub nanos: u32,
    pub signed: bool,
}

/// Units of time that differ in how they are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CalendarUnit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// Splits `text` into tokens. None if it has an unknown word or an impossible number.
pub(super) fn tokens(text: &[u8], local: &LocalNames) -> Option<Vec<DateToken>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if is_space(first) {
            rest = after;
        } else if first == b'(' {
            rest = past_comment(rest);
        } else if first.is_ascii_digit() || matches!(first, b'+' | b'-') {
            let (token, after) = number(rest)?;
            found.extend(token);
            rest = after;
        } else if first.is_ascii_alphabetic() {
            let length = rest
                .iter()
                .position(|byte| !byte.is_ascii_alphabetic() && *byte != b'.')
                .unwrap_or(rest.len());
            found.push(words::meaning(&rest[..length.min(LONGEST)], local)?);
            rest = &rest[length..];
        } else {
            found.push(DateToken::Other(first));
            rest = after;
        }
    }
    Some(found)
}

/// Returns true for C's white space. Rust's lacks the vertical tab.
pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// Returns the text after the comment at its beginning.
fn past_comment(text: &[u8]) -> &[u8] {
    let mut depth = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    &[]
}

/// Returns the number at the beginning of `text` and the rest, unless there is only a sign. None if
/// the number is too large.
fn number(text: &[u8]) -> Option<(Option<DateToken>, &[u8])> {
    let signed = matches!(text.first(), Some(b'+' | b'-'));
    let negative = text.first() == Some(&b'-');
    let mut rest = &text[usize::from(signed)..];
    if signed {
        while rest.first().is_some_and(|byte| is_space(*byte)) {
            rest = &rest[1..];
        }
    }
    let digits = leading_digits(rest);
    if digits == 0 {
        return Some((None, rest));
    }
    let mut value = 0_i64;
    for digit in &rest[..digits] {
        let digit = i64::from(digit - b'0');
        let signed = if negative { -digit } else { digit };
        value = value.checked_mul(10)?.checked_add(signed)?;
    }
    rest = &rest[digits..];
    if matches!(rest.first(), Some(b'.' | b',')) {
        let length = leading_digits(&rest[1..]);
        if length > 0 {
            let decimal = decimal(value, signed, negative, &rest[1..=length])?;
            return Some((Some(DateToken::Decimal(decimal)), &rest[1 + length..]));
        }
    }
    let number = Number {
        value,
        digits,
        negative,
    };
    let token = if signed {
        DateToken::Signed(number)
    } else {
        DateToken::Unsigned(number)
    };
    Some((Some(token), rest))
}

fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Returns whole seconds and nanoseconds. Finer digits are rounded down.
fn decimal(secs: i64, signed: bool, negative: bool, fraction: &[u8]) -> Option<Decimal> {
    let mut nanos = 0;
    for place in 0..9 {
        let digit = fraction.get(place).map_or(0, |digit| digit - b'0');
        nanos = nanos * 10 + u32::from(digit);
    }
    let mut secs = secs;
    if negative {
        let finer = fraction.iter().skip(9).any(|digit| *digit != b'0');
        nanos += u32::from(finer);
        if nanos > 0 {
            secs = secs.checked_sub(1)?;
            nanos = NANOS_PER_SECOND - nanos;
        }
    }
    Some(Decimal {
        secs,
        nanos,
        signed,
    })
}
