//! From words to an expression.

use crate::expression::Command;
use std::ffi::OsString;

/// Why there is no expression to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The command line is wrong: messages for standard error, a line each, without the program's name; status 1.
    Wrong(Vec<String>),
    /// `-help`, `--help`: the text for standard output; status 0.
    Help(String),
    /// `-version`, `--version`; status 0.
    Version,
}

/// Understands the arguments of find(1), without the program's name.
///
/// # Errors
///
/// When there is nothing to evaluate: see [`Refusal`]. Nothing has been done then.
pub fn parse(arguments: Vec<OsString>) -> Result<Command, Refusal> {
    let _ = arguments;
    Err(Refusal::Version)
}
