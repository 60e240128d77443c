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

    /// Reads a time in seconds since 1970, with an optional fraction. Returns seconds and
    /// nanoseconds.
    ///
    /// ncdu's numbers have no sign. ncdu 1 writes a time before 1970 as its two's complement in 64
    /// bits.
    pub(crate) fn time(&mut self) -> Result<(i64, u32), W> {
        let seconds = self.digits(u64::MAX)?.cast_signed();
        if self.peek()? != Some(b'.') {
            return match self.peek()? {
                Some(b'e' | b'E') => self.fail("expected a number without an exponent"),
                _ => Ok((seconds, 0)),
            };
        }
        self.at += 1;
        let (mut nanoseconds, mut weight) = (0, 100_000_000);
        let mut any = false;
        while let Some(digit @ b'0'..=b'9') = self.peek()? {
            self.at += 1;
            nanoseconds += u32::from(digit - b'0') * weight;
            weight /= 10;
            any = true;
        }
        if !any {
            return match self.peek()? {
                Some(_) => self.fail("expected a digit"),
                None => self.ended(),
            };
        }
        Ok((seconds, nanoseconds))
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
