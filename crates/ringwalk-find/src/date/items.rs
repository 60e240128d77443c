//! From tokens to items. Each item says something about one part of a date.
//!
//! Items stand in any order, and the first tokens of each show its kind. No part may be given
//! twice, but relative items add up.

use super::days::Date;
use super::relative::Relative;
use super::token::{CalendarUnit, DateToken, Number};
use ringwalk_gnu::civil::{DAY, HOUR};

/// The longest distance from UTC that is accepted, in seconds.
const FARTHEST: i64 = DAY;

/// The items of a text.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub date: Option<Date>,
    pub time: Option<ClockTime>,
    pub weekday: Option<Weekday>,
    pub zone: Option<ZoneItem>,
    /// The sum of the relative items. None without such items.
    pub relative: Option<Relative>,
}

impl Items {
    /// Returns true if only relative items are given, so the present is meant, or a moment so far
    /// from it.
    pub(super) fn is_present(&self) -> bool {
        self.relative.is_some()
            && self.date.is_none()
            && self.time.is_none()
            && self.weekday.is_none()
    }
}

/// A time of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockTime {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub nanos: u32,
}

/// A day of the week, and its distance as a number of such days.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weekday {
    pub day: i64,
    pub ordinal: i64,
}

/// The time zone of the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum ZoneItem {
    /// Seconds east of UTC.
    Fixed(i64),
    /// The zone in use, and whether daylight-saving time is meant, if the text says so.
    Local(Option<bool>),
}

/// Reads all items. None if the text has no meaning.
pub(super) fn items(tokens: &[DateToken]) -> Option<Items> {
    let mut reader = ItemReader {
        rest: tokens,
        items: Items::default(),
    };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        reader.item(*first)?;
    }
    Some(reader.items)
}

/// The tokens that are still to be read, and the items read so far. `days.rs` and `relative.rs`
/// read dates and lengths of time.
pub(super) struct ItemReader<'a> {
    pub(super) rest: &'a [DateToken],
    pub(super) items: Items,
}

