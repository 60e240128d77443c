//! Parses actions and their arguments.

use super::parser::Parser;
use super::words::{invalid, missing, plain};
use super::{Refusal, sink};
use crate::execute::{CommandTemplate, check_path};
use crate::expression::{Action, Sink, SinkIndex};
use crate::format::Format;
use crate::table::ActionWord;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// Reads the arguments of an action.
    pub(super) fn action(&mut self, word: ActionWord, name: &OsStr) -> Result<Action, Refusal> {
        let action = self.action_named(word, name)?;
        self.acts |= action.replaces_print();
        Ok(action)
    }

    fn action_named(&mut self, word: ActionWord, name: &OsStr) -> Result<Action, Refusal> {
        Ok(match word {
            ActionWord::Prune => {
                self.prunes = true;
                Action::Prune
            }
            ActionWord::Quit => Action::Quit,
            ActionWord::Delete => {
                self.deletes = true;
                self.options.depth_first = true;
                Action::Delete
            }
            ActionWord::Print => self.print(Sink::Stdout, b'\n'),
            ActionWord::Print0 => self.print(Sink::Stdout, 0),
            ActionWord::Fprint => {
                let file = self.file(name)?;
                self.print(file, b'\n')
            }
            ActionWord::Fprint0 => {
                let file = self.file(name)?;
                self.print(file, 0)
            }
            ActionWord::Ls => Action::Ls {
                sink: self.sink(Sink::Stdout),
            },
            ActionWord::Fls => {
                let file = self.file(name)?;
                Action::Ls {
                    sink: self.sink(file),
                }
            }
            ActionWord::Printf => {
                let format = self.words.argument(name)?;
                self.printf(Sink::Stdout, format)?
            }
            ActionWord::Fprintf => {
                let given = self.words.argument(name)?;
                let format = self.words.take().ok_or_else(|| invalid(given, name))?;
                self.printf(file_named(given), format)?
            }
            ActionWord::Exec => Action::Execute(self.command(name, false, false)?),
            ActionWord::ExecDir => Action::Execute(self.command(name, true, false)?),
            ActionWord::Ok => Action::Execute(self.command(name, false, true)?),
            ActionWord::OkDir => Action::Execute(self.command(name, true, true)?),
        })
    }

    fn sink(&mut self, wanted: Sink) -> SinkIndex {
        sink(wanted, &mut self.sinks)
    }

    fn file(&mut self, name: &OsStr) -> Result<Sink, Refusal> {
        self.words.argument(name).map(file_named)
    }

    fn print(&mut self, sink: Sink, end: u8) -> Action {
        Action::Print {
            sink: self.sink(sink),
            end,
        }
    }

    fn printf(&mut self, sink: Sink, format: &OsStr) -> Result<Action, Refusal> {
        let format =
            Format::parse(format.as_bytes(), &mut self.warnings).map_err(Refusal::wrong)?;
        Ok(Action::Printf {
            sink: self.sink(sink),
            format,
        })
    }

    /// Reads a command up to `;`. Unless the user is asked before it runs, it may also end at `+`
    /// after `{}`.
    fn command(
        &mut self,
        name: &OsStr,
        in_directory: bool,
        ask: bool,
    ) -> Result<CommandTemplate, Refusal> {
        self.asks |= ask;
        let words = &self.words.all[self.words.next..];
        if let Some(utility) = words.first().filter(|_| in_directory) {
            check_search_path(name)?;
            if contains_braces(utility) {
                return Err(Refusal::wrong(
                    "You may not use {} within the utility name for -execdir and -okdir, because this is a potential security \
problem.",
                ));
            }
        }
        let end = end_of_command(words, !ask).ok_or_else(|| missing(name))?;
        self.words.next += end + 1;
        let many = words[end] == "+";
        let words = &words[..end];
        if words.is_empty() {
            return Err(invalid(OsStr::new(";"), name));
        }
        if many && has_several_braces(words) {
            return Err(Refusal::wrong(format!(
                "Only one instance of {{}} is supported with {} ... +",
                plain(name)
            )));
        }
        let given = if many { &words[..end - 1] } else { words };
        Ok(CommandTemplate {
            words: given.to_vec(),
            in_directory,
            many,
            ask,
        })
    }
}

/// Returns where a command ends: at `;`, or at a `+` after the word `{}`. No other `+` is special.
fn end_of_command(words: &[OsString], plus: bool) -> Option<usize> {
    let mut braces = false;
    words.iter().position(|word| {
        let ends = word == ";" || (plus && word == "+" && braces);
        braces = word == "{}";
        ends
    })
}

fn has_several_braces(words: &[OsString]) -> bool {
    words.iter().filter(|word| contains_braces(word)).count() > 1
}

/// Checks that `PATH` does not lead into directories that commands run in.
fn check_search_path(action: &OsStr) -> Result<(), Refusal> {
    let path = std::env::var_os("PATH");
    check_path(path.as_deref(), &plain(action)).map_err(Refusal::wrong)
}

fn contains_braces(word: &OsStr) -> bool {
    word.as_bytes().windows(2).any(|pair| pair == b"{}")
}

fn file_named(name: &OsStr) -> Sink {
    match name.as_bytes() {
        b"/dev/stdout" => Sink::Stdout,
        b"/dev/stderr" => Sink::Stderr,
        _ => Sink::File(name.to_owned()),
    }
}
