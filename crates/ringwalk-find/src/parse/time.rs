//! Ages, converted to moments.
//!
//! The limits are the same as in GNU find. They were found by experiment, with a clock that stood
//! still. `N` is after the earlier moment and up to the later one. `+N` is strictly before, `-N`
//! strictly after. For units of days `-N` reaches one second further back.

use super::Refusal;
use super::number::{Sign, real, sign};
use super::words::{invalid, plain};
use crate::expression::Span;
use ringwalk::Timestamp;
use ringwalk_gnu::civil::{DAY, NANOS_PER_SECOND};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Seconds further from now than all moments that can be represented.
const BEYOND: f64 = 9.2e18;

const EARLIEST: Timestamp = Timestamp {
    secs: i64::MIN,
    nanos: 0,
};

const LATEST: Timestamp = Timestamp {
    secs: i64::MAX,
    nanos: NANOS_PER_SECOND - 1,
};

/// The unit of an age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgeUnit {
    Day,
    Minute,
}

impl AgeUnit {
    fn seconds(self) -> i64 {
        match self {
            Self::Day => DAY,
            Self::Minute => 60,
        }
    }
}

/// The reason why a text is no age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The text is no number.
    NoNumber,
    /// The text is `nan`.
    NotANumber,
    /// The moment is later than all times. Ages beyond the earliest time are allowed.
    TooLate(AgeUnit),
}

impl Wrong {
    /// Returns the message about the argument of the word `name`.
    pub(super) fn refusal(self, argument: &OsStr, name: &OsStr) -> Refusal {
        let number = plain(OsStr::from_bytes(sign(argument.as_bytes()).1));
        match self {
            Self::NoNumber => invalid(argument, name),
            Self::NotANumber => {
                Refusal::wrong(format!("invalid not-a-number argument: `{number}'"))
            }
            Self::TooLate(unit) => Refusal::wrong(format!(
                "arithmetic overflow while converting {number} {} to a number of seconds",
                match unit {
                    AgeUnit::Day => "days",
                    AgeUnit::Minute => "minutes",
                }
            )),
        }
    }
}

/// Returns the span of `+N`, `-N` or `N` units before `origin`.
pub(super) fn age(text: &[u8], unit: AgeUnit, origin: Timestamp) -> Result<Span, Wrong> {
    let (sign, number) = sign(text);
    let seconds = unit.seconds();
    let moment = earlier(origin, units(number, unit)?);
    let later = |by: i64| later(moment, by);
    Ok(match (sign, unit) {
        (Sign::More, AgeUnit::Day) => Span::Before(later(-seconds)),
        (Sign::More, AgeUnit::Minute) => Span::Before(moment),
        (Sign::Less, AgeUnit::Day) => Span::After(later(-1)),
        (Sign::Less, AgeUnit::Minute) => Span::After(moment),
        (Sign::Exactly, AgeUnit::Day) => Span::Within(later(-seconds), moment),
        (Sign::Exactly, AgeUnit::Minute) => Span::Within(moment, later(seconds)),
    })
}

/// Returns the span of `-used`: a number of days, as a moment that long after 1970 began.
pub(super) fn lapse(text: &[u8]) -> Result<Span, Wrong> {
    let (sign, number) = sign(text);
    let day = AgeUnit::Day.seconds();
    let moment = earlier(Timestamp::default(), -units(number, AgeUnit::Day)?);
    Ok(match sign {
        Sign::More => Span::After(moment),
        Sign::Less => Span::Before(moment),
        // A span of days includes its beginning, but not its end.
        Sign::Exactly => Span::Within(just_before(later(moment, -day)), just_before(moment)),
    })
}

/// Returns the seconds in a number of units.
fn units(number: &[u8], unit: AgeUnit) -> Result<f64, Wrong> {
    #[expect(clippy::cast_precision_loss, reason = "a day at most")]
    let unit_seconds = unit.seconds() as f64;
    let seconds = real(number).ok_or(Wrong::NoNumber)? * unit_seconds;
    if seconds.is_nan() {
        return Err(Wrong::NotANumber);
    }
    if seconds < -BEYOND {
        return Err(Wrong::TooLate(unit));
    }
    Ok(seconds)
}

/// Returns the moment a nanosecond before.
fn just_before(moment: Timestamp) -> Timestamp {
    match moment.nanos.checked_sub(1) {
        Some(nanos) => Timestamp { nanos, ..moment },
        None => Timestamp {
            secs: moment.secs.saturating_sub(1),
            nanos: NANOS_PER_SECOND - 1,
        },
    }
}

