//! JSON from a stream, with strings of any bytes.
//!
//! ncdu writes names as they are, so its strings may be no UTF-8. Parsers of `str` refuse them.
//! Memory does not depend on the input: a string has a limit, and nothing recurses.
//!
//! | file | contents |
//! |---|---|
//! | `strings.rs` | strings and their escapes |
//! | `numbers.rs` | numbers, times, true and false |
//! | `skip.rs` | values of any kind that nobody needs |

use std::io::{self, Read};

use super::error::{ImportError, Place};

mod numbers;
mod skip;
mod strings;

const BUFFER: usize = 128 * 1024;

/// Reads JSON from `input`. `W` is the error of the writer of an import.
pub(crate) struct Scanner<R, W> {
    input: R,
    buffer: Box<[u8]>,
    /// The next byte is `buffer[at]`.
    at: usize,
    end: usize,
    /// The offset in the input of `buffer[0]`.
    base: u64,
    line: u64,
    /// The offset at which the line begins.
    line_start: u64,
    error: std::marker::PhantomData<W>,
}

type Result<T, W> = std::result::Result<T, ImportError<W>>;

impl<R: Read, W> Scanner<R, W> {
    /// Creates a scanner at the beginning of `input`.
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            at: 0,
            end: 0,
            base: 0,
            line: 1,
            line_start: 0,
            error: std::marker::PhantomData,
        }
    }

    /// Returns the place of the next byte.
    pub(crate) fn place(&self) -> Place {
        let offset = self.base + self.at as u64;
        Place::Text {
            line: self.line,
            column: offset - self.line_start + 1,
            offset,
        }
    }

    /// Returns the error for something wrong at the next byte.
    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Result<T, W> {
        Err(ImportError::content(self.place(), message))
    }

    /// Returns the next byte and leaves it there. None is the end.
    fn peek(&mut self) -> Result<Option<u8>, W> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok(self.buffer[..self.end].get(self.at).copied())
    }

    fn fill(&mut self) -> Result<(), W> {
        self.base += self.end as u64;
        (self.at, self.end) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(read) => {
                    self.end = read;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(ImportError::Read {
                        place: self.place(),
                        error,
                    });
                }
            }
        }
    }

    /// Takes the next byte of a token.
    fn byte(&mut self) -> Result<u8, W> {
        match self.peek()? {
            Some(byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => self.ended(),
        }
    }

    fn ended<T>(&self) -> Result<T, W> {
        self.fail("the file ends too early: it was cut off")
    }

    /// Skips white space. Returns the byte after it and leaves it there. None is the end.
    pub(crate) fn token(&mut self) -> Result<Option<u8>, W> {
        loop {
            match self.peek()? {
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.base + self.at as u64;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                other => return Ok(other),
            }
        }
    }

    /// Skips white space and takes the byte after it if it is one of `wanted`. Returns it.
    /// `expected` says in a message what was expected.
    pub(crate) fn one_of(&mut self, wanted: &[u8], expected: &str) -> Result<u8, W> {
        match self.token()? {
            Some(byte) if wanted.contains(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            Some(_) => self.fail(format!("expected {expected}")),
            None => self.ended(),
        }
    }

    /// Succeeds if there is only white space up to the end.
    pub(crate) fn end(&mut self) -> Result<(), W> {
        match self.token()? {
            None => Ok(()),
            Some(_) => self.fail("expected the end of the file"),
        }
    }
}

#[cfg(test)]
mod tests;
