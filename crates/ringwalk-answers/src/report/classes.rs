//! Classes of ages and sizes.

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 24 * 60 * 60 * SECOND;
const DAYS: [i64; 7] = [1, 7, 30, 90, 365, 2 * 365, 5 * 365];

/// The time since the last change of a file's contents, when its snapshot began.
///
/// A class holds the ages that no earlier class holds. A month has 30 days, three months have 90
/// days, and a year has 365 days. A file that changed between the begin and the end of the snapshot
/// is in the first class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AgeClass {
    /// Less than a day.
    Day,
    /// Less than 7 days.
    Week,
    /// Less than 30 days.
    Month,
    /// Less than 90 days.
    Quarter,
    /// Less than 365 days.
    Year,
    /// Less than 2 years.
    TwoYears,
    /// Less than 5 years.
    FiveYears,
    /// 5 years or more.
    Older,
    /// The time lies behind the end of the snapshot.
    Future,
    /// The time is not known.
    Unknown,
}

impl AgeClass {
    /// All classes, youngest first.
    pub const ALL: [Self; 10] = [
        Self::Day,
        Self::Week,
        Self::Month,
        Self::Quarter,
        Self::Year,
        Self::TwoYears,
        Self::FiveYears,
        Self::Older,
        Self::Future,
        Self::Unknown,
    ];

    /// Returns the class of a time, for a snapshot from `start` to `end`. All are nanoseconds since
    /// 1970.
    pub fn of(mtime: Option<i64>, start: i64, end: i64) -> Self {
        match mtime {
            None => Self::Unknown,
            Some(mtime) if mtime > end.max(start) => Self::Future,
            Some(mtime) => Self::of_age(start.saturating_sub(mtime)),
        }
    }

    fn of_age(age: i64) -> Self {
        let class = DAYS.iter().take_while(|days| age >= **days * DAY).count();
        Self::ALL[class]
    }

    /// Returns the text for tables and files.
    pub fn label(self) -> &'static str {
        match self {
            Self::Day => "< 1 day",
            Self::Week => "< 1 week",
            Self::Month => "< 1 month",
            Self::Quarter => "< 3 months",
            Self::Year => "< 1 year",
            Self::TwoYears => "< 2 years",
            Self::FiveYears => "< 5 years",
            Self::Older => "older",
            Self::Future => "in the future",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the text for the heads of columns.
    pub fn short(self) -> &'static str {
        match self {
            Self::Day => "<1d",
            Self::Week => "<1w",
            Self::Month => "<1m",
            Self::Quarter => "<3m",
            Self::Year => "<1y",
            Self::TwoYears => "<2y",
            Self::FiveYears => "<5y",
            Self::Older => "older",
            Self::Future => "future",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the least age in days. `None` for times in the future and unknown ones.
    pub fn least_days(self) -> Option<i64> {
        let at = self as usize;
        match at.checked_sub(1) {
            None => Some(0),
            Some(before) => DAYS.get(before).copied(),
        }
    }
}

/// The apparent size of a file.
///
/// A class holds the sizes that no smaller class holds. Its limit is a power of 16: 2 to the power
/// of 12, 16, 20, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SizeClass {
    /// No bytes.
    Empty,
    /// Less than 4 KiB.
    Under4K,
    /// Less than 64 KiB.
    Under64K,
    /// Less than 1 MiB.
    Under1M,
    /// Less than 16 MiB.
    Under16M,
    /// Less than 256 MiB.
    Under256M,
    /// Less than 4 GiB.
    Under4G,
    /// Less than 64 GiB.
    Under64G,
    /// Less than 1 TiB.
    Under1T,
    /// 1 TiB or more.
    Larger,
    /// The size is not known.
    Unknown,
}

impl SizeClass {
    /// All classes, smallest first.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::Under4K,
        Self::Under64K,
        Self::Under1M,
        Self::Under16M,
        Self::Under256M,
        Self::Under4G,
        Self::Under64G,
        Self::Under1T,
        Self::Larger,
        Self::Unknown,
    ];

