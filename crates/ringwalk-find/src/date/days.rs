//! Items that name a day, and single numbers, which may name one.

use super::items::{ClockTime, ItemReader, set};
use super::token::{DateToken, Number};

/// A day of the year. Without a year it is one of this year.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date {
    pub year: Option<i64>,
    pub month: i64,
    pub day: i64,
}

impl ItemReader<'_> {
    /// Reads year, month and day with hyphens between, which the tokens take for signs. A time may
    /// follow after a T.
    pub(super) fn iso(&mut self, year: Number, month: Number, day: Number) -> Option<()> {
        self.rest = &self.rest[2..];
        let date = Date {
            year: Some(full_year(year)),
            month: month.value.checked_neg()?,
            day: day.value.checked_neg()?,
        };
        set(&mut self.items.date, date)?;
        if self.accept(|next| next == DateToken::T).is_none() {
            return Some(());
        }
        let hour = self.unsigned()?;
        let time = match self.rest.first()? {
            DateToken::Other(b':') => self.clock(hour)?,
            DateToken::Signed(_) => ClockTime::at(hour.value),
            _ => return None,
        };
        set(&mut self.items.time, time)?;
        self.correction(0)
    }

    /// Reads month, day and perhaps year. If the first number has four digits, reads year, month
    /// and day.
    pub(super) fn slashes(&mut self, first: Number) -> Option<()> {
        self.accept_other(b'/').then_some(())?;
        let second = self.unsigned()?;
        let third = if self.accept_other(b'/') {
            Some(self.unsigned()?)
        } else {
            None
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

    /// Reads a day, the month `month` and perhaps a year.
    pub(super) fn day_first(&mut self, day: Number, month: i64) -> Option<()> {
        self.rest = &self.rest[1..];
        let year = match self
            .accept(|next| matches!(next, DateToken::Unsigned(_) | DateToken::Signed(_)))
        {
            Some(DateToken::Unsigned(year)) => Some(full_year(year)),
            Some(DateToken::Signed(year)) => Some(year_behind_hyphen(year)?),
            _ => None,
        };
        let day = day.value;
        set(&mut self.items.date, Date { year, month, day })
    }

    /// Reads the month `month`, a day, and perhaps a year after a comma, or both after hyphens.
    pub(super) fn month_first(&mut self, month: i64) -> Option<()> {
        let (day, year) = match self.next()? {
            DateToken::Unsigned(day) if self.accept_other(b',') => {
                (day.value, Some(full_year(self.unsigned()?)))
            }
            DateToken::Unsigned(day) => (day.value, None),
            DateToken::Signed(day) => match self.next()? {
                DateToken::Signed(year) => {
                    (day.value.checked_neg()?, Some(year_behind_hyphen(year)?))
                }
                _ => return None,
            },
            _ => return None,
        };
        set(&mut self.items.date, Date { year, month, day })
    }

    /// Reads a single number: the year that a date lacks, a date without separators, or a time.
    pub(super) fn pure(&mut self, number: Number) -> Option<()> {
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
        let mut time = ClockTime::at(number.value);
        if number.digits > 2 {
            (time.hour, time.minute) = (number.value / 100, number.value % 100);
        }
        set(&mut self.items.time, time)
    }
}

/// Returns the full year. Two digits mean a year between 1969 and 2068.
fn full_year(year: Number) -> i64 {
    match year.value {
        value if year.digits != 2 => value,
        value @ 0..=68 => value + 2000,
        value => value + 1900,
    }
}

/// Returns a year after a hyphen, which the tokens take for a sign. A year after a plus is meant
/// literally.
fn year_behind_hyphen(year: Number) -> Option<i64> {
    if !year.negative {
        return Some(year.value);
    }
    Some(full_year(Number {
        value: year.value.checked_neg()?,
        ..year
    }))
}
