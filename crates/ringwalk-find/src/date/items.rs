//! From tokens to items: what the text says about each part of a date.
//!
//! Items stand in any order, and each of them is known by its first tokens. What is said twice is refused, but relative
//! items add up.

use super::days::Date;
use super::relative::Relative;
use super::token::{Number, Token, Unit};

/// The longest way from UTC that is believed, in seconds.
const FARTHEST: i64 = 24 * 3600;

/// What was said.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub date: Option<Date>,
    pub time: Option<Time>,
    pub weekday: Option<Weekday>,
    pub zone: Option<ZoneItem>,
    /// The sum of the relative items, if there were any.
    pub relative: Option<Relative>,
}

impl Items {
    /// Whether the present is meant, or what is so far from it.
    pub(super) fn is_present(&self) -> bool {
        self.relative.is_some()
            && self.date.is_none()
            && self.time.is_none()
            && self.weekday.is_none()
    }
}

/// A time of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub nanos: u32,
}

/// A day of the week, and how many of them away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weekday {
    pub day: i64,
    pub ordinal: i64,
}

/// What is said of the time zone.
#[derive(Clone, Copy, Debug)]
pub(super) enum ZoneItem {
    /// Seconds east of UTC.
    Fixed(i64),
    /// The zone in use, and whether daylight-saving time is meant, if that is known.
    Local(Option<bool>),
}

/// Reads all items; none if the text makes no sense.
pub(super) fn items(tokens: &[Token]) -> Option<Items> {
    let mut reader = Reader {
        rest: tokens,
        items: Items::default(),
    };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        reader.item(*first)?;
    }
    Some(reader.items)
}

/// Tokens that are still to be read, and what those before have said. The items of dates and of lengths of time are read
/// in `days.rs` and `relative.rs`.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a [Token],
    pub(super) items: Items,
}

impl Reader<'_> {
    /// Reads the item that begins with `first`, which has been taken.
    fn item(&mut self, first: Token) -> Option<()> {
        match first {
            Token::Unsigned(number) => self.after_number(number),
            Token::Signed(number) => self.relative(number.value),
            Token::Decimal(decimal) => self.seconds(decimal),
            Token::Month(month) => self.month_first(month),
            Token::Weekday(day) => {
                self.accept(|next| next == Token::Other(b','));
                set(&mut self.items.weekday, Weekday { day, ordinal: 0 })
            }
            Token::Unit(unit, times) => self.add(unit, times),
            Token::Days(days) => self.accumulate(Unit::Day, days),
            Token::Ordinal(ordinal) => match self.next()? {
                Token::Weekday(day) => set(&mut self.items.weekday, Weekday { day, ordinal }),
                Token::Unit(unit, times) => self.add(unit, times.checked_mul(ordinal)?),
                _ => None,
            },
            Token::Zone(_) | Token::SummerZone(_) | Token::LocalZone(_) | Token::T => {
                self.zone(first)
            }
            Token::Ago | Token::Afternoon(_) | Token::Summer | Token::Other(_) => None,
        }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Takes the next token if it is wanted.
    pub(super) fn accept(&mut self, wanted: impl Fn(Token) -> bool) -> Option<Token> {
        let first = self.rest.first().copied().filter(|next| wanted(*next))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    pub(super) fn accept_other(&mut self, byte: u8) -> bool {
        self.accept(|next| next == Token::Other(byte)).is_some()
    }

    pub(super) fn unsigned(&mut self) -> Option<Number> {
        match self.next()? {
            Token::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// An item that begins with a number is known by what stands behind that.
    fn after_number(&mut self, number: Number) -> Option<()> {
        match *self.rest {
            [Token::Other(b':'), ..] => {
                let time = self.clock(number)?;
                self.half_or_correction(time)
            }
            [Token::Other(b'/'), ..] => self.slashes(number),
            [Token::Month(month), ..] => self.day_first(number, month),
            [Token::Signed(month), Token::Signed(day), ..] => self.iso(number, month, day),
            [Token::Signed(_), Token::Unit(..), ..] => {
                self.pure(number)?;
                self.signed_relative()
            }
            [Token::Signed(_) | Token::Afternoon(_), ..] => {
                self.half_or_correction(Time::at(number.value))
            }
            [Token::Weekday(day), ..] => {
                self.rest = &self.rest[1..];
                let ordinal = number.value;
                set(&mut self.items.weekday, Weekday { day, ordinal })
            }
            [Token::Unit(..), ..] => self.relative(number.value),
            _ => self.pure(number),
        }
    }

    /// `:` minutes and perhaps `:` seconds.
    pub(super) fn clock(&mut self, hour: Number) -> Option<Time> {
        let mut time = Time::at(hour.value);
        self.accept_other(b':').then_some(())?;
        time.minute = self.unsigned()?.value;
        if self.accept_other(b':') {
            match self.next()? {
                Token::Unsigned(second) => time.second = second.value,
                Token::Decimal(second) if !second.signed => {
                    (time.second, time.nanos) = (second.secs, second.nanos);
                }
                _ => return None,
            }
        }
        Some(time)
    }

    /// What may stand behind a time of day: `am` or `pm`, or a way from UTC.
    fn half_or_correction(&mut self, mut time: Time) -> Option<()> {
        if let Some(Token::Afternoon(afternoon)) =
            self.accept(|next| matches!(next, Token::Afternoon(_)))
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

    /// A way from UTC, if there is one.
    pub(super) fn correction(&mut self, zone: i64) -> Option<()> {
        let Some(Token::Signed(hours)) = self.accept(|next| matches!(next, Token::Signed(_)))
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

    /// A zone by name, with what may stand behind it.
    fn zone(&mut self, first: Token) -> Option<()> {
        let (seconds, corrigible) = match first {
            Token::LocalZone(summer) => {
                let said = self.accept(|next| next == Token::Summer).is_some();
                let summer = if said { Some(true) } else { summer };
                return set(&mut self.items.zone, ZoneItem::Local(summer));
            }
            Token::Zone(seconds) => (seconds, true),
            Token::SummerZone(seconds) => (seconds, false),
            _ => (-7 * 3600, false), // T of the military
        };
        let bound = !matches!(first, Token::SummerZone(_));
        let mut offset = seconds;
        match *self.rest {
            [Token::Signed(_), Token::Unit(..), ..] if bound => self.signed_relative()?,
            [Token::Signed(_), ..] if corrigible => return self.correction(seconds),
            [Token::Summer, ..] if corrigible => {
                self.rest = &self.rest[1..];
                offset += 3600;
            }
            _ => {}
        }
        set(&mut self.items.zone, ZoneItem::Fixed(offset))
    }
}

impl Time {
    /// A full hour.
    pub(super) fn at(hour: i64) -> Self {
        Self {
            hour,
            minute: 0,
            second: 0,
            nanos: 0,
        }
    }
}

/// Keeps what was said, unless something was said before.
pub(super) fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}
