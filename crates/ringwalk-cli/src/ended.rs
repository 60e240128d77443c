//! The end of a command: one type for all. `status.rs` has its statuses.

use std::process::ExitCode;

/// The end of a command that cannot go on. The reason has been reported, if the user needs one.
#[derive(Debug)]
#[must_use]
pub struct Ended(ExitCode);

impl Ended {
    /// Ends a command with a status.
    pub fn with(status: impl Into<ExitCode>) -> Self {
        Self(status.into())
    }

    /// Returns the exit status.
    pub fn status(self) -> ExitCode {
        self.0
    }
}
