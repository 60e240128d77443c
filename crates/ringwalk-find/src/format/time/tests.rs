use super::*;

fn at(secs: i64, nanos: u32) -> Timestamp {
    Timestamp { secs, nanos }
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn seconds_have_nanoseconds_and_a_zero() {
    let since = |time| written(|out| by_letter(b'@', time, out));
    assert_eq!(
        since(at(1_605_000_000, 123_456_789)),
        "1605000000.1234567890"
    );
    assert_eq!(
        since(at(-2_000_000_001, 999_999_999)),
        "-2000000001.9999999990"
    );
    assert_eq!(since(at(i64::MIN, 1)), "-9223372036854775808.0000000010");
}

#[test]
fn times_beyond_the_calendar_are_seconds() {
    let far = at(i64::MAX, 0);
    assert_eq!(
        written(|out| ctime(far, out)),
        "9223372036854775807.0000000000"
    );
    assert_eq!(
        written(|out| by_letter(b'Y', far, out)),
        "9223372036854775807"
    );
    assert_eq!(
        written(|out| by_letter(b'+', far, out)),
        "9223372036854775807.0000000000"
    );
    assert_eq!(written(|out| of_ls(far, 0, out)), "9223372036854775807");
}

/// 10 November 2020, and what GNU find 4.9 wrote of it in UTC.
#[test]
fn letters() {
    let civil = Civil {
        year: 2020,
        month: 11,
        day: 10,
        hour: 9,
        minute: 20,
        second: 0,
        weekday: 2,
        yearday: 314,
        offset: 0,
        zone: "UTC".to_owned(),
        epoch: 1_605_000_000,
        nanos: 123_456_789,
    };
    let seen = [
        (b'+', "2020-11-10+09:20:00.1234567890"),
        (b'S', "00.1234567890"),
        (b'T', "09:20:00.1234567890"),
        (b'X', "09:20:00.1234567890"),
        (b'c', "Tue Nov 10 09:20:00 2020"),
        (b'r', "09:20:00 AM"),
        (b'D', "11/10/20"),
        (b'F', "2020-11-10"),
        (b'N', "%N"),
        (b'q', "%q"),
        (b'E', "%E"),
        (b'5', "   %5"),
        (b'2', "%2"),
        (b'_', "%_"),
        (b':', "%:"),
        (b'%', "%"),
        (b'Z', "UTC"),
        (b'j', "315"),
    ];
    for (letter, expected) in seen {
        assert_eq!(written(|out| conversion(letter, &civil, out)), expected);
    }
    let mut invalid = Vec::new();
    conversion(0xff, &civil, &mut invalid);
    assert_eq!(invalid, b"%\xff");
    let early = Civil {
        year: -1199,
        ..civil
    };
    for (letter, expected) in [
        (b'C', "-12"),
        (b'y', "01"),
        (b'Y', "-1199"),
        (b'x', "11/10/01"),
    ] {
        assert_eq!(written(|out| conversion(letter, &early, out)), expected);
    }
}

#[test]
fn six_months_and_an_hour() {
    let now = 1_795_302_886;
    let with_clock = |time| written(|out| of_ls(time, now, out)).contains(':');
    assert!(with_clock(at(now, 0)));
    assert!(with_clock(at(now - 15_552_000, 0)));
    assert!(!with_clock(at(now - 15_552_001, 999_999_999)));
    assert!(with_clock(at(now + 3600, 999_999_999)));
    assert!(!with_clock(at(now + 3601, 0)));
}
