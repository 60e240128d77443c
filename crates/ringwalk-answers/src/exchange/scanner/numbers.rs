//! Numbers, times, true and false.

use std::io::Read;

use super::{ImportError, Result, Scanner};

impl<R: Read, W> Scanner<R, W> {
    /// Reads a whole number of at most `max`.
    pub(crate) fn number(&mut self, max: u64) -> Result<u64, W> {
        let value = self.digits(max)?;
        match self.peek()? {
            Some(b'.' | b'e' | b'E') => self.fail("expected a whole number"),
            _ => Ok(value),
        }
    }

    /// Reads the digits of a whole number of at most `max`.
    fn digits(&mut self, max: u64) -> Result<u64, W> {
        if !self.token()?.is_some_and(|byte| byte.is_ascii_digit()) {
            if self.peek()?.is_none() {
                return self.ended();
            }
            return self.fail("expected a whole number that is not negative");
        }
        let place = self.place();
        let leading_zero = self.peek()? == Some(b'0');
        let (mut value, mut length) = (0u64, 0u32);
        while let Some(digit @ b'0'..=b'9') = self.peek()? {
            self.at += 1;
            length += 1;
            let next = value.checked_mul(10);
            let next = next.and_then(|value| value.checked_add(u64::from(digit - b'0')));
            let Some(next) = next.filter(|value| *value <= max) else {
                let message = format!("the number is larger than {max}");
                return Err(ImportError::content(place, message));
            };
            value = next;
        }
        if leading_zero && length > 1 {
            return Err(ImportError::content(place, "a number begins with 0"));
        }
        Ok(value)
    }

    /// Reads a time in seconds since 1970, with an optional sign and fraction. Returns seconds and
    /// nanoseconds.
    ///
    /// ncdu's numbers have no sign. ncdu 1 writes a time before 1970 as its two's complement in 64
    /// bits, with a fraction that counts forwards. Other programs, such as gdu, write a minus.
    pub(crate) fn time(&mut self) -> Result<(i64, u32), W> {
        let negative = self.token()? == Some(b'-');
        self.at += usize::from(negative);
        if negative && matches!(self.peek()?, Some(b' ' | b'\t' | b'\r' | b'\n')) {
            return self.fail("expected a digit");
        }
        let limit = if negative { 1 << 63 } else { u64::MAX };
        let seconds = self.digits(limit)?;
        let nanoseconds = match self.peek()? {
            Some(b'.') => self.fraction()?,
            Some(b'e' | b'E') => return self.fail("expected a number without an exponent"),
            _ => 0,
        };
        if !negative {
            return Ok((seconds.cast_signed(), nanoseconds));
        }
        let seconds = 0i64.wrapping_sub_unsigned(seconds);
        match nanoseconds {
            0 => Ok((seconds, 0)),
            // The nanoseconds of a time count forwards.
            _ => Ok((seconds.saturating_sub(1), 1_000_000_000 - nanoseconds)),
        }
    }

    /// Reads a point and digits. Returns nanoseconds.
    fn fraction(&mut self) -> Result<u32, W> {
        self.at += 1;
        let (mut nanoseconds, mut weight) = (0, 100_000_000);
        let mut any = false;
        while let Some(digit @ b'0'..=b'9') = self.peek()? {
            self.at += 1;
            nanoseconds += u32::from(digit - b'0') * weight;
            weight /= 10;
            any = true;
        }
        match self.peek()? {
            _ if any => Ok(nanoseconds),
            Some(_) => self.fail("expected a digit"),
            None => self.ended(),
        }
    }

    /// Reads `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, W> {
        match self.token()? {
            Some(b't') => self.word(b"true").map(|()| true),
            Some(b'f') => self.word(b"false").map(|()| false),
            Some(_) => self.fail("expected true or false"),
            None => self.ended(),
        }
    }

    pub(super) fn word(&mut self, word: &[u8]) -> Result<(), W> {
        let place = self.place();
        for &expected in word {
            if self.byte()? != expected {
                return Err(ImportError::content(place, "expected a JSON value"));
            }
        }
        Ok(())
    }
}
