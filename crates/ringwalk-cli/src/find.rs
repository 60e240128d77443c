//! `ringwalk find`: what the search needs of this program; the language and the search are the crate `ringwalk-find`.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use ringwalk::{Monitor, Summary, Walk};
use ringwalk_find::parse::{Refusal, parse};
use ringwalk_find::{Host, search};

use crate::console;
use crate::engine_options::{EngineOptions, ProgressWhen};
use crate::explain::explain;
use crate::progress::Progress;

/// Does what `words` say, in the language of find(1).
pub fn run(words: Vec<OsString>, engine: &EngineOptions) -> ExitCode {
    let command = match parse(words) {
        Ok(command) => command,
        Err(refusal) => return refuse(refusal),
    };
    let mut engine = *engine;
    // The terminal is the commands': a line that is redrawn would take away questions, and what they write.
    if engine.progress == ProgressWhen::Auto && command.expression.runs_commands() {
        engine.progress = ProgressWhen::Never;
    }
    let program = Program {
        engine: &engine,
        terminal: OnceLock::new(),
    };
    if search(&command, &program) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn refuse(refusal: Refusal) -> ExitCode {
    let text = match refusal {
        Refusal::Wrong(messages) => {
            messages.iter().for_each(console::error);
            return ExitCode::FAILURE;
        }
        Refusal::Help(text) => text,
        Refusal::Version => format!("find (ringwalk {})\n", env!("CARGO_PKG_VERSION")),
    };
    match console::print(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(status) => status,
    }
}

struct Program<'e> {
    engine: &'e EngineOptions,
    terminal: OnceLock<bool>,
}

impl Host for Program<'_> {
    fn tell(&self, message: &str) {
        console::error(message);
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        console::write(bytes)
    }

    fn is_terminal(&self) -> bool {
        *self.terminal.get_or_init(console::stdout_is_terminal)
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        self.engine.ready(walk)
    }

    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        let progress = Progress::of_walk(self.engine.progress, monitor);
        let summary = run();
        drop(progress);
        if let Some(summary) = summary
            && self.engine.explain
        {
            explain(&summary);
        }
    }

    fn explains(&self) -> bool {
        self.engine.explain
    }
}
