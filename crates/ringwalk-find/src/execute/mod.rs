//! Running commands: `-exec`, `-execdir`, `-ok`, `-okdir`.
//!
//! | file | contents |
//! |---|---|
//! | `template.rs` | a command as it was given, and its run for one file |
//! | `collector.rs` | its run for as many files at once as fit |
//! | `limit.rs` | the number of arguments that fit |
//! | `launch.rs` | starting a program, waiting for it, and the outcome |
//! | `place.rs` | the directory of a starting point |
//! | `ask.rs` | the question before `-ok`, and its answer |
//! | `search_path.rs` | the check that `PATH` is safe for `-execdir` |
//!
//! Nothing here writes to standard output or standard error except the question: [`Ran`] returns
//! messages. [`Console::flush`] writes out the output that the caller holds back. It is called
//! before every question and every command, so the output of the command comes after it.

mod ask;
mod collector;
mod launch;
mod limit;
mod place;
mod search_path;
mod template;

pub use ask::ask;
pub use collector::{Collector, FileBatch};
pub use search_path::check_path;
pub use template::CommandTemplate;

/// The services that commands need of their caller.
pub trait Console {
    /// Writes out all output that is held back. Called before a question, and before a command
    /// starts.
    fn flush(&mut self);

    /// Asks the question of `-ok` and returns the answer. Uses standard error and standard input
    /// unless an implementation overrides it.
    #[expect(
        clippy::disallowed_methods,
        reason = "`ask` makes the question safe for a terminal"
    )]
    fn confirm(&mut self, question: &[u8]) -> bool {
        ask(question, std::io::stderr(), std::io::stdin())
    }

    /// Returns true if [`trace`](Self::trace) is to be called.
    fn traces(&self) -> bool {
        false
    }

    /// Receives each command's start and end, as lines for standard error: `-D exec`.
    fn trace(&mut self, line: &str) {
        let _ = line;
    }
}

/// The outcome of a command, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "messages and failures are the caller's to tell"]
pub struct Ran {
    /// The value of the action: true if the command ended with status 0. Always true with `{} +`.
    pub succeeded: bool,
    /// The messages for standard error. Each is a line, to be written after the program's name.
    pub messages: Vec<String>,
    /// The whole search must end with status 1: no command could be started, or one of `{} +`
    /// failed.
    pub find_fails: bool,
    /// The search must end at once, as in GNU find: no process can be started, or the directory of
    /// a starting point cannot be entered.
    pub ends: bool,
}

impl Ran {
    /// Adds the outcome of another command of the same action.
    fn add(&mut self, other: Self) {
        self.succeeded &= other.succeeded;
        self.messages.extend(other.messages);
        self.find_fails |= other.find_fails;
        self.ends |= other.ends;
    }
}
