//! Timestamps of inodes.

/// A point in time: seconds since the epoch, and nanoseconds after that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub secs: i64,
    /// 0 to 999 999 999. On a damaged file system up to 2^30 - 1, which stat(2) returns as well.
    pub nanos: u32,
}

impl Timestamp {
    /// Decodes the signed seconds that every inode has, and the extra bits: 2 bits of the epoch
    /// below 30 bits of nanoseconds.
    #[inline]
    pub(crate) fn new(seconds: u32, extra: Option<u32>) -> Self {
        let secs = i64::from(seconds.cast_signed());
        match extra {
            None => Self { secs, nanos: 0 },
            Some(extra) => Self {
                secs: secs + (i64::from(extra & 3) << 32),
                nanos: extra >> 2,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_bits_are_epochs_and_nanoseconds() {
        let time = |secs, nanos| Timestamp { secs, nanos };
        let before = (-2_i32).cast_unsigned();
        assert_eq!(Timestamp::new(before, None), time(-2, 0));
        assert_eq!(Timestamp::new(before, Some(5 << 2)), time(-2, 5));
        assert_eq!(Timestamp::new(before, Some(1)), time((1 << 32) - 2, 0));
        assert_eq!(
            Timestamp::new(u32::MAX >> 1, Some(u32::MAX)),
            time((1 << 31) - 1 + (3 << 32), (1 << 30) - 1)
        );
    }
}
