//! The reader of words, and messages about words.

use super::Refusal;
use ringwalk_gnu::quote;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The words of a command line, and the number of words read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) all: &'a [OsString],
    pub(super) next: usize,
}

impl<'a> Words<'a> {
    /// Returns the next word without reading it.
    pub(super) fn peek(&self) -> Option<&'a OsStr> {
        self.all.get(self.next).map(OsString::as_os_str)
    }

    /// Reads a word.
    pub(super) fn take(&mut self) -> Option<&'a OsStr> {
        let word = self.peek()?;
        self.next += 1;
        Some(word)
    }

    /// Reads the argument of the word `name`.
    pub(super) fn argument(&mut self, name: &OsStr) -> Result<&'a OsStr, Refusal> {
        self.take().ok_or_else(|| missing(name))
    }
}

/// Returns a word as it is shown in a message.
pub(super) fn plain(word: &OsStr) -> Cow<'_, str> {
    word.to_string_lossy()
}

/// Returns a word between the locale's quotes, for a message.
pub(super) fn quoted(word: &OsStr) -> String {
    quote::value(word.as_bytes())
}

pub(super) fn missing(name: &OsStr) -> Refusal {
    Refusal::wrong(format!("missing argument to `{}'", plain(name)))
}

pub(super) fn invalid(argument: &OsStr, name: &OsStr) -> Refusal {
    Refusal::wrong(format!(
        "invalid argument `{}' to `{}'",
        plain(argument),
        plain(name)
    ))
}

pub(super) fn non_numeric(argument: &OsStr, name: &OsStr) -> Refusal {
    Refusal::wrong(format!(
        "non-numeric argument to {}: {}",
        plain(name),
        quoted(argument)
    ))
}

pub(super) fn out_of_range(argument: &OsStr) -> Refusal {
    Refusal::wrong(format!(
        "{}: Numerical result out of range",
        plain(argument)
    ))
}
