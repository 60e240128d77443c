//! Time zones: the distance of clocks from UTC.
//!
//! For times beyond the years of the time zone library, the zone is asked about a time whole
//! 400-year cycles away. The calendar repeats itself after each cycle.

use crate::civil::CYCLE;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;

/// Half the span in which the zone is asked directly, about the years -6000 to 9900.
const SPAN: i64 = 250_000_000_000;

/// The begin and end of daylight-saving time for a rule without them: March to November.
const USUAL_RULE: &str = ",M3.2.0,M11.1.0";

/// A time zone, or UTC under another name.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    name: Option<String>,
}

impl Zone {
    /// Returns the zone that `TZ` names (a file of the zone database or a rule of POSIX), or the
    /// system's if it is not set. An unknown name is UTC under that name.
    pub fn from_environment() -> Self {
        match std::env::var("TZ") {
            Ok(name) => Self::named(&name),
            Err(_) => match std::fs::read("/etc/localtime") {
                Ok(data) => Self::from_file("", &data).unwrap_or_else(|| Self::utc(None)),
                Err(_) => Self::utc(None),
            },
        }
    }

    /// Returns the zone of a value of `TZ`: a file of the zone database such as `Europe/Berlin`,
    /// perhaps after a colon, or a rule such as `EST5EDT,M3.2.0,M11.1.0`. An empty name is UTC. An
    /// unknown one is UTC with its first letters as abbreviation.
    pub fn named(name: &str) -> Self {
        let name = name.strip_prefix(':').unwrap_or(name);
        if name.is_empty() {
            return Self::utc(None);
        }
        let path = Path::new("/usr/share/zoneinfo").join(name);
        let outside = name.split('/').any(|part| part == "..");
        // A name may be an absolute path: /dev/zero would be read for ever.
        let usable = !outside && path.is_file();
        let file = usable.then(|| std::fs::read(path).ok()).flatten();
        if let Some(zone) = file.and_then(|data| Self::from_file(name, &data)) {
            return zone;
        }
        // For a daylight-saving time without a rule, the C library uses the rule of the United
        // States.
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

    /// Returns the seconds east of UTC at that time.
    pub fn offset(&self, seconds: i64) -> i64 {
        let offset = self.zone.to_offset(near(seconds));
        offset.seconds().into()
    }

    /// Returns true if daylight-saving time is in force at that time.
    pub fn is_summer(&self, seconds: i64) -> bool {
        self.zone.to_offset_info(near(seconds)).dst().is_dst()
    }

    /// Returns the abbreviation in use at that time.
    pub fn abbreviation(&self, seconds: i64) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let info = self.zone.to_offset_info(near(seconds));
        info.abbreviation().to_owned()
    }
}

/// Returns the time itself. If the time is out of range for the time zone library, returns a time
/// that is whole cycles of the calendar away. This is right because the rules of a zone do not
/// change in the far future and the far past.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::civil::Civil;
    use ringwalk::Timestamp as FileTime;

    fn civil(secs: i64, zone: &str) -> Civil {
        let time = FileTime { secs, nanos: 5 };
        Civil::new(time, &Zone::named(zone)).unwrap()
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
    fn rules_without_dates_are_those_of_the_united_states() {
        let zone = Zone::named("XYZ5ABC");
        assert_eq!(zone.abbreviation(1_720_000_000), "ABC");
        assert_eq!(zone.offset(1_706_933_106), -18_000);
    }

    #[test]
    fn paths() {
        let absolute = Zone::named("/usr/share/zoneinfo/Asia/Tokyo");
        assert_eq!(absolute.offset(0), 9 * 3600);
        assert_eq!(Zone::named("../zoneinfo/Asia/Tokyo").offset(0), 0);
        assert_eq!(Zone::named("/dev/zero").abbreviation(0), "");
    }

    #[test]
    fn far_from_the_present() {
        let berlin = Zone::named("Europe/Berlin");
        // Before the first railway clocks went by the sun, in all years.
        let past = -67_768_040_609_740_800;
        assert_eq!(
            (berlin.offset(past), berlin.abbreviation(past)),
            (3208, "LMT".to_owned())
        );
        for cycles in [20, 1000] {
            let summer = 1_720_000_000 + cycles * CYCLE;
            assert!(berlin.is_summer(summer) && !berlin.is_summer(summer + CYCLE / 800));
        }
        for edge in [-SPAN - 1, -SPAN, SPAN - 1, SPAN, i64::MIN, i64::MAX] {
            assert_eq!((near(edge).as_second() - edge % CYCLE) % CYCLE, 0);
        }
    }
}
