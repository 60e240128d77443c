//! A point in time taken apart by the calendar and the clock of a time zone.
//!
//! The calendar is reckoned here because file times go beyond the years -9999 to 9999 of the time
//! zone library; for those the zone is asked about a time whole 400-year cycles away, in which the
//! calendar repeats itself.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use ringwalk::Timestamp as FileTime;

const DAY: i64 = 86_400;
/// Seconds in the 146 097 days after which the Gregorian calendar repeats itself.
const CYCLE: i64 = 146_097 * DAY;
/// Half the span in which the zone is asked directly, about the years -6000 to 9900.
const SPAN: i64 = 250_000_000_000;

const USUAL_RULE: &str = ",M3.2.0,M11.1.0";

/// A time zone, or UTC under another name.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    name: Option<String>,
}

/// A time taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year, 0 being the one before year 1.
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

impl Zone {
    /// The zone that `TZ` names (a file of the zone database or a rule as POSIX has them), or the
    /// system's if it is not set. A name that means nothing is UTC under that name.
    pub fn from_environment() -> Self {
        match std::env::var("TZ") {
            Ok(name) => Self::named(&name),
            Err(_) => match std::fs::read("/etc/localtime") {
                Ok(data) => Self::from_file("", &data).unwrap_or_else(|| Self::utc(None)),
                Err(_) => Self::utc(None),
            },
        }
    }

    /// The zone of that name, as `TZ` would name it: a file of the zone database such as `Europe/Berlin`, perhaps behind
    /// a colon, or a rule such as `EST5EDT,M3.2.0,M11.1.0`. No name is UTC, and one that means nothing is UTC with the
    /// letters that it begins with for an abbreviation.
    pub fn named(name: &str) -> Self {
        let name = name.strip_prefix(':').unwrap_or(name);
        if name.is_empty() {
            return Self::utc(None);
        }
        let path = std::path::Path::new("/usr/share/zoneinfo").join(name);
        let outside = name.split('/').any(|part| part == "..");
        let file = (!outside).then(|| std::fs::read(path).ok()).flatten();
        if let Some(zone) = file.and_then(|data| Self::from_file(name, &data)) {
            return zone;
        }
        // The C library takes the rule of the United States where a daylight-saving time comes without one.
        let rule =
            TimeZone::posix(name).or_else(|_| TimeZone::posix(&format!("{name}{USUAL_RULE}")));
        if let Ok(zone) = rule {
            return Self { zone, name: None };
        }
        let letters = name.chars().take_while(char::is_ascii_alphabetic).count();
        let abbreviation = if letters >= 3 { &name[..letters] } else { "" };
        Self::utc(Some(abbreviation.to_owned()))
    }

    fn from_file(name: &str, data: &[u8]) -> Option<Self> {
        let zone = TimeZone::tzif(name, data).ok()?;
        Some(Self { zone, name: None })
    }

    fn utc(name: Option<String>) -> Self {
        Self {
            zone: TimeZone::UTC,
            name,
        }
    }

    /// Seconds east of UTC at that time.
    pub fn offset(&self, seconds: i64) -> i64 {
        let offset = self.zone.to_offset(near(seconds));
        offset.seconds().into()
    }

    /// Whether daylight-saving time is in force at that time.
    pub fn is_summer(&self, seconds: i64) -> bool {
        self.zone.to_offset_info(near(seconds)).dst().is_dst()
    }

    /// The abbreviation in use at that time.
    pub fn abbreviation(&self, seconds: i64) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => {
                let info = self.zone.to_offset_info(near(seconds));
                info.abbreviation().to_owned()
            }
        }
    }
}

/// The time itself, or if it is beyond the reach of the time zone library one whole cycles of the calendar away: far in
/// the future and the past the rules of a zone no longer change.
fn near(seconds: i64) -> Timestamp {
    let near = if seconds < -SPAN {
        -SPAN + seconds.wrapping_add(SPAN).rem_euclid(CYCLE)
    } else if seconds >= SPAN {
        SPAN - CYCLE + (seconds - SPAN).rem_euclid(CYCLE)
    } else {
        seconds
    };
    Timestamp::from_second(near).unwrap_or(Timestamp::UNIX_EPOCH)
}

impl Civil {
    /// Takes `time` apart; none if the year does not fit in what C has for it.
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
            hour: clock / 3600,
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

    /// The week of the year by ISO 8601, and the year it belongs to.
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

/// Days from 1970 to that day. The month, from 1, and the day may lie beyond the year and the month; the year has to be
/// one that C has an int for.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let before: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    days_before(year) + before + day - 1
}

/// Days in a month, from 1 to 12, of that year.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => length(year) - 337,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in a year.
fn length(year: i64) -> i64 {
    days_before(year + 1) - days_before(year)
}

/// Days from 1970 to the first of January of `year`.
fn days_before(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) - 719_162
}

/// Year, month and day of the month of a day counted from 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let cycles = days.div_euclid(CYCLE / DAY);
    let within = days.rem_euclid(CYCLE / DAY);
    // A guess that is at most one year late, put right.
    let mut year = 1970 + cycles * 400 + within / 365;
    while days_before(year) > days {
        year -= 1;
    }
    let mut day = days - days_before(year);
    let mut month = 1;
    while day >= days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    (year, month, day + 1)
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
    fn zones() {
        let rule = civil(1_706_933_106, "EST5EDT");
        assert_eq!((rule.hour, rule.offset), (23, -18_000));
        assert_eq!(rule.zone, "EST");
        let summer = civil(1_720_000_000, "EST5EDT");
        assert_eq!((summer.offset, summer.zone.as_str()), (-14_400, "EDT"));
        let unknown = civil(0, "nonsense/zone");
        assert_eq!((unknown.offset, unknown.zone.as_str()), (0, "nonsense"));
        assert_eq!(civil(0, "ab").zone, "");
        assert_eq!(civil(0, "").zone, "UTC");
        let far = civil(99_999_999_999_999, "EST5EDT");
        assert_eq!(far.offset, -18_000);
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