impl ItemReader<'_> {
    /// Reads the item that begins with `first`. The caller has taken that token.
    fn item(&mut self, first: DateToken) -> Option<()> {
        match first {
            DateToken::Unsigned(number) => self.after_number(number),
            DateToken::Signed(number) => self.relative(number.value),
            DateToken::Decimal(decimal) => self.seconds(decimal),
            DateToken::Month(month) => self.month_first(month),
            DateToken::Weekday(day) => {
                self.accept(|next| next == DateToken::Other(b','));
                set(&mut self.items.weekday, Weekday { day, ordinal: 0 })
            }
            DateToken::Unit(unit, times) => self.add(unit, times),
            DateToken::Days(days) => self.accumulate(CalendarUnit::Day, days),
            DateToken::Ordinal(ordinal) => match self.next()? {
                DateToken::Weekday(day) => set(&mut self.items.weekday, Weekday { day, ordinal }),
                DateToken::Unit(unit, times) => self.add(unit, times.checked_mul(ordinal)?),
                _ => None,
            },
            DateToken::Zone(seconds) => self.zone(seconds, ZoneName::Standard),
            DateToken::SummerZone(seconds) => self.zone(seconds, ZoneName::Summer),
            DateToken::T => self.zone(-7 * HOUR, ZoneName::Military),
            DateToken::LocalZone(summer) => self.local_zone(summer),
            DateToken::Ago | DateToken::Afternoon(_) | DateToken::Summer | DateToken::Other(_) => {
                None
            }
        }
    }

    pub(super) fn next(&mut self) -> Option<DateToken> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Takes the next token if it is wanted.
    pub(super) fn accept(&mut self, wanted: impl Fn(DateToken) -> bool) -> Option<DateToken> {
        let first = self.rest.first().copied().filter(|next| wanted(*next))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    pub(super) fn accept_other(&mut self, byte: u8) -> bool {
        self.accept(|next| next == DateToken::Other(byte)).is_some()
    }

    pub(super) fn unsigned(&mut self) -> Option<Number> {
        match self.next()? {
            DateToken::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// Reads an item that begins with a number. The tokens after the number show its kind.
    fn after_number(&mut self, number: Number) -> Option<()> {
        match *self.rest {
            [DateToken::Other(b':'), ..] => {
                let time = self.clock(number)?;
                self.half_or_correction(time)
            }
            [DateToken::Other(b'/'), ..] => self.slashes(number),
            [DateToken::Month(month), ..] => self.day_first(number, month),
            [DateToken::Signed(month), DateToken::Signed(day), ..] => self.iso(number, month, day),
            [DateToken::Signed(_), DateToken::Unit(..), ..] => {
                self.pure(number)?;
                self.signed_relative()
            }
            [DateToken::Signed(_) | DateToken::Afternoon(_), ..] => {
                self.half_or_correction(ClockTime::at(number.value))
            }
            [DateToken::Weekday(day), ..] => {
                self.rest = &self.rest[1..];
                let ordinal = number.value;
                set(&mut self.items.weekday, Weekday { day, ordinal })
            }
            [DateToken::Unit(..), ..] => self.relative(number.value),
            _ => self.pure(number),
        }
    }

    /// Reads `:` minutes and perhaps `:` seconds.
    pub(super) fn clock(&mut self, hour: Number) -> Option<ClockTime> {
        let mut time = ClockTime::at(hour.value);
        self.accept_other(b':').then_some(())?;
        time.minute = self.unsigned()?.value;
        if self.accept_other(b':') {
            match self.next()? {
                DateToken::Unsigned(second) => time.second = second.value,
                DateToken::Decimal(second) if !second.signed => {
                    (time.second, time.nanos) = (second.secs, second.nanos);
                }
                _ => return None,
            }
        }
        Some(time)
    }

    /// Reads what may follow a time of day: `am` or `pm`, or a distance from UTC.
    fn half_or_correction(&mut self, mut time: ClockTime) -> Option<()> {
        if let Some(DateToken::Afternoon(afternoon)) =
            self.accept(|next| matches!(next, DateToken::Afternoon(_)))
        {
            if !(1..=12).contains(&time.hour) {
                return None;
            }
            time.hour = time.hour % 12 + if afternoon { 12 } else { 0 };
            return set(&mut self.items.time, time);
        }
        set(&mut self.items.time, time)?;
        self.correction(0)
    }

    /// Reads a distance from UTC, if there is one.
    pub(super) fn correction(&mut self, zone: i64) -> Option<()> {
        let Some(DateToken::Signed(hours)) =
            self.accept(|next| matches!(next, DateToken::Signed(_)))
        else {
            return Some(());
        };
        let minutes = if self.accept_other(b':') {
            let minutes = self.unsigned()?.value;
            let signed = if hours.negative { -minutes } else { minutes };
            hours.value.checked_mul(60)?.checked_add(signed)?
        } else if hours.digits <= 2 {
            hours.value * 60
        } else {
            hours.value / 100 * 60 + hours.value % 100
        };
        let seconds = minutes.checked_mul(60)?;
        (seconds.saturating_abs() <= FARTHEST).then_some(())?;
        set(&mut self.items.zone, ZoneItem::Fixed(zone + seconds))
    }

    /// Reads the rest of an abbreviation of the zone in use.
    fn local_zone(&mut self, summer: Option<bool>) -> Option<()> {
        let said = self.accept(|next| next == DateToken::Summer).is_some();
        let summer = if said { Some(true) } else { summer };
        set(&mut self.items.zone, ZoneItem::Local(summer))
    }

    /// Reads a distance from UTC or `DST` after the name of a zone, which lies `seconds` east of
    /// UTC.
    fn zone(&mut self, seconds: i64, name: ZoneName) -> Option<()> {
        let (bound, corrigible) = match name {
            ZoneName::Standard => (true, true),
            ZoneName::Summer => (false, false),
            ZoneName::Military => (true, false),
        };
        let mut offset = seconds;
        match *self.rest {
            [DateToken::Signed(_), DateToken::Unit(..), ..] if bound => self.signed_relative()?,
            [DateToken::Signed(_), ..] if corrigible => return self.correction(seconds),
            [DateToken::Summer, ..] if corrigible => {
                self.rest = &self.rest[1..];
                offset += HOUR;
            }
            _ => {}
        }
        set(&mut self.items.zone, ZoneItem::Fixed(offset))
    }
}

/// A name of a time zone that is not the one in use.
#[derive(Clone, Copy, Debug)]
enum ZoneName {
    /// A name of standard time.
    Standard,
    /// A name of daylight-saving time.
    Summer,
    /// The letter `T`, which may also stand between a date and a time.
    Military,
}

impl ClockTime {
    /// Creates the time of a full hour.
    pub(super) fn at(hour: i64) -> Self {
        Self {
            hour,
            minute: 0,
            second: 0,
            nanos: 0,
        }
    }
}

/// Sets `place`. None if it was set before.
pub(super) fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}
