//! Exit statuses, and reports that end a command.
//!
//! | status | commands but find and du | find, du |
//! |---|---|---|
//! | 0 | the answer is complete | the same |
//! | 1 | the answer lacks something; `diff`: the snapshots differ | the same, and wrong command lines |
//! | 2 | there is no answer: the command line, an input or an output cannot be used | |
//!
//! GNU find and GNU du have 1 for every failure, and scripts that call them know that. `diff` has
//! the statuses of diff(1): an answer that lacks something has 2.

use crate::console;
use crate::quote::quoted;
use std::ffi::OsStr;
use std::fmt::Display;
use std::process::ExitCode;

pub use crate::ended::Ended;

/// There is no answer.
pub const TROUBLE: u8 = 2;

/// The command line of `find` or `du` is wrong.
pub const GNU_USAGE: u8 = 1;

/// Returns the status of a command that has printed its answer.
pub fn answered(is_complete: bool) -> ExitCode {
    if is_complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Reports why there is no answer.
pub fn trouble(message: impl Display) -> Ended {
    console::error(message);
    Ended::with(TROUBLE)
}

/// Reports why there is no answer: a file, and what is wrong with it.
pub fn failed<P: AsRef<OsStr> + ?Sized>(path: &P, reason: impl Display) -> Ended {
    trouble(format_args!("{}: {reason}", quoted(path)))
}
