//! Numbers, sizes and times as text of a few columns.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The units from 1024 bytes on.
const UNITS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];

/// Returns a number of bytes in at most five columns: `512`, `1.5K`, `12.3M`, `345G`. It is rounded
/// to the nearest.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return bytes.to_string();
    }
    let mut unit = 0;
    let mut scale: u128 = 1024;
    let bytes = u128::from(bytes);
    loop {
        let tenths = (bytes * 10 + scale / 2) / scale;
        // 1023.5K would be 1024K: that is 1.0M.
        let is_next = (bytes + scale / 2) / scale >= 1024 && unit + 1 < UNITS.len();
        if is_next {
            unit += 1;
            scale *= 1024;
            continue;
        }
        return if tenths < 1000 {
            format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
        } else {
            format!("{}{}", (bytes + scale / 2) / scale, UNITS[unit])
        };
    }
}

/// Returns a growth in at most six columns, with its sign.
pub(crate) fn growth(growth: i64) -> String {
    match growth {
        0 => "0".to_owned(),
        1.. => format!("+{}", bytes(growth.unsigned_abs())),
        _ => format!("-{}", bytes(growth.unsigned_abs())),
    }
}

/// Returns a number in at most seven columns: exact up to seven digits.
pub(crate) fn count(count: u64) -> String {
    match count {
        0..10_000_000 => count.to_string(),
        10_000_000..10_000_000_000 => format!("{}M", count / 1_000_000),
        _ => format!("{}G", count / 1_000_000_000),
    }
}

/// Returns a number of entries in words.
pub(crate) fn entries(count: u64) -> String {
    if count == 1 {
        "1 entry".to_owned()
    } else {
        format!("{count} entries")
    }
}

/// Returns a part of a whole in at most six columns: `12.3%`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Returns the date of a time, in ten columns for years of four digits.
pub(crate) fn date(seconds: Option<i64>, zone: &TimeZone) -> String {
    written(seconds, zone, "%Y-%m-%d")
}

/// Returns date and time of day.
pub(crate) fn moment(seconds: Option<i64>, zone: &TimeZone) -> String {
    written(seconds, zone, "%Y-%m-%d %H:%M:%S")
}

fn written(seconds: Option<i64>, zone: &TimeZone, format: &str) -> String {
    let Some(seconds) = seconds else {
        return "?".to_owned();
    };
    match Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(zone.clone()).strftime(format).to_string(),
        // A year outside of the calendar.
        Err(_) if seconds < 0 => "<< -9999".to_owned(),
        Err(_) => ">> 9999".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_five_columns() {
        let cases: [(u64, &str); 10] = [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1536, "1.5K"),
            (102_348, "99.9K"),
            (102_400, "100K"),
            (1_048_063, "1023K"),
            (1_048_064, "1.0M"),
            (u64::MAX, "16.0E"),
            (5 << 40, "5.0T"),
        ];
        for (number, expected) in cases {
            assert_eq!(bytes(number), expected, "{number}");
        }
    }

    #[test]
    fn growth_has_a_sign() {
        assert_eq!(growth(2048), "+2.0K");
        assert_eq!(growth(-2048), "-2.0K");
        assert_eq!(growth(0), "0");
        assert_eq!(growth(i64::MIN), "-8.0E");
    }

    #[test]
    fn counts_are_exact_up_to_seven_digits() {
        assert_eq!(count(9_999_999), "9999999");
        assert_eq!(count(10_000_000), "10M");
        assert_eq!(count(u64::MAX), "18446744073G");
    }

    #[test]
    fn shares() {
        assert_eq!(share(1, 3), "33.3%");
        assert_eq!(share(2, 2), "100.0%");
        assert_eq!(share(0, 0), "");
    }

    #[test]
    fn times() {
        let utc = TimeZone::UTC;
        assert_eq!(date(Some(0), &utc), "1970-01-01");
        assert_eq!(moment(Some(86_399), &utc), "1970-01-01 23:59:59");
        assert_eq!(date(None, &utc), "?");
        assert_eq!(date(Some(i64::MAX), &utc), ">> 9999");
        assert_eq!(date(Some(i64::MIN), &utc), "<< -9999");
    }
}
