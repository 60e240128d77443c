//! Times of files as nanoseconds in 64 bits, and as text.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{DAY, HOUR, date};

/// The last time of the range; the first one is as far before 1970. The range ends with a whole
/// second, because readers of Parquet files take the ends of 64 bits for something else: `DuckDB`
/// for infinity, pandas for a time that is not known.
const LAST: i64 = 9_223_372_036 * 1_000_000_000;

/// Returns nanoseconds since 1970-01-01 00:00 UTC. Times before 1677-09-21 and after 2262-04-11 do
/// not fit: then the result is the nearer end of that range, with true.
pub fn clamp(time: Timestamp) -> (i64, bool) {
    let nanoseconds = i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos);
    match i64::try_from(nanoseconds) {
        Ok(nanoseconds) if (-LAST..=LAST).contains(&nanoseconds) => (nanoseconds, false),
        _ if nanoseconds < 0 => (-LAST, true),
        _ => (LAST, true),
    }
}

/// Returns a time from which [`clamp`] makes these nanoseconds. `is_clamped` says whether a time of
/// the file was clamped.
pub(crate) fn unclamp(nanoseconds: i64, is_clamped: bool) -> Timestamp {
    let mut time = timestamp(nanoseconds);
    // Any time beyond the end is clamped to the same nanoseconds.
    if is_clamped && nanoseconds.unsigned_abs() == LAST.unsigned_abs() {
        time.secs += nanoseconds.signum();
    }
    time
}

/// Returns the time of nanoseconds since 1970-01-01 00:00 UTC.
pub fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp {
        secs: nanoseconds.div_euclid(1_000_000_000),
        // Less than a second.
        nanos: u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or_default(),
    }
}

/// Returns a time as `2026-11-23T02:21:01.123456789Z` (RFC 3339).
pub fn rfc3339(time: Timestamp) -> String {
    let (year, month, day) = date(time.secs.div_euclid(DAY));
    let clock = time.secs.rem_euclid(DAY);
    let (hour, minute, second) = (clock / HOUR, clock / 60 % 60, clock % 60);
    let nanos = time.nanos;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

#[cfg(test)]
mod tests {
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

    /// A damaged file can have any number.
    #[test]
    fn times_that_were_clamped() {
        for (nanoseconds, secs) in [(LAST, 9_223_372_037), (-LAST, -9_223_372_037)] {
            let time = unclamp(nanoseconds, true);
            assert_eq!((time.secs, clamp(time)), (secs, (nanoseconds, true)));
            assert_eq!(unclamp(nanoseconds, false), timestamp(nanoseconds));
        }
        for nanoseconds in [i64::MIN, 0, i64::MAX] {
            assert_eq!(unclamp(nanoseconds, true), timestamp(nanoseconds));
        }
    }

    /// The expectations are from `date -u -d @SECONDS`.
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
            let time = Timestamp {
                secs: seconds,
                nanos: 0,
            };
            assert_eq!(rfc3339(time), format!("{expected}.000000000Z"));
        }
        let text = |nanoseconds| rfc3339(timestamp(nanoseconds));
        assert_eq!(text(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(text(i64::MAX), "2262-04-11T23:47:16.854775807Z");
        assert_eq!(text(i64::MIN), "1677-09-21T00:12:43.145224192Z");
    }
}
