//! Relative items: lengths of time.

use super::items::ItemReader;
use super::token::{CalendarUnit, DateToken, Decimal};

/// A distance in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relative {
    pub years: i64,
    pub months: i64,
    pub days: i64,
    pub hours: i64,
    pub minutes: i64,
    pub seconds: i64,
    /// Added to the seconds, of either sign.
    pub nanos: i64,
}

impl ItemReader<'_> {
    /// Reads a number with a sign and a unit after a number or a zone, where the sign might have
    /// another meaning. GNU's grammar has no `ago` there.
    pub(super) fn signed_relative(&mut self) -> Option<()> {
        match (self.next()?, self.next()?) {
            (DateToken::Signed(number), DateToken::Unit(unit, times)) => {
                self.accumulate(unit, times.checked_mul(number.value)?)
            }
            _ => None,
        }
    }

    /// Reads the unit that must follow a number. The caller has taken the number.
    pub(super) fn relative(&mut self, number: i64) -> Option<()> {
        match self.next()? {
            DateToken::Unit(unit, times) => self.add(unit, times.checked_mul(number)?),
            _ => None,
        }
    }

    /// Reads the unit after a number with a fraction, which can only be seconds. The caller has
    /// taken the number.
    pub(super) fn seconds(&mut self, number: Decimal) -> Option<()> {
        (self.next()? == DateToken::Unit(CalendarUnit::Second, 1)).then_some(())?;
        let (mut secs, mut nanos) = (number.secs, i64::from(number.nanos));
        if self.accept(|next| next == DateToken::Ago).is_some() {
            (secs, nanos) = (secs.checked_neg()?, -nanos);
        }
        self.accumulate(CalendarUnit::Second, secs)?;
        let relative = self.items.relative.as_mut()?;
        relative.nanos = relative.nanos.checked_add(nanos)?;
        Some(())
    }

    /// Adds a length of time, which `ago` may turn round.
    pub(super) fn add(&mut self, unit: CalendarUnit, mut amount: i64) -> Option<()> {
        if self.accept(|next| next == DateToken::Ago).is_some() {
            amount = amount.checked_neg()?;
        }
        self.accumulate(unit, amount)
    }

    pub(super) fn accumulate(&mut self, unit: CalendarUnit, amount: i64) -> Option<()> {
        let relative = self.items.relative.get_or_insert_default();
        let sum = match unit {
            CalendarUnit::Year => &mut relative.years,
            CalendarUnit::Month => &mut relative.months,
            CalendarUnit::Day => &mut relative.days,
            CalendarUnit::Hour => &mut relative.hours,
            CalendarUnit::Minute => &mut relative.minutes,
            CalendarUnit::Second => &mut relative.seconds,
        };
        *sum = sum.checked_add(amount)?;
        Some(())
    }
}
