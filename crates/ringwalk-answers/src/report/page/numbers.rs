//! Sizes, shares and dates as text.

use ringwalk_gnu::civil::{DAY, HOUR, date};
use ringwalk_snapshot::Moment;
use ringwalk_text::SizeFormat;

/// Returns a growth with its sign.
pub(super) fn growth(bytes: i64, sizes: SizeFormat) -> String {
    sizes.growth(bytes).replace('-', "−")
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
    fn growth_has_a_sign() {
        assert_eq!(growth(-2048, SizeFormat::Human), "−2.0K");
        assert_eq!(growth(-2048, SizeFormat::Bytes), "−2048");
        assert_eq!(
            [0, 1].map(|bytes| growth(bytes, SizeFormat::Si)),
            ["0", "+1"]
        );
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
