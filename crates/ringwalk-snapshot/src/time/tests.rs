use super::*;

#[test]
fn the_ends_of_the_range() {
    for (secs, expected) in [
        (i64::MIN, (-LAST, true)),
        (-9_223_372_037, (-LAST, true)),
        (-9_223_372_036, (-LAST + 1, false)),
        (9_223_372_035, (LAST - 999_999_999, false)),
        (9_223_372_036, (LAST, true)),
        (i64::MAX, (LAST, true)),
        (-1, (-999_999_999, false)),
        (1, (1_000_000_001, false)),
    ] {
        assert_eq!(clamp(Timestamp { secs, nanos: 1 }), expected);
    }
}

#[test]
fn there_and_back() {
    for nanoseconds in [-LAST, -1, 0, 1, LAST] {
        assert_eq!(clamp(timestamp(nanoseconds)), (nanoseconds, false));
    }
}

/// A damaged file can have any number.
#[test]
fn times_that_were_clamped() {
    for (nanoseconds, secs) in [(LAST, 9_223_372_037), (-LAST, -9_223_372_037)] {
        let time = unclamp(nanoseconds, true);
        assert_eq!((time.secs, clamp(time)), (secs, (nanoseconds, true)));
        assert_eq!(unclamp(nanoseconds, false), timestamp(nanoseconds));
    }
    for nanoseconds in [i64::MIN, 0, i64::MAX] {
        assert_eq!(unclamp(nanoseconds, true), timestamp(nanoseconds));
    }
}

/// The expectations are from `date -u -d @SECONDS`.
#[test]
fn times_are_dates_of_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00"),
        (-1, "1969-12-31T23:59:59"),
        (951_782_400, "2000-02-29T00:00:00"),
        (951_868_800, "2000-03-01T00:00:00"),
        (4_107_542_399, "2100-02-28T23:59:59"),
        (4_107_542_400, "2100-03-01T00:00:00"),
        (1_767_225_599, "2025-12-31T23:59:59"),
        (-2_208_988_800, "1900-01-01T00:00:00"),
    ] {
        let time = Timestamp {
            secs: seconds,
            nanos: 0,
        };
        assert_eq!(rfc3339(time), format!("{expected}.000000000Z"));
    }
    let text = |nanoseconds| rfc3339(timestamp(nanoseconds));
    assert_eq!(text(-1), "1969-12-31T23:59:59.999999999Z");
    assert_eq!(text(i64::MAX), "2262-04-11T23:47:16.854775807Z");
    assert_eq!(text(i64::MIN), "1677-09-21T00:12:43.145224192Z");
}
