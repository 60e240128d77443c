//! Options from the environment. Each variable has an option of the same name.

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::quote::quoted;

/// A variable of the environment whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentError {
    variable: &'static str,
    value: OsString,
    reason: String,
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            variable,
            value,
            reason,
        } = self;
        write!(
            f,
            "environment variable {variable}: invalid value {}: {reason}",
            quoted(value)
        )
    }
}

impl std::error::Error for EnvironmentError {}

/// Returns the value of the variable `name`, which `variable` looks up. Returns `None` if the
/// variable is not set.
///
/// # Errors
///
/// When the value is not text, or `parse` refuses it.
pub(crate) fn read<T>(
    name: &'static str,
    variable: impl Fn(&str) -> Option<OsString>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, EnvironmentError> {
    let Some(value) = variable(name) else {
        return Ok(None);
    };
    let parsed = OsStr::to_str(&value)
        .ok_or_else(|| "it is not text".to_owned())
        .and_then(parse);
    match parsed {
        Ok(parsed) => Ok(Some(parsed)),
        Err(reason) => Err(EnvironmentError {
            variable: name,
            value,
            reason,
        }),
    }
}

/// Parses a switch.
///
/// # Errors
///
/// A message about the expected values, if the text is neither 0 nor 1.
pub(crate) fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("expected 0 or 1".to_owned()),
    }
}
