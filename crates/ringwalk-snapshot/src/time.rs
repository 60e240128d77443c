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
mod tests;
