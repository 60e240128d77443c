//! Times of files as nanoseconds in 64 bits.

use ringwalk::Timestamp;

/// Returns nanoseconds since 1970-01-01 00:00 UTC. Times before 1677-09-21 and after 2262-04-11 do
/// not fit: then the result is the nearer end of that range, with true.
pub fn clamp(time: Timestamp) -> (i64, bool) {
    let nanoseconds = i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos);
    match i64::try_from(nanoseconds) {
        Ok(nanoseconds) => (nanoseconds, false),
        Err(_) if time.secs < 0 => (i64::MIN, true),
        Err(_) => (i64::MAX, true),
    }
}

/// Returns the time of nanoseconds since 1970-01-01 00:00 UTC.
pub fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp {
        secs: nanoseconds.div_euclid(1_000_000_000),
        // Less than a second.
        nanos: u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
