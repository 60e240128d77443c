//! The words of dates, which are English in every locale.
//!
//! Upper and lower case are the same. The manual of GNU's core utilities ("Date input formats")
//! lists the abbreviations, except for the names of time zones. These words were found by asking
//! `date` for every word of up to four letters.

use super::token::{CalendarUnit, DateToken};
use ringwalk::Timestamp;
use ringwalk_gnu::civil::{DAY, HOUR, MONTHS, WEEKDAYS, Zone};

/// Zones by minutes east of UTC.
const ZONES: &[(&str, i64)] = &[
    ("WET", 0),
    ("ART", -180),
    ("BRT", -180),
    ("NST", -210),
    ("AST", -240),
    ("CLT", -240),
    ("EST", -300),
    ("CST", -360),
    ("MST", -420),
    ("PST", -480),
    ("AKST", -540),
    ("HST", -600),
    ("HAST", -600),
    ("SST", -720),
    ("WAT", 60),
    ("CET", 60),
    ("MET", 60),
    ("MEZ", 60),
    ("EET", 120),
    ("CAT", 120),
    ("SAST", 120),
    ("EAT", 180),
    ("MSK", 180),
    ("IST", 330),
    ("SGT", 480),
    ("KST", 540),
    ("JST", 540),
    ("GST", 600),
    ("NZST", 720),
];
/// Zones of daylight-saving time by minutes east of UTC. The minutes include the hour of summer
/// time.
const SUMMER_ZONES: &[(&str, i64)] = &[
    ("WEST", 60),
    ("BST", 60),
    ("BRST", -120),
    ("NDT", -150),
    ("ADT", -180),
    ("CLST", -180),
    ("EDT", -240),
    ("CDT", -300),
    ("MDT", -360),
    ("PDT", -420),
    ("AKDT", -480),
    ("HADT", -540),
    ("CEST", 120),
    ("MEST", 120),
    ("MESZ", 120),
    ("EEST", 180),
    ("MSD", 240),
    ("NZDT", 780),
];
const UNITS: &[(&str, CalendarUnit, i64)] = &[
    ("YEAR", CalendarUnit::Year, 1),
    ("MONTH", CalendarUnit::Month, 1),
    ("FORTNIGHT", CalendarUnit::Day, 14),
    ("WEEK", CalendarUnit::Day, 7),
    ("DAY", CalendarUnit::Day, 1),
    ("HOUR", CalendarUnit::Hour, 1),
    ("MINUTE", CalendarUnit::Minute, 1),
    ("MIN", CalendarUnit::Minute, 1),
    ("SECOND", CalendarUnit::Second, 1),
    ("SEC", CalendarUnit::Second, 1),
];
const OTHERS: &[(&str, DateToken)] = &[
    ("TOMORROW", DateToken::Days(1)),
    ("YESTERDAY", DateToken::Days(-1)),
    ("TODAY", DateToken::Days(0)),
    ("NOW", DateToken::Days(0)),
    ("LAST", DateToken::Ordinal(-1)),
    ("THIS", DateToken::Ordinal(0)),
    ("NEXT", DateToken::Ordinal(1)),
    ("FIRST", DateToken::Ordinal(1)),
    ("THIRD", DateToken::Ordinal(3)),
    ("FOURTH", DateToken::Ordinal(4)),
    ("FIFTH", DateToken::Ordinal(5)),
    ("SIXTH", DateToken::Ordinal(6)),
    ("SEVENTH", DateToken::Ordinal(7)),
    ("EIGHTH", DateToken::Ordinal(8)),
    ("NINTH", DateToken::Ordinal(9)),
    ("TENTH", DateToken::Ordinal(10)),
    ("ELEVENTH", DateToken::Ordinal(11)),
    ("TWELFTH", DateToken::Ordinal(12)),
    ("AGO", DateToken::Ago),
];

/// The current abbreviations of the zone in use, and whether each means daylight-saving time.
pub(super) struct LocalNames(Vec<(String, bool)>);

