//! The clock on the wall of a time zone, and the moments that it shows a time.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{self, Civil, Zone};

const DAY: i64 = 86_400;

/// A date and a time of day without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wall {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl Wall {
    /// What the clock shows at that time; none in a year that is none of C's.
    pub(super) fn at(secs: i64, zone: &Zone) -> Option<Self> {
        let civil = Civil::new(Timestamp { secs, nanos: 0 }, zone)?;
        Some(Self {
            year: civil.year,
            month: civil.month,
            day: civil.day,
            hour: civil.hour,
            minute: civil.minute,
            second: civil.second,
        })
    }

    /// Whether the calendar has that day, the day that time, and C that year.
    pub(super) fn is_valid(self) -> bool {
        is_year(self.year)
            && (1..=12).contains(&self.month)
            && (1..=civil::days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second)
    }

    /// Seconds since the clock showed the beginning of 1970. The year has to be one of C's.
    pub(super) fn seconds(self) -> i64 {
        let days = civil::days(self.year, self.month, self.day);
        days * DAY + self.hour * 3600 + self.minute * 60 + self.second
    }

    /// Days since Sunday.
    pub(super) fn weekday(self) -> i64 {
        (civil::days(self.year, self.month, self.day) + 4).rem_euclid(7)
    }

    /// That time of day on this day.
    pub(super) fn with_time_of(self, other: Self) -> Self {
        Self {
            hour: other.hour,
            minute: other.minute,
            second: other.second,
            ..self
        }
    }

    /// The same time of day so much later. What there is no day for goes on into the next month: a month after the 31st
    /// of January is the 2nd or 3rd of March. None where the numbers do not fit in those of C.
    pub(super) fn later(self, years: i64, months: i64, days: i64) -> Option<Self> {
        let year = self.year.checked_add(years)?;
        let month = self.month.checked_add(months)?;
        let day = self.day.checked_add(days)?;
        let fits = is_year(year) && i32::try_from(month - 1).is_ok() && i32::try_from(day).is_ok();
        fits.then_some(())?;
        let utc = Zone::named("UTC0");
        Self::at(
            Self {
                year,
                month,
                day,
                ..self
            }
            .seconds(),
            &utc,
        )
    }
}

/// Whether C can count that year from 1900.
fn is_year(year: i64) -> bool {
    year.checked_sub(1900)
        .is_some_and(|since| i32::try_from(since).is_ok())
}

/// The moment at which the clock in `zone` shows `wall`.
///
/// Where clocks were set back there are two: found is the one to which the correction of the guess leads that it is
/// `guess` seconds east of UTC there, as in the C library's `mktime`, whose first guess in a process is 0. So in the
/// first date of a command line the later one is meant east of Greenwich, the earlier one west of it. Where clocks were
/// set forward there is none, and the moment is given that the clock would have shown it at had it not been set.
///
/// With `summer` the clock is read as if daylight-saving time were in force, or not, be it or not.
pub(super) fn moment(wall: Wall, zone: &Zone, summer: Option<bool>, guess: i64) -> Option<i64> {
    let local = wall.seconds();
    let mut found = settle(local, zone, guess);
    if let Some(wanted) = summer {
        found = local - offset_near(found, zone, wanted);
    }
    Wall::at(found, zone).map(|_| found)
}

/// Corrects a guess until it is right, or goes in circles because there is nothing right.
fn settle(local: i64, zone: &Zone, guess: i64) -> i64 {
    let mut offset = guess;
    for _ in 0..4 {
        let actual = zone.offset(local - offset);
        if actual == offset {
            return local - offset;
        }
        offset = actual;
    }
    local - offset.min(zone.offset(local - offset))
}

/// How far east of UTC the zone is then, or the nearest time that daylight-saving time is in force there, or is not. If
/// that is years away, such a time is taken to be an hour from the other.
fn offset_near(secs: i64, zone: &Zone, summer: bool) -> i64 {
    const WEEK: i64 = 7 * DAY;
    const WEEKS: i64 = 380; // how far the C library looks to either side
    const HOUR: i64 = 3600;
    let near = (0..WEEKS).flat_map(|weeks| [secs - weeks * WEEK, secs + weeks * WEEK]);
    let alike = near
        .into_iter()
        .find(|when| zone.is_summer(*when) == summer);
    match alike {
        Some(when) => zone.offset(when),
        None if summer => zone.offset(secs) + HOUR,
        None => zone.offset(secs) - HOUR,
    }
}
