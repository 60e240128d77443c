//! Calendar dates and times of day in a time zone.
//!
//! A [`Zone`] is read once, and then gives the distance from UTC at any time. [`Civil::new`] splits
//! a time into year, month, day and so on in a zone, and
//! [`strftime::format`](crate::strftime::format) writes the result. [`days`] is the inverse for
//! dates.
//!
//! ```
//! use ringwalk::Timestamp;
//! use ringwalk_gnu::civil::{Civil, Zone};
//! use ringwalk_gnu::strftime;
//!
//! let time = Timestamp { secs: 1_720_000_000, nanos: 500_000_000 };
//! let civil = Civil::new(time, &Zone::named("Europe/Berlin")).unwrap();
//! assert_eq!((civil.year, civil.month, civil.hour, civil.offset), (2024, 7, 11, 7200));
//! let mut out = Vec::new();
//! strftime::format(b"%F %T.%3N %Z", &civil, &mut out);
//! assert_eq!(out, b"2024-07-03 11:46:40.500 CEST");
//! ```
//!
//! The calendar is computed here because file times go beyond the years -9999 to 9999 of the time
//! zone library.

pub use crate::zone::Zone;

use ringwalk::Timestamp as FileTime;

/// Seconds in an hour.
pub const HOUR: i64 = 3600;
/// Seconds in a day.
pub const DAY: i64 = 24 * HOUR;
/// Seconds in the 146 097 days after which the Gregorian calendar repeats itself.
pub(crate) const CYCLE: i64 = 146_097 * DAY;
/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: u32 = 1_000_000_000;

/// The days of the week in the C locale, Sunday first.
pub const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The months in the C locale.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A time, split by calendar and clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year. 0 is the year before year 1.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
    /// Days since Sunday.
    pub weekday: i64,
    /// Days since the first of January.
    pub yearday: i64,
    /// Seconds east of UTC.
    pub offset: i64,
    /// The zone's abbreviation.
    pub zone: String,
    /// Seconds since 1970.
    pub epoch: i64,
    /// Nanoseconds after that.
    pub nanos: u32,
}

impl Civil {
    /// Splits `time`. None if the year does not fit in C's type.
    pub fn new(time: FileTime, zone: &Zone) -> Option<Self> {
        let offset = zone.offset(time.secs);
        let local = time.secs.checked_add(offset)?;
        let days = local.div_euclid(DAY);
        let clock = local.rem_euclid(DAY);
        let (year, month, day) = date(days);
        // C counts years from 1900 in an int.
        i32::try_from(year - 1900).ok()?;
        Some(Self {
            year,
            month,
            day,
            hour: clock / HOUR,
            minute: clock / 60 % 60,
            second: clock % 60,
            weekday: (days + 4).rem_euclid(7), // 1970 began on a Thursday
            yearday: days - days_before(year),
            offset,
            zone: zone.abbreviation(time.secs),
            epoch: time.secs,
            nanos: time.nanos,
        })
    }

    /// Returns the week of the year by ISO 8601, and the year that the week belongs to.
    pub fn iso_week(&self) -> (i64, i64) {
        // A week belongs to the year that its Thursday is in.
        let thursday = self.yearday + 3 - (self.weekday + 6) % 7;
        if thursday < 0 {
            let before = self.year - 1;
            return (before, (thursday + length(before)) / 7 + 1);
        }
        if thursday >= length(self.year) {
            return (self.year + 1, 1);
        }
        (self.year, thursday / 7 + 1)
    }
}

/// Returns the days from 1970 to a day. The month, from 1, and the day may lie beyond the year and
/// the month. The year must fit in C's `int`.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let before: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    days_before(year) + before + day - 1
}

/// Returns the days in a month, from 1 to 12, of that year.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => length(year) - 337,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days in a year.
fn length(year: i64) -> i64 {
    days_before(year + 1) - days_before(year)
}

/// Returns the days from 1970 to the first of January of `year`.
fn days_before(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) - 719_162
}

/// Returns year, month and day of the month of a day counted from 1970.
///
/// Years begin in March here, so that the leap day is the last one (Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms").
pub fn date(days: i64) -> (i64, i64, i64) {
    // Day 0 becomes 0000-03-01.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(CYCLE / DAY), days.rem_euclid(CYCLE / DAY));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days and so on.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn civil(secs: i64, zone: &str) -> Civil {
        let time = FileTime { secs, nanos: 5 };
        Civil::new(time, &Zone::named(zone)).unwrap()
    }

    fn day(secs: i64) -> (i64, i64, i64) {
        let civil = civil(secs, "UTC0");
        (civil.year, civil.month, civil.day)
    }

    #[test]
    fn calendar() {
        assert_eq!(day(0), (1970, 1, 1));
        assert_eq!(day(-1), (1969, 12, 31));
        assert_eq!(day(951_782_400), (2000, 2, 29));
        assert_eq!(day(1_709_164_800), (2024, 2, 29));
        assert_eq!(day(1_735_603_200), (2024, 12, 31));
        assert_eq!(day(4_107_542_400), (2100, 3, 1));
        assert_eq!(day(-60_000_000_000), (68, 9, 3));
        assert_eq!(day(-100_000_000_000), (-1199, 2, 15));
        assert_eq!(day(99_999_999_999_999), (3_170_843, 11, 7));
    }

    #[test]
    fn every_day_of_a_cycle_follows_the_one_before() {
        let mut before = date(-1);
        for days in 0..=146_097 {
            let now = date(days);
            let follows = now == (before.0, before.1, before.2 + 1)
                || now == (before.0, before.1 + 1, 1) && before.2 >= 28
                || now == (before.0 + 1, 1, 1) && (before.1, before.2) == (12, 31);
            assert!(follows, "{before:?} {now:?}");
            before = now;
        }
        assert_eq!(before, (2370, 1, 1));
    }

    #[test]
    fn days_of_months_beyond_the_year() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2020, 14, 1), days(2021, 2, 1));
        assert_eq!(days(2020, 0, 31), days(2019, 12, 31));
        assert_eq!(days(2021, 2, 29), days(2021, 3, 1));
        for day in (-800_000..800_000).step_by(97) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!((days_in_month(2100, 2), days_in_month(2000, 2)), (28, 29));
    }

    #[test]
    fn weeks() {
        let week = |secs| civil(secs, "UTC0").iso_week();
        assert_eq!(week(1_706_933_106), (2024, 5)); // 3 February 2024
        assert_eq!(week(1_104_537_600), (2004, 53)); // 1 January 2005
        assert_eq!(week(1_230_681_600), (2009, 1)); // 31 December 2008
    }

    #[test]
    fn years_that_do_not_fit() {
        let utc = Zone::named("");
        let at = |secs| Civil::new(FileTime { secs, nanos: 0 }, &utc);
        assert!(at(67_768_036_191_676_799).is_some());
        assert!(at(67_768_036_191_676_800).is_none());
        assert!(at(i64::MAX).is_none());
        assert!(at(i64::MIN).is_none());
    }
}
