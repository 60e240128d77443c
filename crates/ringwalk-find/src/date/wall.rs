//! The wall clock of a time zone, and the moments at which it shows a time.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{self, Civil, DAY, HOUR, Zone};

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
    /// Returns the date and time that the clock shows at a moment. None for years that do not fit
    /// in C's type.
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

    /// Returns true if the calendar has the day, the day has the time, and C has the year.
    pub(super) fn is_valid(self) -> bool {
        is_year(self.year)
            && (1..=12).contains(&self.month)
            && (1..=civil::days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second)
    }

    /// Returns the seconds since the clock showed the beginning of 1970. The year must fit in C's
    /// type.
    pub(super) fn seconds(self) -> i64 {
        let days = civil::days(self.year, self.month, self.day);
        days * DAY + self.hour * HOUR + self.minute * 60 + self.second
    }

    /// Returns the days since Sunday.
    pub(super) fn weekday(self) -> i64 {
        (civil::days(self.year, self.month, self.day) + 4).rem_euclid(7)
    }

    /// Returns the time of day on this day.
    pub(super) fn with_time_of(self, other: Self) -> Self {
        Self {
            hour: other.hour,
            minute: other.minute,
            second: other.second,
            ..self
        }
    }

    /// Returns the same time of day so much later. A day that does not exist becomes a day of the
    /// next month: a month after the 31st of January is the 2nd or 3rd of March. None if the
    /// numbers do not fit in C's types.
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

/// Returns true if C can count that year from 1900.
fn is_year(year: i64) -> bool {
    year.checked_sub(1900)
        .is_some_and(|since| i32::try_from(since).is_ok())
}

/// Returns the moment at which the clock in `zone` shows `wall`.
///
/// A time that clocks showed twice has two such moments. As in the C library's `mktime`, the
/// function guesses that the zone is `guess` seconds east of UTC at that time, and corrects the
/// guess; the result is the moment that it reaches. The first guess in a process is 0. So the first
/// date of a command line means the later moment east of Greenwich, and the earlier one west of it.
/// A time that clocks skipped has no such moment. The result is then the moment at which the clock
/// would have shown it without being set.
///
/// With `summer` the clock is read with daylight-saving time (true) or without it (false),
/// whichever is really in force.
pub(super) fn moment(wall: Wall, zone: &Zone, summer: Option<bool>, guess: i64) -> Option<i64> {
    let local = wall.seconds();
    let mut found = settle(local, zone, guess);
    if let Some(wanted) = summer {
        found = local - offset_near(found, zone, wanted);
    }
    Wall::at(found, zone).map(|_| found)
}

/// Corrects a guess until it is right, or until it repeats because no guess is right.
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

/// Returns the distance of the zone from UTC at that moment, or at the nearest moment with, or
/// without, daylight-saving time. If that is years away, the distance is taken to differ by an
/// hour.
fn offset_near(secs: i64, zone: &Zone, summer: bool) -> i64 {
    const WEEK: i64 = 7 * DAY;
    const WEEKS: i64 = 380; // how far the C library looks to either side
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
