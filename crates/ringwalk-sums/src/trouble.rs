//! What workers say and ask while they work: what could not be read, and whether to go on.

use ringwalk::{Errno, Error, Operation};
use std::path::Path;

/// Something that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble<'p> {
    /// What was being done.
    pub operation: Operation,
    /// The path, beginning with the root as it was given.
    pub path: &'p Path,
    /// The kernel's answer.
    pub errno: Errno,
}

/// Called for everything that could not be read, on the thread of whoever found out.
pub type Tell<'t> = dyn Fn(Trouble<'_>) + Sync + 't;

/// Asked now and then by all workers: true ends the work.
pub type Stop<'t> = dyn Fn() -> bool + Sync + 't;

impl<'p> From<&'p Error> for Trouble<'p> {
    fn from(error: &'p Error) -> Self {
        Self {
            operation: error.operation(),
            path: error.path(),
            errno: error.errno(),
        }
    }
}
