//! Running commands: `-exec`, `-execdir`, `-ok`, `-okdir`.
//!
//! | file | what is in it |
//! |---|---|
//! | `template.rs` | a command as it was given, and running it for one file |
//! | `collector.rs` | running it for as many files at once as fit |
//! | `limit.rs` | how much fits |
//! | `launch.rs` | starting a program, waiting for it, and what is said of how that went |
//! | `place.rs` | the directory that a starting point is in |
//! | `ask.rs` | the question before `-ok`, and the answer |
//! | `search_path.rs` | whether `PATH` is safe for `-execdir` |
//!
//! Nothing here writes to standard output or error but the question: messages are returned, in [`Ran`]. What the caller holds
//! back of its own output is written out by [`Console::flush`], which is called before every question and command, so
//! that what the command writes comes after it.

mod ask;
mod collector;
mod launch;
mod limit;
mod place;
mod search_path;
mod template;

pub use ask::ask;
pub use collector::{Batch, Collector};
pub use search_path::check_path;
pub use template::CommandTemplate;

/// What commands need of whoever has them run.
pub trait Console {
    /// Writes out all output that is held back. Called before a question, and before a command starts.
    fn flush(&mut self);

    /// Puts the question of `-ok` and returns the answer; on standard error and from standard input unless this is
    /// overridden.
    #[expect(
        clippy::disallowed_methods,
        reason = "`ask` makes the question safe for a terminal"
    )]
    fn confirm(&mut self, question: &[u8]) -> bool {
        ask(question, std::io::stderr(), std::io::stdin())
    }

    /// Whether [`trace`](Self::trace) is to be called.
    fn traces(&self) -> bool {
        false
    }

    /// Told of each command's start and end, as lines for standard error: `-D exec`.
    fn trace(&mut self, line: &str) {
        let _ = line;
    }
}

/// What came of running a command, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "messages and failures are the caller's to tell"]
pub struct Ran {
    /// The value of the action: whether the command ended with status 0. Always true with `{} +`.
    pub succeeded: bool,
    /// What is to be said on standard error, after the program's name, each on a line of its own.
    pub messages: Vec<String>,
    /// Whether the whole search is to end with status 1: no command could be started, or one of `{} +` failed.
    pub find_fails: bool,
    /// Whether the search is to end at once, as GNU find does where it cannot start any process or cannot enter the
    /// directory of a starting point.
    pub ends: bool,
}

impl Ran {
    /// Takes in what came of another command of the same action.
    fn add(&mut self, other: Self) {
        self.succeeded &= other.succeeded;
        self.messages.extend(other.messages);
        self.find_fails |= other.find_fails;
        self.ends |= other.ends;
    }
}
