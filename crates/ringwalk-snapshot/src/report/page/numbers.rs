//! Sizes, shares and dates as text.

use crate::info::Moment;
use ringwalk_gnu::civil::{DAY, HOUR, date};

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Returns a number of bytes in the unit in which it is below 1024, with one decimal below 100.
pub(super) fn size(bytes: u64) -> String {
    let mut unit = 0;
    while unit < 6 && bytes >> (10 * unit) >= 1024 {
        unit += 1;
    }
    if unit == 0 {
        return format!("{bytes} B");
    }
    let rounded = |number: u128, unit: usize| (number + (1 << (10 * unit) >> 1)) >> (10 * unit);
    let bytes = u128::from(bytes);
    // A rounded 1024 is 1 of the next unit.
    if rounded(bytes, unit) == 1024 {
        unit += 1;
    }
    let tenths = rounded(bytes * 10, unit);
    if tenths < 1000 {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{} {}", rounded(bytes, unit), UNITS[unit])
    }
}

/// Returns a growth with its sign.
pub(super) fn growth(bytes: i64) -> String {
    let sign = match bytes {
        0 => return "0 B".to_owned(),
        1.. => '+',
        _ => '−',
    };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

/// Returns a number with thin spaces between groups of three digits.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Returns a part of a whole in percent, with one decimal.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let whole = u128::from(whole);
    let tenths = (u128::from(part) * 1000 + whole / 2) / whole;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Returns the day of a time in nanoseconds since 1970, in UTC.
pub(super) fn day(nanoseconds: i64) -> String {
    let (year, month, day) = date(nanoseconds.div_euclid(1_000_000_000).div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns a time to the minute, in UTC.
pub(super) fn minute(moment: Moment) -> String {
    let (year, month, day) = date(moment.seconds.div_euclid(DAY));
    let (hour, rest) = (
        moment.seconds.rem_euclid(DAY) / HOUR,
        moment.seconds.rem_euclid(HOUR),
    );
    format!(
        "{year:04}-{month:02}-{day:02} {hour:02}:{:02} UTC",
        rest / 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_fitting_unit() {
        let expected = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (99 * 1024 + 1000, "100 KiB"),
            (1_048_575, "1.0 MiB"),
            (1 << 20, "1.0 MiB"),
            (5_368_709_120, "5.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, text) in expected {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(growth(-2048), "−2.0 KiB");
        assert_eq!(growth(i64::MIN), "−8.0 EiB");
        assert_eq!([growth(0), growth(1)], ["0 B", "+1 B"]);
    }

    #[test]
    fn counts_shares_and_dates() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count).join(" "),
            "0 999 1\u{202f}000 1\u{202f}234\u{202f}567"
        );
        assert_eq!(
            [share(1, 3), share(0, 0), share(u64::MAX, u64::MAX)].join(" "),
            "33.3 % – 100.0 %"
        );
        assert_eq!(day(-1), "1969-12-31");
        let moment = Moment {
            seconds: 1_700_000_000,
            nanoseconds: 0,
        };
        assert_eq!(minute(moment), "2023-11-14 22:13 UTC");
        // Beyond every calendar, but no failure.
        assert!(
            minute(Moment {
                seconds: i64::MAX,
                nanoseconds: 0
            })
            .ends_with("UTC")
        );
    }
}
