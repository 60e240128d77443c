//! Numbers, sizes and times as text of a few columns.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ringwalk_text::SizeFormat;

/// Returns a number of bytes in at most five columns, as `du -h` writes it.
pub(crate) fn bytes(bytes: u64) -> String {
    SizeFormat::Human.size(bytes)
}

/// Returns a growth in at most six columns, with its sign.
pub(crate) fn growth(growth: i64) -> String {
    SizeFormat::Human.growth(growth)
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
