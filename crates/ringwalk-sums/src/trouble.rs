//! What could not be read, told as it comes: by all workers at once.

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

impl<'p> From<&'p Error> for Trouble<'p> {
    fn from(error: &'p Error) -> Self {
        Self {
            operation: error.operation(),
            path: error.path(),
            errno: error.errno(),
        }
    }
}
