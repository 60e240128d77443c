use super::*;

#[test]
fn the_ends_of_the_range() {
    for (secs, expected) in [
        (i64::MIN, (i64::MIN, true)),
        (-9_223_372_037, (i64::MIN, true)),
        (9_223_372_037, (i64::MAX, true)),
        (-1, (-999_999_999, false)),
        (1, (1_000_000_001, false)),
    ] {
        assert_eq!(clamp(Timestamp { secs, nanos: 1 }), expected);
    }
}

#[test]
fn there_and_back() {
    for nanoseconds in [i64::MIN, -1, 0, 1, i64::MAX] {
        assert_eq!(clamp(timestamp(nanoseconds)), (nanoseconds, false));
    }
}
