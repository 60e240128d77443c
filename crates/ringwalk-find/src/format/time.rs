//! Times in local time, in the forms of `-printf` and `-ls`.
//!
//! GNU find gives single letters to the C library's strftime. Unlike the one of du and ls, it does
//! not pad years, and knows no `%N` and no `%q`. Seconds have a fraction of ten digits:
//! nanoseconds, and a zero.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{Civil, DAY, HOUR, NANOS_PER_SECOND, Zone};
use ringwalk_gnu::strftime;
use std::io::Write as _;
use std::sync::OnceLock;

/// Returns the zone of the environment, which is read on first use.
fn zone() -> &'static Zone {
    static ZONE: OnceLock<Zone> = OnceLock::new();
    ZONE.get_or_init(Zone::from_environment)
}

/// Appends `%Ak` and the like, for any `k`.
pub(super) fn by_letter(letter: u8, time: Timestamp, out: &mut Vec<u8>) {
    if letter == b'@' {
        return seconds(time, true, out);
    }
    match Civil::new(time, zone()) {
        Some(civil) => conversion(letter, &civil, out),
        // The year does not fit in C's type.
        None => seconds(time, matches!(letter, b'+' | b'S' | b'T' | b'X'), out),
    }
}

/// `%a`, `%c`, `%t`.
pub(super) fn ctime(time: Timestamp, out: &mut Vec<u8>) {
    let Some(civil) = Civil::new(time, zone()) else {
        return seconds(time, true, out);
    };
    strftime::format(b"%a %b %e %H:%M:%S", &civil, out);
    fraction(time.nanos, out);
    append(out, format_args!(" {:04}", civil.year));
}

/// Appends the date of `-ls` at `now`, in seconds since 1970. It has the time of day if it is less
/// than six months (of 30 days) back and at most an hour ahead, or else the year.
pub(super) fn of_ls(time: Timestamp, now: i64, out: &mut Vec<u8>) {
    const PAST: i64 = 6 * 30 * DAY;
    const AHEAD: i64 = HOUR;
    let Some(civil) = Civil::new(time, zone()) else {
        return seconds(time, false, out);
    };
    if time.secs < now.saturating_sub(PAST) || time.secs > now.saturating_add(AHEAD) {
        strftime::format(b"%b %e  ", &civil, out);
        append(out, format_args!("{}", civil.year));
    } else {
        strftime::format(b"%b %e %H:%M", &civil, out);
    }
}

/// Appends seconds since 1970, with nanoseconds if they are wanted.
fn seconds(time: Timestamp, with_nanos: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(time.secs).as_bytes());
    if with_nanos {
        fraction(time.nanos, out);
    }
}

fn fraction(nanos: u32, out: &mut Vec<u8>) {
    // A digit in front keeps the leading zeros.
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(NANOS_PER_SECOND + nanos);
    out.push(b'.');
    out.extend_from_slice(&digits.as_bytes()[1..]);
    out.push(b'0');
}

fn conversion(letter: u8, civil: &Civil, out: &mut Vec<u8>) {
    match letter {
        b'+' => {
            append(out, format_args!("{}", civil.year));
            strftime::format(b"-%m-%d+%H:%M:%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'S' => {
            strftime::format(b"%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'T' | b'X' => {
            strftime::format(b"%H:%M:%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'C' => append(out, format_args!("{}", civil.year.div_euclid(100))),
        b'Y' => append(out, format_args!("{}", civil.year)),
        b'y' => append(out, format_args!("{:02}", civil.year.rem_euclid(100))),
        b'G' => append(out, format_args!("{}", civil.iso_week().0)),
        b'g' => append(
            out,
            format_args!("{:02}", civil.iso_week().0.rem_euclid(100)),
        ),
        b'F' => {
            append(out, format_args!("{}", civil.year));
            strftime::format(b"-%m-%d", civil, out);
        }
        b'c' => {
            strftime::format(b"%a %b %e %H:%M:%S ", civil, out);
            append(out, format_args!("{}", civil.year));
        }
        b'D' | b'x' => {
            strftime::format(b"%m/%d/", civil, out);
            append(out, format_args!("{:02}", civil.year.rem_euclid(100)));
        }
        b'%' => out.push(b'%'),
        b'3'..=b'9' => {
            // A width without a conversion: the two bytes are padded to that width.
            let width = usize::from(letter - b'0');
            out.resize(out.len() + width - 2, b' ');
            out.extend_from_slice(&[b'%', letter]);
        }
        b'A' | b'B' | b'H' | b'I' | b'M' | b'P' | b'R' | b'U' | b'V' | b'W' | b'Z' | b'a'
        | b'b' | b'd' | b'e' | b'h' | b'j' | b'k' | b'l' | b'm' | b'n' | b'p' | b'r' | b's'
        | b't' | b'u' | b'w' | b'z' => strftime::format(&[b'%', letter], civil, out),
        _ => out.extend_from_slice(&[b'%', letter]),
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // A write to memory does not fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
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
}
