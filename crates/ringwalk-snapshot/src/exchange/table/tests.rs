use super::*;

fn time(nanoseconds: i64) -> String {
    let mut out = Vec::new();
    push_time(nanoseconds, &mut out);
    String::from_utf8(out).unwrap()
}

/// The expectations are those of `date -u -d @SECONDS`.
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
        assert_eq!(
            time(seconds * 1_000_000_000),
            format!("{expected}.000000000Z")
        );
    }
    assert_eq!(time(-1), "1969-12-31T23:59:59.999999999Z");
    assert_eq!(time(i64::MAX), "2262-04-11T23:47:16.854775807Z");
    assert_eq!(time(i64::MIN), "1677-09-21T00:12:43.145224192Z");
}
