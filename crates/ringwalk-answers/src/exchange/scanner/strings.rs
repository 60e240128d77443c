//! Strings and their escapes.

use std::io::Read;

use super::{ImportError, Place, Result, Scanner};

impl<R: Read, W> Scanner<R, W> {
    /// Reads a string into `out`, which is cleared. Escapes become UTF-8; other bytes stay.
    pub(crate) fn string(&mut self, out: &mut Vec<u8>, limit: usize) -> Result<(), W> {
        out.clear();
        self.one_of(b"\"", "a string")?;
        let start = self.place();
        while let Some(bytes) = self.piece()? {
            out.extend_from_slice(bytes.as_slice());
            if out.len() > limit {
                let message = format!("the string has more than {limit} bytes");
                return Err(ImportError::content(start, message));
            }
        }
        Ok(())
    }

    /// Skips a string.
    pub(super) fn skip_string(&mut self) -> Result<(), W> {
        self.one_of(b"\"", "a string")?;
        while self.piece()?.is_some() {}
        Ok(())
    }

    /// Takes the next piece of a string: a run of bytes, or an escape. None is the end of the
    /// string.
    fn piece(&mut self) -> Result<Option<Piece<'_>>, W> {
        if self.peek()?.is_none() {
            return self.ended();
        }
        let rest = &self.buffer[self.at..self.end];
        let special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        let run = rest.iter().position(special).unwrap_or(rest.len());
        if run > 0 {
            let run = self.at..self.at + run;
            self.at = run.end;
            return Ok(Some(Piece::Run(&self.buffer[run])));
        }
        match rest[0] {
            b'"' => {
                self.at += 1;
                Ok(None)
            }
            b'\\' => self.escape().map(Some),
            _ => self.fail("a string has a control character that is not escaped"),
        }
    }

    fn escape(&mut self) -> Result<Piece<'static>, W> {
        let place = self.place();
        self.at += 1;
        let character = match self.byte()? {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.escaped_character(place)?,
            _ => return Err(ImportError::content(place, "unknown escape in a string")),
        };
        let mut bytes = [0; 4];
        let len = character.encode_utf8(&mut bytes).len();
        Ok(Piece::Character(bytes, len))
    }

    /// Reads the digits of `\u`, and the second half of a surrogate pair.
    fn escaped_character(&mut self, place: Place) -> Result<char, W> {
        let lone = || {
            ImportError::content(
                place,
                "half of a surrogate pair, which is not a character and has no bytes",
            )
        };
        let first = self.four_digits()?;
        let code = match first {
            0xd800..0xdc00 => {
                if self.byte()? != b'\\' || self.byte()? != b'u' {
                    return Err(lone());
                }
                let second = self.four_digits()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return Err(lone());
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(lone)
    }

    fn four_digits(&mut self) -> Result<u32, W> {
        let mut value = 0;
        for _ in 0..4 {
            let place = self.place();
            let digit = char::from(self.byte()?).to_digit(16);
            let digit =
                digit.ok_or_else(|| ImportError::content(place, "expected a hexadecimal digit"))?;
            value = value << 4 | digit;
        }
        Ok(value)
    }
}

/// A piece of a string.
enum Piece<'a> {
    Run(&'a [u8]),
    Character([u8; 4], usize),
}

impl Piece<'_> {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Run(bytes) => bytes,
            Self::Character(bytes, len) => &bytes[..*len],
        }
    }
}
