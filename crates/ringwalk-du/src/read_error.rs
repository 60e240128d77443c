//! What visitors report and ask while they work: read errors, and whether to go on.

use ringwalk::{Errno, Error, Operation};
use std::path::Path;

/// A path that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError<'p> {
    /// The operation that failed.
    pub operation: Operation,
    /// The path, beginning with the root as it was given.
    pub path: &'p Path,
    /// The kernel's answer.
    pub errno: Errno,
}

/// Called for each read error, on the thread of the worker that had it.
pub type Report<'t> = dyn Fn(ReadError<'_>) + Sync + 't;

/// Called now and then by all workers: true ends the work.
pub type Stop<'t> = dyn Fn() -> bool + Sync + 't;

impl<'p> From<&'p Error> for ReadError<'p> {
    fn from(error: &'p Error) -> Self {
        Self {
            operation: error.operation(),
            path: error.path(),
            errno: error.errno(),
        }
    }
}
