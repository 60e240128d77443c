//! The words of dates, which are English in every locale.
//!
//! Upper and lower case are the same. Which abbreviations there are is documented ("Date input formats" in the manual of
//! GNU's core utilities) but for the names of time zones, which were found by asking `date` for every word of up to four
//! letters.

use super::token::{Token, Unit};
use ringwalk::Timestamp;
use ringwalk_gnu::civil::Zone;

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const WEEKDAYS: [&str; 7] = [
    "SUNDAY",
    "MONDAY",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
];
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
/// The same for those that are an hour ahead because it is summer; the minutes have that hour in them.
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
const UNITS: &[(&str, Unit, i64)] = &[
    ("YEAR", Unit::Year, 1),
    ("MONTH", Unit::Month, 1),
    ("FORTNIGHT", Unit::Day, 14),
    ("WEEK", Unit::Day, 7),
    ("DAY", Unit::Day, 1),
    ("HOUR", Unit::Hour, 1),
    ("MINUTE", Unit::Minute, 1),
    ("MIN", Unit::Minute, 1),
    ("SECOND", Unit::Second, 1),
    ("SEC", Unit::Second, 1),
];
const OTHERS: &[(&str, Token)] = &[
    ("TOMORROW", Token::Days(1)),
    ("YESTERDAY", Token::Days(-1)),
    ("TODAY", Token::Days(0)),
    ("NOW", Token::Days(0)),
    ("LAST", Token::Ordinal(-1)),
    ("THIS", Token::Ordinal(0)),
    ("NEXT", Token::Ordinal(1)),
    ("FIRST", Token::Ordinal(1)),
    ("THIRD", Token::Ordinal(3)),
    ("FOURTH", Token::Ordinal(4)),
    ("FIFTH", Token::Ordinal(5)),
    ("SIXTH", Token::Ordinal(6)),
    ("SEVENTH", Token::Ordinal(7)),
    ("EIGHTH", Token::Ordinal(8)),
    ("NINTH", Token::Ordinal(9)),
    ("TENTH", Token::Ordinal(10)),
    ("ELEVENTH", Token::Ordinal(11)),
    ("TWELFTH", Token::Ordinal(12)),
    ("AGO", Token::Ago),
];

/// The abbreviations that the zone in use goes by about now, and whether each is one of daylight-saving time.
pub(super) struct LocalNames(Vec<(String, bool)>);

impl LocalNames {
    /// Asks the zone for its abbreviation now and each quarter of a year from now on.
    pub(super) fn new(now: Timestamp, zone: &Zone) -> Self {
        const QUARTER: i64 = 90 * 86_400;
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

    /// The token for that abbreviation, if the zone goes by it.
    fn token(&self, word: &str) -> Option<Token> {
        let mut of_name = self.0.iter().filter(|(name, _)| name == word);
        let summer = of_name.next()?.1;
        let same = of_name.all(|(_, other)| *other == summer);
        Some(Token::LocalZone(same.then_some(summer)))
    }
}

/// What a word means; none if nothing. It has letters and periods, a letter first.
pub(super) fn meaning(word: &[u8], local: &LocalNames) -> Option<Token> {
    let word = String::from_utf8_lossy(word).to_ascii_uppercase();
    half(&word)
        .or_else(|| calendar(&word))
        .or_else(|| zone(&word, local))
        .or_else(|| (word == "DST").then_some(Token::Summer))
        .or_else(|| unit(&word))
        .or_else(|| pick(OTHERS, &word))
        .or_else(|| military(&word))
        .or_else(|| zone(&without_periods(&word)?, local))
}

fn pick<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    let (_, found) = table.iter().find(|(name, _)| *name == word)?;
    Some(*found)
}

fn half(word: &str) -> Option<Token> {
    match word {
        "AM" | "A.M." => Some(Token::Afternoon(false)),
        "PM" | "P.M." => Some(Token::Afternoon(true)),
        _ => None,
    }
}

/// A month or a day of the week: in full, or three letters, perhaps with a period.
fn calendar(word: &str) -> Option<Token> {
    let short = match word {
        "SEPT" => "SEP",
        "TUES" => "TUE",
        "WEDNES" => "WED",
        "THUR" | "THURS" => "THU",
        _ if word.len() == 4 => word.strip_suffix('.').unwrap_or(word),
        _ => word,
    };
    let position = |names: &[&str]| {
        let at = names
            .iter()
            .position(|name| *name == word || name[..3] == *short)?;
        i64::try_from(at).ok()
    };
    match position(&MONTHS) {
        Some(month) => Some(Token::Month(month + 1)),
        None => position(&WEEKDAYS).map(Token::Weekday),
    }
}

/// A zone: UTC, one that is in use here, or one of the tables. Those of the tables are ambiguous in the world, so what
/// is in use here goes first.
fn zone(word: &str, local: &LocalNames) -> Option<Token> {
    if matches!(word, "UTC" | "UT" | "GMT") {
        return Some(Token::Zone(0));
    }
    local
        .token(word)
        .or_else(|| pick(ZONES, word).map(|minutes| Token::Zone(minutes * 60)))
        .or_else(|| pick(SUMMER_ZONES, word).map(|minutes| Token::SummerZone(minutes * 60)))
}

/// A unit of time, in the plural or not.
fn unit(word: &str) -> Option<Token> {
    let singular = word.strip_suffix('S').unwrap_or(word);
    let of = |word| UNITS.iter().find(|(name, ..)| *name == word);
    let (_, unit, times) = of(word).or_else(|| of(singular))?;
    Some(Token::Unit(*unit, *times))
}

/// A zone of the military: a letter that is no J.
fn military(word: &str) -> Option<Token> {
    let &[letter] = word.as_bytes() else {
        return None;
    };
    let hours = match letter {
        b'T' => return Some(Token::T),
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'K') + 10,
        b'N'..=b'Y' => -i64::from(letter - b'N') - 1,
        b'Z' => 0,
        _ => return None,
    };
    Some(Token::Zone(hours * 3600))
}

/// The word without its periods, if it has any.
fn without_periods(word: &str) -> Option<String> {
    word.contains('.').then(|| word.replace('.', ""))
}
