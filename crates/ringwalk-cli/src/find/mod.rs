//! `ringwalk find`: the program around a search. The crate `ringwalk-find` has the language and the
//! search.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use clap::Args;
use ringwalk::{Monitor, Summary, Walk};
use ringwalk_find::parse::{Context, Refusal, parse_in};
use ringwalk_find::{Host, search};

use crate::common_args::ProgressWhen;
use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::from::open_for_search;
use crate::status::{Ended, GNU_USAGE, answered};

/// Arguments of `ringwalk find`: the words of its own language, which clap does not read.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct FindArgs {
    /// Starting points and an expression, as in find(1); see ringwalk-find(1)
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}

/// Runs a search that `words` describe in the language of find(1).
///
/// # Errors
///
/// If the words are wrong, or the search cannot begin.
pub fn run(words: Vec<OsString>, engine: &EngineOptions) -> Result<ExitCode, Ended> {
    let context = Context::from_environment().open_saved(open_for_search);
    let command = match parse_in(&context, words) {
        Ok(command) => command,
        Err(refusal) => return refuse(refusal),
    };
    if command.saved.is_some()
        && let Err(message) = engine.refuse(Lacks::Directories, "with --from")
    {
        console::error(message);
        return Err(Ended::with(GNU_USAGE));
    }
    let mut engine = *engine;
    // Commands use the terminal. A line that is redrawn would erase their questions and output.
    if engine.progress == ProgressWhen::Auto && command.expression.runs_commands() {
        engine.progress = ProgressWhen::Never;
    }
    let host = FindHost {
        engine: &engine,
        terminal: OnceLock::new(),
    };
    Ok(answered(search(&command, &host)))
}

/// Prints help and version, or reports what is wrong with the words.
fn refuse(refusal: Refusal) -> Result<ExitCode, Ended> {
    let text = match refusal {
        Refusal::Wrong(messages) => {
            messages.iter().for_each(console::error);
            return Err(Ended::with(GNU_USAGE));
        }
        Refusal::Help(text) => text,
        Refusal::Version => format!("find (ringwalk {})\n", env!("CARGO_PKG_VERSION")),
    };
    console::print(text.as_bytes())?;
    Ok(answered(true))
}

struct FindHost<'e> {
    engine: &'e EngineOptions,
    terminal: OnceLock<bool>,
}

impl Host for FindHost<'_> {
    fn report(&self, message: &str) {
        console::error(message);
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        console::write(bytes)
    }

    fn is_terminal(&self) -> bool {
        *self.terminal.get_or_init(console::stdout_is_terminal)
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        self.engine.ready(walk).ok()
    }

    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        self.engine.watch(monitor, run);
    }

    fn explains(&self) -> bool {
        self.engine.explain
    }
}
