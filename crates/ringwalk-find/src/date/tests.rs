use super::{end_of_day, parse};
use ringwalk::Timestamp;
use ringwalk_gnu::civil::{Civil, Zone};
use ringwalk_gnu::strftime;

/// Saturday 21 November 2026, 23:11:47.25 UTC.
const NOW: Timestamp = Timestamp {
    secs: 1_795_302_707,
    nanos: 250_000_000,
};

/// Returns the moment that `text` means, written in the zone, with a fraction if there is one. `-`
/// if none.
fn read(text: &str, zone: &str) -> String {
    let zone = Zone::named(zone);
    let Some(time) = parse(text.as_bytes(), NOW, &zone) else {
        return "-".to_owned();
    };
    let mut out = Vec::new();
    let format: &[u8] = if time.nanos == 0 {
        b"%F %T %z"
    } else {
        b"%F %T.%-N %z"
    };
    strftime::format(format, &Civil::new(time, &zone).unwrap(), &mut out);
    String::from_utf8(out).unwrap()
}

/// Checks that each text, read in `zone`, gives the result beside it.
fn check(zone: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(&read(text, zone), expected, "{text:?} in {zone}");
    }
}

#[test]
fn relative_to_now() {
    check(
        "UTC0",
        &[
            ("", "2026-11-21 00:00:00 +0000"),
            ("now", "2026-11-21 23:11:47.25 +0000"),
            ("today", "2026-11-21 23:11:47.25 +0000"),
            ("yesterday", "2026-11-20 23:11:47.25 +0000"),
            ("- 3 days", "2026-11-18 23:11:47.25 +0000"),
            ("2 months ago", "2026-09-21 23:11:47.25 +0000"),
            ("last year", "2025-11-21 23:11:47.25 +0000"),
            ("fortnight ago", "2026-11-07 23:11:47.25 +0000"),
            ("1.5 sec ago", "2026-11-21 23:11:45.75 +0000"),
            ("-9999 years", "-7973-11-21 23:11:47.25 +0000"),
            ("2147483647 days", "-"),
            ("yesterday ago", "-"),
        ],
    );
}

#[test]
fn days_of_the_week() {
    check(
        "UTC0",
        &[
            ("monday", "2026-11-23 00:00:00 +0000"),
            ("last mon", "2026-11-16 00:00:00 +0000"),
            ("next mon", "2026-11-23 00:00:00 +0000"),
            ("third tuesday", "2026-12-08 00:00:00 +0000"),
            ("sat", "2026-11-21 00:00:00 +0000"),
            ("next sat, 10:00", "-"),
            ("sat, 10:00", "2026-11-21 10:00:00 +0000"),
            ("next sat", "2026-11-28 00:00:00 +0000"),
            ("2020-01-01 mon", "2020-01-01 00:00:00 +0000"),
            ("mon tue", "-"),
        ],
    );
}

#[test]
fn what_lacks_a_year_or_a_date() {
    check(
        "UTC0",
        &[
            ("10:20", "2026-11-21 10:20:00 +0000"),
            ("2020", "2026-11-21 20:20:00 +0000"),
            ("3/4", "2026-03-04 00:00:00 +0000"),
            ("sep 10 10:00 2019", "2019-09-10 10:00:00 +0000"),
            ("2020 10 sep", "2026-09-10 20:20:00 +0000"),
        ],
    );
    // It is Sunday already in Berlin.
    check(
        "Europe/Berlin",
        &[
            ("10:20", "2026-11-22 10:20:00 +0100"),
            ("UTC", "2026-11-22 01:00:00 +0100"),
            ("TZ=\"America/New_York\" 0:00", "2026-11-21 06:00:00 +0100"),
        ],
    );
}

#[test]
fn seconds_since_1970() {
    check(
        "UTC0",
        &[
            ("@1700000000.5", "2023-11-14 22:13:20.5 +0000"),
            (" @ -1,25 (x)", "1969-12-31 23:59:58.75 +0000"),
            ("@-1.0000000001", "1969-12-31 23:59:58.999999999 +0000"),
            ("@5 day", "-"),
            ("@5.", "-"),
            ("@9223372036854775808", "-"),
        ],
    );
    let last = parse(b"@9223372036854775807.75", NOW, &Zone::named("")).unwrap();
    assert_eq!((last.secs, last.nanos), (i64::MAX, 750_000_000));
}

