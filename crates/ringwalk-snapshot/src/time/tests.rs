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