impl LocalNames {
    /// Reads the zone's abbreviation now and at the next three quarters of a year.
    pub(super) fn new(now: Timestamp, zone: &Zone) -> Self {
        const QUARTER: i64 = 90 * DAY;
        let mut names: Vec<(String, bool)> = Vec::new();
        for quarter in 0..4 {
            let when = now.secs.saturating_add(quarter * QUARTER);
            let name = (zone.abbreviation(when), zone.is_summer(when));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// Returns the token of an abbreviation of the zone.
    fn token(&self, word: &str) -> Option<DateToken> {
        let mut of_name = self.0.iter().filter(|(name, _)| name == word);
        let summer = of_name.next()?.1;
        let same = of_name.all(|(_, other)| *other == summer);
        Some(DateToken::LocalZone(same.then_some(summer)))
    }
}

/// Returns the meaning of a word, which has letters and periods and begins with a letter.
pub(super) fn meaning(word: &[u8], local: &LocalNames) -> Option<DateToken> {
    let word = String::from_utf8_lossy(word).to_ascii_uppercase();
    half(&word)
        .or_else(|| calendar(&word))
        .or_else(|| zone(&word, local))
        .or_else(|| (word == "DST").then_some(DateToken::Summer))
        .or_else(|| unit(&word))
        .or_else(|| pick(OTHERS, &word))
        .or_else(|| military(&word))
        .or_else(|| zone(&without_periods(&word)?, local))
}

fn pick<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    let (_, found) = table.iter().find(|(name, _)| *name == word)?;
    Some(*found)
}

fn half(word: &str) -> Option<DateToken> {
    match word {
        "AM" | "A.M." => Some(DateToken::Afternoon(false)),
        "PM" | "P.M." => Some(DateToken::Afternoon(true)),
        _ => None,
    }
}

/// Returns a month or a day of the week: in full, or three letters, perhaps with a period.
fn calendar(word: &str) -> Option<DateToken> {
    let short = match word {
        "SEPT" => "SEP",
        "TUES" => "TUE",
        "WEDNES" => "WED",
        "THUR" | "THURS" => "THU",
        _ if word.len() == 4 => word.strip_suffix('.').unwrap_or(word),
        _ => word,
    };
    let position = |names: &[&str]| {
        let at = names.iter().position(|name| {
            name.eq_ignore_ascii_case(word) || name[..3].eq_ignore_ascii_case(short)
        })?;
        i64::try_from(at).ok()
    };
    match position(&MONTHS) {
        Some(month) => Some(DateToken::Month(month + 1)),
        None => position(&WEEKDAYS).map(DateToken::Weekday),
    }
}

/// Returns a zone: UTC, the zone in use, or one of the tables. The abbreviations of the tables are
/// ambiguous in the world, so the zone in use goes first.
fn zone(word: &str, local: &LocalNames) -> Option<DateToken> {
    if matches!(word, "UTC" | "UT" | "GMT") {
        return Some(DateToken::Zone(0));
    }
    local
        .token(word)
        .or_else(|| pick(ZONES, word).map(|minutes| DateToken::Zone(minutes * 60)))
        .or_else(|| pick(SUMMER_ZONES, word).map(|minutes| DateToken::SummerZone(minutes * 60)))
}

/// Returns a unit of time, in the plural or not.
fn unit(word: &str) -> Option<DateToken> {
    let singular = word.strip_suffix('S').unwrap_or(word);
    let of = |word| UNITS.iter().find(|(name, ..)| *name == word);
    let (_, unit, times) = of(word).or_else(|| of(singular))?;
    Some(DateToken::Unit(*unit, *times))
}

/// Returns a military zone: a single letter except J.
fn military(word: &str) -> Option<DateToken> {
    let &[letter] = word.as_bytes() else {
        return None;
    };
    let hours = match letter {
        b'T' => return Some(DateToken::T),
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'K') + 10,
        b'N'..=b'Y' => -i64::from(letter - b'N') - 1,
        b'Z' => 0,
        _ => return None,
    };
    Some(DateToken::Zone(hours * HOUR))
}

/// Returns the word without its periods, if it has any.
fn without_periods(word: &str) -> Option<String> {
    word.contains('.').then(|| word.replace('.', ""))
}
