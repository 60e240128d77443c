//! Ages, reckoned into moments.
//!
//! GNU find 4.9's edges, found by experiment with a clock that stood still: `N` is after the earlier moment and up to the later,
//! `+N` strictly before, `-N` strictly after; and for units of days `-N` reaches one second further back.

use super::number::{Sign, real, sign};
use crate::expression::Span;
use ringwalk::Timestamp;

/// Seconds in a day.
pub(super) const DAY: f64 = 86_400.0;
/// Seconds in a minute.
pub(super) const MINUTE: f64 = 60.0;

const EARLIEST: Timestamp = Timestamp {
    secs: i64::MIN,
    nanos: 0,
};

/// `+N`, `-N` or `N` units of so many seconds before `origin`.
pub(super) fn age(text: &[u8], unit: f64, origin: Timestamp) -> Option<Span> {
    let (sign, number) = sign(text);
    let number = real(number)?;
    let days = unit >= DAY;
    Some(match sign {
        Sign::More if days => Span::Before(earlier(origin, (number + 1.0) * unit)),
        Sign::More => Span::Before(earlier(origin, number * unit)),
        Sign::Less if days => Span::After(second_before(earlier(origin, number * unit))),
        Sign::Less => Span::After(earlier(origin, number * unit)),
        Sign::Exactly if days => Span::Within(
            earlier(origin, (number + 1.0) * unit),
            earlier(origin, number * unit),
        ),
        Sign::Exactly => Span::Within(
            earlier(origin, number * unit),
            earlier(origin, (number - 1.0) * unit),
        ),
    })
}

/// `-used`: a span of time that lies so many days above 0.
pub(super) fn lapse(text: &[u8]) -> Option<Span> {
    let (sign, number) = sign(text);
    let number = real(number)?;
    let zero = Timestamp::default();
    let days = |count: f64| earlier(zero, -count * DAY);
    Some(match sign {
        Sign::More => Span::After(days(number)),
        Sign::Less => Span::Before(days(number)),
        Sign::Exactly => Span::Within(days(number - 1.0), days(number)),
    })
}

/// So many seconds before a moment; fractions of a nanosecond are dropped, and what is beyond all moments is the first or last.
fn earlier(origin: Timestamp, seconds: f64) -> Timestamp {
    let whole = seconds.trunc();
    // `as` stays within the bounds of the type, which is what is wanted here.
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let (whole, nanos) = (whole as i64, ((seconds - whole) * 1e9) as i64);
    let nanos = if seconds.is_finite() { nanos } else { 0 };
    let nanos = i64::from(origin.nanos) - nanos;
    let (carry, nanos) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    match origin.secs.checked_sub(whole).and_then(|secs| secs.checked_add(carry)) {
        Some(secs) => Timestamp {
            secs,
            nanos: u32::try_from(nanos).unwrap_or(0),
        },
        None if whole > 0 => EARLIEST,
        None => Timestamp {
            secs: i64::MAX,
            nanos: 999_999_999,
        },
    }
}

fn second_before(moment: Timestamp) -> Timestamp {
    Timestamp {
        secs: moment.secs.saturating_sub(1),
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
            assert_eq!(age(text.as_bytes(), DAY, NOW), Some(span), "{text}");
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
            assert_eq!(age(text.as_bytes(), MINUTE, NOW), Some(span), "{text}");
        }
    }

    #[test]
    fn fractions_of_a_nanosecond_are_dropped() {
        assert_eq!(
            age(b"+0.0000000001", DAY, NOW),
            Some(Span::Before(before_now(-86_400, 499_991_360)))
        );
    }

    #[test]
    fn beyond_all_times() {
        let last = Timestamp {
            secs: i64::MAX,
            nanos: 999_999_999,
        };
        assert_eq!(age(b"inf", DAY, NOW), Some(Span::Within(EARLIEST, EARLIEST)));
        assert_eq!(age(b"+1e20", DAY, NOW), Some(Span::Before(EARLIEST)));
        assert_eq!(age(b"+-1e300", DAY, NOW), Some(Span::Before(last)));
    }

    #[test]
    fn lapses() {
        let days = |secs| Timestamp { secs, nanos: 0 };
        for (text, span) in [
            ("1", Span::Within(days(0), days(86_400))),
            ("+1.5", Span::After(days(129_600))),
            ("-2", Span::Before(days(172_800))),
        ] {
            assert_eq!(lapse(text.as_bytes()), Some(span), "{text}");
        }
    }
}
