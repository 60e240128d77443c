//! Items that say how far to go: lengths of time.

use super::items::Reader;
use super::token::{Decimal, Token, Unit};

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

impl Reader<'_> {
    /// A number with a sign and a unit behind a number or a zone, where the sign might have meant something else. GNU's
    /// grammar has no `ago` there.
    pub(super) fn signed_relative(&mut self) -> Option<()> {
        match (self.next()?, self.next()?) {
            (Token::Signed(number), Token::Unit(unit, times)) => {
                self.accumulate(unit, times.checked_mul(number.value)?)
            }
            _ => None,
        }
    }

    /// A number, taken already, of a unit that must follow.
    pub(super) fn relative(&mut self, number: i64) -> Option<()> {
        match self.next()? {
            Token::Unit(unit, times) => self.add(unit, times.checked_mul(number)?),
            _ => None,
        }
    }

    /// A number with a fraction, taken already, can only be one of seconds.
    pub(super) fn seconds(&mut self, number: Decimal) -> Option<()> {
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
    pub(super) fn add(&mut self, unit: Unit, mut amount: i64) -> Option<()> {
        if self.accept(|next| next == Token::Ago).is_some() {
            amount = amount.checked_neg()?;
        }
        self.accumulate(unit, amount)
    }

    pub(super) fn accumulate(&mut self, unit: Unit, amount: i64) -> Option<()> {
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
