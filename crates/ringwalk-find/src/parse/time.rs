//! Ages, reckoned into moments.
//!
//! GNU find 4.9's edges, found by experiment with a clock that stood still: `N` is after the earlier moment and up to the later,
//! `+N` strictly before, `-N` strictly after; and for units of days `-N` reaches one second further back.

use super::number::{Sign, real, sign};
use crate::expression::Span;
use ringwalk::Timestamp;

const BILLION: i64 = 1_000_000_000;

const EARLIEST: Timestamp = Timestamp {
    secs: i64::MIN,
    nanos: 0,
};

const LATEST: Timestamp = Timestamp {
    secs: i64::MAX,
    nanos: 999_999_999,
};

/// What ages are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Minute,
}

impl Unit {
    fn seconds(self) -> i32 {
        match self {
            Self::Day => 86_400,
            Self::Minute => 60,
        }
    }
}

/// `+N`, `-N` or `N` units before `origin`.
pub(super) fn age(text: &[u8], unit: Unit, origin: Timestamp) -> Option<Span> {
    let (sign, number) = sign(text);
    let seconds = unit.seconds();
    let moment = earlier(origin, real(number)? * f64::from(seconds));
    let later = |by: i32| later(moment, by);
    Some(match (sign, unit) {
        (Sign::More, Unit::Day) => Span::Before(later(-seconds)),
        (Sign::More, Unit::Minute) => Span::Before(moment),
        (Sign::Less, Unit::Day) => Span::After(later(-1)),
        (Sign::Less, Unit::Minute) => Span::After(moment),
        (Sign::Exactly, Unit::Day) => Span::Within(later(-seconds), moment),
        (Sign::Exactly, Unit::Minute) => Span::Within(moment, later(seconds)),
    })
}

/// `-used`: so many days, as a moment that long after 1970 began.
pub(super) fn lapse(text: &[u8]) -> Option<Span> {
    let (sign, number) = sign(text);
    let day = Unit::Day.seconds();
    let moment = earlier(Timestamp::default(), -real(number)? * f64::from(day));
    Some(match sign {
        Sign::More => Span::After(moment),
        Sign::Less => Span::Before(moment),
        // Of a span of days its end does not belong to it, and its beginning does.
        Sign::Exactly => Span::Within(just_before(later(moment, -day)), just_before(moment)),
    })
}

/// A nanosecond before.
fn just_before(moment: Timestamp) -> Timestamp {
    match moment.nanos.checked_sub(1) {
        Some(nanos) => Timestamp { nanos, ..moment },
        None => Timestamp {
            secs: moment.secs.saturating_sub(1),
            nanos: 999_999_999,
        },
    }
}

/// So many seconds before a moment. Of the difference of nanoseconds the fraction is dropped, towards 0, which is what GNU find
/// does; and what is beyond all moments is the first or the last.
fn earlier(origin: Timestamp, seconds: f64) -> Timestamp {
    const BEYOND: f64 = 9.2e18;
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
        secs: secs.saturating_add(nanos.div_euclid(BILLION)),
        nanos: u32::try_from(nanos.rem_euclid(BILLION)).unwrap_or(0),
    }
}

fn later(moment: Timestamp, seconds: i32) -> Timestamp {
    if moment == EARLIEST || moment == LATEST {
        return moment;
    }
    Timestamp {
        secs: moment.secs.saturating_add(seconds.into()),
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
            assert_eq!(age(text.as_bytes(), Unit::Day, NOW), Some(span), "{text}");
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
                age(text.as_bytes(), Unit::Minute, NOW),
                Some(span),
                "{text}"
            );
        }
    }

    /// Found with GNU find 4.9.
    #[test]
    fn fractions_of_nanoseconds() {
        for (text, unit, secs, nanos) in [
            ("+0.0000000001", Unit::Day, -86_400, 499_991_360),
            ("+0.1", Unit::Day, -95_040, 500_000_000),
            ("+0.7", Unit::Day, -146_880, 500_000_001),
            ("+1.00000000001", Unit::Minute, -60, 499_999_999),
            ("+1.00000000003", Unit::Minute, -60, 499_999_998),
        ] {
            let span = Span::Before(before_now(secs, nanos));
            assert_eq!(age(text.as_bytes(), unit, NOW), Some(span), "{text}");
        }
    }

    #[test]
    fn beyond_all_times() {
        assert_eq!(
            age(b"inf", Unit::Day, NOW),
            Some(Span::Within(EARLIEST, EARLIEST))
        );
        assert_eq!(age(b"+1e20", Unit::Day, NOW), Some(Span::Before(EARLIEST)));
        assert_eq!(age(b"+-1e300", Unit::Day, NOW), Some(Span::Before(LATEST)));
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
            assert_eq!(lapse(text.as_bytes()), Some(span), "{text}");
        }
    }
}
