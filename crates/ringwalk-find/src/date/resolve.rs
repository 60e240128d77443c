//! From items to a moment.
//!
//! All arithmetic is on the wall clock of the zone in use; only the last step converts to a moment.
//! A day later is the same time of day, whether the day has 23 or 25 hours. Hours and shorter units
//! are added at the very end. A date without a year, or a time without a date, takes them from the
//! present in the zone in use. That holds even if another zone is named for the reading of the
//! clock.

use super::items::{Items, Weekday, ZoneItem};
use super::relative::Relative;
use super::wall::{self, Wall};
use ringwalk::Timestamp;
use ringwalk_gnu::civil::{Civil, HOUR, NANOS_PER_SECOND, Zone};

const SECOND: i64 = NANOS_PER_SECOND as i64;

/// Returns the moment that `items` mean. None if there is no such date, or no such time on that
/// day.
pub(super) fn moment(items: &Items, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let present = Civil::new(now, zone)?;
    let (base, nanos) = base(items, &present, now)?;
    // Without a date and a time the clock is read with the distance from UTC that it has now: in
    // winter "6 months ago" may be an hour later.
    let present = || items.is_present().then(|| zone.is_summer(now.secs));
    let (summer, fixed) = match items.zone {
        Some(ZoneItem::Local(summer)) => (summer, None),
        Some(ZoneItem::Fixed(offset)) => (present(), Some(offset)),
        None => (present(), None),
    };
    let first = wall::moment(base, zone, summer, 0)?;
    // A named zone reads the clock in its own way: times that do not exist here may exist there.
    (fixed.is_some() || Wall::at(first, zone) == Some(base)).then_some(())?;
    let mut clock = base;
    let mut secs = first;
    if let (Some(weekday), None) = (items.weekday, items.date) {
        let day = base.later(0, 0, days_until(weekday, base)?)?;
        secs = wall::moment(day, zone, None, zone.offset(secs))?;
        clock = Wall::at(secs, zone)?;
    }
    let relative = items.relative.unwrap_or_default();
    if (relative.years, relative.months, relative.days) != (0, 0, 0) {
        let day = clock
            .with_time_of(base)
            .later(relative.years, relative.months, relative.days)?;
        secs = wall::moment(day, zone, summer, zone.offset(secs))?;
        clock = Wall::at(secs, zone)?;
    }
    if let Some(offset) = fixed {
        secs = clock.seconds().checked_sub(offset)?;
    }
    later(secs, nanos, &relative)
}

/// Returns the start of relative items by the wall clock, and nanoseconds after it. Without a time
/// of day it is the midnight of the named day, or the present if there are only relative items.
fn base(items: &Items, present: &Civil, now: Timestamp) -> Option<(Wall, u32)> {
    let mut base = Wall {
        year: present.year,
        month: present.month,
        day: present.day,
        hour: 0,
        minute: 0,
        second: 0,
    };
    let mut nanos = 0;
    if let Some(date) = items.date {
        base.year = date.year.unwrap_or(base.year);
        (base.month, base.day) = (date.month, date.day);
    }
    if let Some(time) = items.time {
        (base.hour, base.minute, base.second) = (time.hour, time.minute, time.second);
        nanos = time.nanos;
    } else if items.is_present() {
        (base.hour, base.minute, base.second) = (present.hour, present.minute, present.second);
        nanos = now.nanos;
    }
    base.is_valid().then_some((base, nanos))
}

/// Returns the days from `from` to that day of the week. The first such day is the next one. It is
/// today only without a number.
fn days_until(weekday: Weekday, from: Wall) -> Option<i64> {
    let ahead = (weekday.day - from.weekday()).rem_euclid(7);
    let counted = weekday.ordinal > 0 && ahead > 0;
    weekday
        .ordinal
        .checked_sub(i64::from(counted))?
        .checked_mul(7)?
        .checked_add(ahead)
}

/// Adds units that are shorter than a day.
fn later(secs: i64, nanos: u32, relative: &Relative) -> Option<Timestamp> {
    let nanos = i64::from(nanos).checked_add(relative.nanos)?;
    let secs = secs
        .checked_add(relative.hours.checked_mul(HOUR)?)?
        .checked_add(relative.minutes.checked_mul(60)?)?
        .checked_add(relative.seconds)?
        .checked_add(nanos.div_euclid(SECOND))?;
    let nanos = u32::try_from(nanos.rem_euclid(SECOND)).ok()?;
    Some(Timestamp { secs, nanos })
}
