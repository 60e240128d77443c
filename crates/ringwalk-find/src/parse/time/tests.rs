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