/// Returns the moment so many seconds before `origin`. The fraction of the difference of
/// nanoseconds is dropped, towards 0, as in GNU find. A moment beyond all times is the first or the
/// last.
fn earlier(origin: Timestamp, seconds: f64) -> Timestamp {
    if seconds > BEYOND {
        return EARLIEST;
    }
    if seconds < -BEYOND {
        return LATEST;
    }
    let whole = seconds.floor();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers within the bounds of the type, and a fraction to be dropped"
    )]
    let (whole, nanos) = (
        whole as i64,
        (f64::from(origin.nanos) - (seconds - whole) * 1e9) as i64,
    );
    let secs = origin.secs.saturating_sub(whole);
    Timestamp {
        secs: secs.saturating_add(nanos.div_euclid(i64::from(NANOS_PER_SECOND))),
        nanos: u32::try_from(nanos.rem_euclid(i64::from(NANOS_PER_SECOND))).unwrap_or(0),
    }
}

fn later(moment: Timestamp, seconds: i64) -> Timestamp {
    if moment == EARLIEST || moment == LATEST {
        return moment;
    }
    Timestamp {
        secs: moment.secs.saturating_add(seconds),
        ..moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp {
        secs: 1_700_000_000,
        nanos: 500_000_000,
    };

    fn before_now(secs: i64, nanos: u32) -> Timestamp {
        Timestamp {
            secs: NOW.secs + secs,
            nanos,
        }
    }

    #[test]
    fn days() {
        let at = |secs| before_now(secs, 500_000_000);
        for (text, span) in [
            ("1", Span::Within(at(-172_800), at(-86_400))),
            ("+1", Span::Before(at(-172_800))),
            ("-1", Span::After(at(-86_401))),
            ("0", Span::Within(at(-86_400), at(0))),
            ("1.5", Span::Within(at(-216_000), at(-129_600))),
            ("-1.5", Span::After(at(-129_601))),
            ("+-1", Span::Before(at(0))),
            ("--1", Span::After(at(86_399))),
        ] {
            assert_eq!(age(text.as_bytes(), AgeUnit::Day, NOW), Ok(span), "{text}");
        }
    }

    #[test]
    fn minutes() {
        let at = |secs| before_now(secs, 500_000_000);
        for (text, span) in [
            ("1", Span::Within(at(-60), at(0))),
            ("+1", Span::Before(at(-60))),
            ("-1", Span::After(at(-60))),
            ("0", Span::Within(at(0), at(60))),
            ("0.5", Span::Within(at(-30), at(30))),
        ] {
            assert_eq!(
                age(text.as_bytes(), AgeUnit::Minute, NOW),
                Ok(span),
                "{text}"
            );
        }
    }

    /// Found with GNU find.
    #[test]
    fn fractions_of_nanoseconds() {
        for (text, unit, secs, nanos) in [
            ("+0.0000000001", AgeUnit::Day, -86_400, 499_991_360),
            ("+0.1", AgeUnit::Day, -95_040, 500_000_000),
            ("+0.7", AgeUnit::Day, -146_880, 500_000_001),
            ("+1.00000000001", AgeUnit::Minute, -60, 499_999_999),
            ("+1.00000000003", AgeUnit::Minute, -60, 499_999_998),
        ] {
            let span = Span::Before(before_now(secs, nanos));
            assert_eq!(age(text.as_bytes(), unit, NOW), Ok(span), "{text}");
        }
    }

    #[test]
    fn beyond_all_times() {
        assert_eq!(
            age(b"inf", AgeUnit::Day, NOW),
            Ok(Span::Within(EARLIEST, EARLIEST))
        );
        assert_eq!(age(b"+1e20", AgeUnit::Day, NOW), Ok(Span::Before(EARLIEST)));
        for text in ["nan", "-NaN", "+nan(1)"] {
            let refused = Err(Wrong::NotANumber);
            assert_eq!(age(text.as_bytes(), AgeUnit::Day, NOW), refused, "{text}");
            assert_eq!(lapse(text.as_bytes()), refused, "{text}");
        }
        for text in ["+-1e300", "--1e18", "--inf"] {
            let too_late = Err(Wrong::TooLate(AgeUnit::Minute));
            assert_eq!(
                age(text.as_bytes(), AgeUnit::Minute, NOW),
                too_late,
                "{text}"
            );
        }
    }

    #[test]
    fn lapses() {
        let days = |secs| Timestamp { secs, nanos: 0 };
        let almost = |secs| just_before(days(secs));
        for (text, span) in [
            ("1", Span::Within(almost(0), almost(86_400))),
            ("+1.5", Span::After(days(129_600))),
            ("-2", Span::Before(days(172_800))),
        ] {
            assert_eq!(lapse(text.as_bytes()), Ok(span), "{text}");
        }
    }
}