#[test]
fn clocks_that_are_set() {
    check(
        "Europe/Berlin",
        &[
            ("2020-03-29 02:30", "-"),
            ("2020-03-29 02:30 UTC", "2020-03-29 04:30:00 +0200"),
            ("2020-03-28 02:30 1 day", "2020-03-29 03:30:00 +0200"),
            (
                "2020-07-01 02:30 CEST 94 days ago",
                "2020-03-29 01:30:00 +0100",
            ),
            ("2020-10-25 02:30", "2020-10-25 02:30:00 +0100"),
            ("2020-10-25 02:30 CEST", "2020-10-25 02:30:00 +0200"),
            ("2020-10-24 02:30 1 day", "2020-10-25 02:30:00 +0200"),
            ("2020-07-01 CET", "-"),
            // The clock shows winter time now, and is read so.
            ("6 weeks ago", "2026-10-11 01:11:47.25 +0200"),
        ],
    );
    check(
        "EST5EDT,M3.2.0,M11.1.0",
        &[
            ("2020-03-08 02:30", "-"),
            ("2020-11-01 01:30", "2020-11-01 01:30:00 -0400"),
            ("2020-11-01 01:30 EST", "2020-11-01 01:30:00 -0500"),
            ("20000-07-01", "+20000-07-01 00:00:00 -0400"),
        ],
    );
    check(
        "America/Sao_Paulo",
        &[
            ("2018-11-04", "-"),
            ("2018-11-03 1 day", "2018-11-04 01:00:00 -0200"),
            ("2018-02-17 23:30", "2018-02-17 23:30:00 -0200"),
        ],
    );
    check(
        "Asia/Kathmandu",
        &[
            ("2020-01-01 00:15", "2020-01-01 00:15:00 +0545"),
            ("1900-01-01", "1900-01-01 00:00:00 +0541"),
        ],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let zone = Zone::named("");
    for text in [
        &b"\xff"[..],
        b"2020-01-01\xc3\xa4",
        b"\0",
        b"TZ=\"\xff\" \xff",
    ] {
        assert_eq!(parse(text, NOW, &zone), None, "{text:?}");
    }
    let odd = parse(b"TZ=\"\xff\" 2020-01-01", NOW, &zone).unwrap();
    assert_eq!(odd.secs, 1_577_836_800);
}

/// Returns the moment from which `-daystart` measures at `now`, in minutes after the 21st of
/// November 2026 in UTC.
fn end(now: i64, zone: &str) -> i64 {
    const DAY: i64 = 1_795_219_200;
    let now = Timestamp {
        secs: DAY + now * 60,
        nanos: 1,
    };
    let end = end_of_day(now, &Zone::named(zone));
    assert_eq!(end.nanos, 0);
    (end.secs - DAY) / 60
}

/// GNU find at 23:16 UTC in the same zones began the day 24 hours before these.
#[test]
fn days_end() {
    let (now, day) = (23 * 60 + 16, 24 * 60);
    assert_eq!(end(now, "UTC0"), day);
    assert_eq!(end(0, "UTC0"), day);
    assert_eq!(end(-1, "UTC0"), 0);
    assert_eq!(end(now, "Asia/Kathmandu"), 2 * day - 345);
    // Clocks were set forward at 3, at midnight, and will be at 14.
    assert_eq!(end(now, "AAA12BBB11,J325/3,J350/0"), 660 + day);
    assert_eq!(end(now, "AAA12BBB11,J325/0,J350/0"), 660 + day);
    assert_eq!(end(now, "AAA12BBB11,J325/14,J350/0"), 720 + day);
    // They were set back at 3, and will be at 14.
    assert_eq!(end(now, "AAA12BBB11,J300/0,J325/3"), 720 + day);
    assert_eq!(end(now, "AAA12BBB11,J300/0,J325/14"), 660 + day);
}
