//! Values of any kind that nobody needs.

use std::io::Read;

use super::{Result, Scanner};

/// Most levels of a value that is skipped.
const NESTING_MAX: usize = 1000;

impl<R: Read, W> Scanner<R, W> {
    /// Skips a value of any kind, without recursion.
    pub(crate) fn skip(&mut self) -> Result<(), W> {
        // The open values: true for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            if self.skip_opening(&mut open)? {
                continue;
            }
            loop {
                let Some(&object) = open.last() else {
                    return Ok(());
                };
                let (close, expected) = if object {
                    (b'}', "',' or '}'")
                } else {
                    (b']', "',' or ']'")
                };
                if self.one_of(&[b',', close], expected)? == close {
                    open.pop();
                    continue;
                }
                if object {
                    self.skip_key()?;
                }
                break;
            }
        }
    }

    /// Skips a simple value, or the beginning of an object or array. Returns true if a value in it
    /// follows.
    fn skip_opening(&mut self, open: &mut Vec<bool>) -> Result<bool, W> {
        let Some(first) = self.token()? else {
            return self.ended();
        };
        match first {
            b'{' | b'[' => {
                if open.len() == NESTING_MAX {
                    return self.fail(format!("a value has more than {NESTING_MAX} levels"));
                }
                self.at += 1;
                let object = first == b'{';
                let close = if object { b'}' } else { b']' };
                if self.token()? == Some(close) {
                    self.at += 1;
                    return Ok(false);
                }
                open.push(object);
                if object {
                    self.skip_key()?;
                }
                return Ok(true);
            }
            b'"' => self.skip_string()?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            b'-' | b'0'..=b'9' => self.skip_number()?,
            _ => return self.fail("expected a JSON value"),
        }
        Ok(false)
    }

    fn skip_key(&mut self) -> Result<(), W> {
        self.skip_string()?;
        self.one_of(b":", "':'").map(drop)
    }

    /// Skips a number. Its characters are checked, not their order.
    fn skip_number(&mut self) -> Result<(), W> {
        while let Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') = self.peek()? {
            self.at += 1;
        }
        Ok(())
    }
}