    /// Returns the class of a size in bytes.
    pub fn of(size: Option<u64>) -> Self {
        let Some(size) = size else {
            return Self::Unknown;
        };
        if size == 0 {
            return Self::Empty;
        }
        // 1 for the sizes below 2 to the power of 12, one more for each power of 16 from there.
        let bits = u64::BITS - size.leading_zeros();
        let class = bits.saturating_sub(9) / 4 + 1;
        Self::ALL[(class as usize).min(Self::Larger as usize)]
    }

    /// Returns the text for tables and files.
    pub fn label(self) -> &'static str {
        match self {
            Self::Empty => "0",
            Self::Under4K => "< 4K",
            Self::Under64K => "< 64K",
            Self::Under1M => "< 1M",
            Self::Under16M => "< 16M",
            Self::Under256M => "< 256M",
            Self::Under4G => "< 4G",
            Self::Under64G => "< 64G",
            Self::Under1T => "< 1T",
            Self::Larger => "1T and more",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the text for the heads of columns.
    pub fn short(self) -> &'static str {
        match self {
            Self::Empty => "0",
            Self::Under4K => "<4K",
            Self::Under64K => "<64K",
            Self::Under1M => "<1M",
            Self::Under16M => "<16M",
            Self::Under256M => "<256M",
            Self::Under4G => "<4G",
            Self::Under64G => "<64G",
            Self::Under1T => "<1T",
            Self::Larger => ">=1T",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the least size in bytes. `None` for unknown sizes.
    pub fn least_bytes(self) -> Option<i64> {
        match self {
            Self::Empty => Some(0),
            Self::Under4K => Some(1),
            Self::Unknown => None,
            larger => Some(1 << (12 + 4 * (larger as usize - Self::Under64K as usize))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_700_000_000 * SECOND;

    fn age(days: i64, nanoseconds: i64) -> AgeClass {
        AgeClass::of(
            Some(START - days * DAY - nanoseconds),
            START,
            START + SECOND,
        )
    }

    #[test]
    fn each_age_class_begins_where_the_one_before_ends() {
        for class in AgeClass::ALL {
            let Some(days) = class.least_days() else {
                continue;
            };
            assert_eq!(age(days, 0), class);
            assert_eq!(age(days, 1), class);
            if days > 0 {
                assert_eq!(age(days, -1) as usize, class as usize - 1);
            }
        }
        assert_eq!(age(5 * 365, 0), AgeClass::Older);
    }

    #[test]
    fn only_times_behind_the_end_are_in_the_future() {
        let of = |mtime| AgeClass::of(Some(mtime), START, START + SECOND);
        assert_eq!(of(START), AgeClass::Day);
        assert_eq!(of(START + SECOND), AgeClass::Day);
        assert_eq!(of(START + SECOND + 1), AgeClass::Future);
        assert_eq!(of(i64::MAX), AgeClass::Future);
        assert_eq!(of(i64::MIN), AgeClass::Older);
        assert_eq!(AgeClass::of(None, START, START), AgeClass::Unknown);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_future() {
        assert_eq!(AgeClass::of(Some(START), START, START - DAY), AgeClass::Day);
    }

    #[test]
    fn each_size_class_begins_where_the_one_before_ends() {
        for class in SizeClass::ALL {
            let Some(least) = class.least_bytes() else {
                continue;
            };
            let least = u64::try_from(least).unwrap();
            assert_eq!(SizeClass::of(Some(least)), class, "{least}");
            if least > 0 {
                let before = SizeClass::of(Some(least - 1));
                assert_eq!(before as usize, class as usize - 1, "{least}");
            }
        }
        assert_eq!(SizeClass::of(Some(u64::MAX)), SizeClass::Larger);
        assert_eq!(SizeClass::of(None), SizeClass::Unknown);
    }

    #[test]
    fn labels_name_the_limits() {
        assert_eq!(SizeClass::of(Some(4095)).label(), "< 4K");
        assert_eq!(SizeClass::of(Some(4096)).label(), "< 64K");
        assert_eq!(SizeClass::of(Some((1 << 40) - 1)).label(), "< 1T");
        assert_eq!(SizeClass::of(Some(1 << 40)).label(), "1T and more");
        assert_eq!(age(29, 0).label(), "< 1 month");
        assert_eq!(age(89, 0).label(), "< 3 months");
    }
}
