//! From tokens to items: what the text says about each part of a date.
//!
//! Items stand in any order, and each of them is known by its first tokens. What is said twice is refused, but relative
//! items add up.

use super::token::{Decimal, Number, Token, Unit};

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

/// A day of the year; without a year it is one of this year.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date {
    pub year: Option<i64>,
    pub month: i64,
    pub day: i64,
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

/// How far to go from there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relative {
    pub years: i64,
    pub months: i64,
    pub days: i64,
    pub hours: i64,
    pub minutes: i64,
    pub seconds: i64,
    /// On top of the seconds, of either sign.
    pub nanos: i64,
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

struct Reader<'a> {
    rest: &'a [Token],
    items: Items,
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

    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Takes the next token if it is wanted.
    fn accept(&mut self, wanted: impl Fn(Token) -> bool) -> Option<Token> {
        let first = self.rest.first().copied().filter(|next| wanted(*next))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    fn accept_other(&mut self, byte: u8) -> bool {
        self.accept(|next| next == Token::Other(byte)).is_some()
    }

    fn unsigned(&mut self) -> Option<Number> {
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
            [Token::Afternoon(_), ..] => self.half_or_correction(Time::at(number.value)),
            [Token::Other(b'/'), ..] => self.slashes(number),
            [Token::Month(month), ..] => self.day_first(number, month),
            [Token::Signed(month), Token::Signed(day), ..] => self.iso(number, month, day),
            [Token::Signed(_), Token::Unit(..), ..] => {
                self.pure(number)?;
                self.signed_relative()
            }
            [Token::Signed(_), ..] => self.half_or_correction(Time::at(number.value)),
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
    fn clock(&mut self, hour: Number) -> Option<Time> {
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
    fn correction(&mut self, zone: i64) -> Option<()> {
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

    /// A number with a sign and a unit behind a number or a zone, where the sign might have meant something else. GNU's
    /// grammar has no `ago` there.
    fn signed_relative(&mut self) -> Option<()> {
        match (self.next()?, self.next()?) {
            (Token::Signed(number), Token::Unit(unit, times)) => {
                self.accumulate(unit, times.checked_mul(number.value)?)
            }
            _ => None,
        }
    }

    /// Year, month and day with hyphens between, which are signs to the tokens; a time may follow behind a T.
    fn iso(&mut self, year: Number, month: Number, day: Number) -> Option<()> {
        self.rest = &self.rest[2..];
        let date = Date {
            year: Some(full_year(year)),
            month: month.value.checked_neg()?,
            day: day.value.checked_neg()?,
        };
        set(&mut self.items.date, date)?;
        if self.accept(|next| next == Token::T).is_none() {
            return Some(());
        }
        let hour = self.unsigned()?;
        let time = match self.rest.first()? {
            Token::Other(b':') => self.clock(hour)?,
            Token::Signed(_) => Time::at(hour.value),
            _ => return None,
        };
        set(&mut self.items.time, time)?;
        self.correction(0)
    }

    /// Month, day and perhaps year; or with four digits first year, month and day.
    fn slashes(&mut self, first: Number) -> Option<()> {
        self.accept_other(b'/').then_some(())?;
        let second = self.unsigned()?;
        let third = match self.accept_other(b'/') {
            true => Some(self.unsigned()?),
            false => None,
        };
        let date = match third {
            Some(day) if first.digits >= 4 => Date {
                year: Some(full_year(first)),
                month: second.value,
                day: day.value,
            },
            year => Date {
                year: year.map(full_year),
                month: first.value,
                day: second.value,
            },
        };
        set(&mut self.items.date, date)
    }

    /// A day, the month `month` and perhaps a year.
    fn day_first(&mut self, day: Number, month: i64) -> Option<()> {
        self.rest = &self.rest[1..];
        let year = match self.accept(|next| matches!(next, Token::Unsigned(_) | Token::Signed(_))) {
            Some(Token::Unsigned(year)) => Some(full_year(year)),
            Some(Token::Signed(year)) => Some(year_behind_hyphen(year)?),
            _ => None,
        };
        let day = day.value;
        set(&mut self.items.date, Date { year, month, day })
    }

    /// The month `month`, a day, and perhaps a year behind a comma, or both behind hyphens.
    fn month_first(&mut self, month: i64) -> Option<()> {
        let (day, year) = match self.next()? {
            Token::Unsigned(day) if self.accept_other(b',') => {
                (day.value, Some(full_year(self.unsigned()?)))
            }
            Token::Unsigned(day) => (day.value, None),
            Token::Signed(day) => match self.next()? {
                Token::Signed(year) => (day.value.checked_neg()?, Some(year_behind_hyphen(year)?)),
                _ => return None,
            },
            _ => return None,
        };
        set(&mut self.items.date, Date { year, month, day })
    }

    /// A number by itself: the year that a date lacks, a date without separators, or a time.
    fn pure(&mut self, number: Number) -> Option<()> {
        let timed = self.items.time.is_some();
        if let Some(date) = &mut self.items.date
            && date.year.is_none()
            && self.items.relative.is_none()
            && (timed || number.digits > 2)
        {
            date.year = Some(full_year(number));
            return Some(());
        }
        if number.digits > 4 {
            let year = Number {
                value: number.value / 10_000,
                digits: number.digits - 4,
                negative: false,
            };
            let date = Date {
                year: Some(full_year(year)),
                month: number.value / 100 % 100,
                day: number.value % 100,
            };
            return set(&mut self.items.date, date);
        }
        let mut time = Time::at(number.value);
        if number.digits > 2 {
            (time.hour, time.minute) = (number.value / 100, number.value % 100);
        }
        set(&mut self.items.time, time)
    }

    /// A number, taken already, of a unit that must follow.
    fn relative(&mut self, number: i64) -> Option<()> {
        match self.next()? {
            Token::Unit(unit, times) => self.add(unit, times.checked_mul(number)?),
            _ => None,
        }
    }

    /// A number with a fraction, taken already, can only be one of seconds.
    fn seconds(&mut self, number: Decimal) -> Option<()> {
        (self.next()? == Token::Unit(Unit::Second, 1)).then_some(())?;
        let (mut secs, mut nanos) = (number.secs, i64::from(number.nanos));
        if self.accept(|next| next == Token::Ago).is_some() {
            (secs, nanos) = (secs.checked_neg()?, -nanos);
        }
        self.accumulate(Unit::Second, secs)?;
        let relative = self.items.relative.as_mut()?;
        relative.nanos = relative.nanos.checked_add(nanos)?;
        Some(())
    }

    /// A length of time, which `ago` may turn round.
    fn add(&mut self, unit: Unit, mut amount: i64) -> Option<()> {
        if self.accept(|next| next == Token::Ago).is_some() {
            amount = amount.checked_neg()?;
        }
        self.accumulate(unit, amount)
    }

    fn accumulate(&mut self, unit: Unit, amount: i64) -> Option<()> {
        let relative = self.items.relative.get_or_insert_default();
        let sum = match unit {
            Unit::Year => &mut relative.years,
            Unit::Month => &mut relative.months,
            Unit::Day => &mut relative.days,
            Unit::Hour => &mut relative.hours,
            Unit::Minute => &mut relative.minutes,
            Unit::Second => &mut relative.seconds,
        };
        *sum = sum.checked_add(amount)?;
        Some(())
    }
}

impl Time {
    /// A full hour.
    fn at(hour: i64) -> Self {
        Self {
            hour,
            minute: 0,
            second: 0,
            nanos: 0,
        }
    }
}

/// Keeps what was said, unless something was said before.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

/// Two digits mean a year between 1969 and 2068.
fn full_year(year: Number) -> i64 {
    match year.value {
        value if year.digits != 2 => value,
        value @ 0..=68 => value + 2000,
        value => value + 1900,
    }
}

/// A year behind a hyphen, which is a sign to the tokens. One behind a plus is meant literally.
fn year_behind_hyphen(year: Number) -> Option<i64> {
    if !year.negative {
        return Some(year.value);
    }
    Some(full_year(Number {
        value: year.value.checked_neg()?,
        ..year
    }))
}
