//! Standard error and standard output, shared by messages, results and the line of progress.
//!
//! A thread draws the line of progress on the last line of the terminal. All writes go through one
//! lock. A writer first erases the line of progress, which the thread draws again at its next turn.
//!
//! All messages go through this module. Of control characters, only line breaks, tabs and NUL reach
//! the terminal. This is the last line of defence: code that puts foreign text into a message
//! quotes it ([`crate::quote`]) or escapes it ([`ringwalk::shown`]), so the text stays on its line.
//! Results in lines go through [`Results`] or [`print_lines`], which do the same for them. Other
//! results are bytes ([`print()`], [`write()`]): code that makes them asks [`stdout_is_terminal`].

mod results;

use crate::ended::Ended;
use ringwalk::shown::lines;
use ringwalk_gnu::is_dumb_terminal;
pub use ringwalk_gnu::reason;
use ringwalk_sys::stdout_was_closed;
use ringwalk_sys::sync::lock;
use rustix::termios::tcgetwinsize;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, OnceLock};

pub use results::Results;

/// Moves to the first column, then erases to the end of the line (ECMA-48 EL).
const ERASE_LINE: &str = "\r\x1b[K";

static PROGRAM: OnceLock<&'static str> = OnceLock::new();
static CONSOLE: Mutex<Console> = Mutex::new(Console { line_shown: false });

struct Console {
    line_shown: bool,
}

fn console() -> MutexGuard<'static, Console> {
    lock(&CONSOLE)
}

impl Console {
    fn erase_line(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            put(ERASE_LINE);
        }
    }
}

/// Writes to standard error in one call, so that lines of several processes do not mix. The caller
/// holds the lock. A failure cannot be reported anywhere, and must not end the work.
fn put(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

#[expect(
    clippy::disallowed_methods,
    reason = "all messages go through this function"
)]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// Returns true if standard input is a terminal, so that somebody may answer a question.
pub fn stdin_is_terminal() -> bool {
    rustix::termios::isatty(rustix::stdio::stdin())
}

/// Asks a question on standard error. Returns true if the answer on standard input begins with `y`.
#[expect(
    clippy::disallowed_methods,
    reason = "`ask` makes the question safe for a terminal"
)]
pub fn ask(question: &[u8]) -> bool {
    without_line(|| ringwalk_find::execute::ask(question, io::stderr(), io::stdin()))
}

/// Returns true if standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    stderr().is_terminal()
}

/// Returns the number of columns of the terminal on standard error, or 0 if it is unknown.
pub fn columns() -> usize {
    tcgetwinsize(stderr()).map_or(0, |size| usize::from(size.ws_col))
}

/// Returns true if standard output is a terminal.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns true if standard output is a terminal that shows colours and bold text. `NO_COLOR` and a
/// [dumb](is_dumb_terminal) terminal turn both off.
pub fn stdout_has_colors() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stdout_is_terminal() && !is_refused && !is_dumb_terminal()
}

/// Returns the number of columns of the terminal on standard output, or 0 if it is unknown.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub fn stdout_columns() -> usize {
    tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col))
}

/// Sets the name that messages begin with. Only the first call has an effect. The default is
/// `ringwalk`.
pub fn set_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// Returns the name that messages begin with.
pub fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or("ringwalk")
}

/// Reports a failure to the user: writes `ringwalk: MESSAGE` as a line to standard error.
pub fn error(message: impl Display) {
    note(format_args!("{}: {message}", program()));
}

/// Writes a line of `text` to standard error, with its control characters escaped.
pub fn note(text: impl Display) {
    let text = text.to_string();
    let text = lines(&text);
    let mut console = console();
    let erased = std::mem::take(&mut console.line_shown);
    let erase = if erased { ERASE_LINE } else { "" };
    put(&format!("{erase}{text}\n"));
}

/// Draws the line of progress. `line` must have no line break and fit the terminal.
pub fn draw(line: &str) {
    let mut console = console();
    console.line_shown = true;
    put(&format!("{ERASE_LINE}{}", lines(line)));
}

/// Erases the line of progress.
pub fn clear() {
    console().erase_line();
}

/// Runs `write` while no line of progress is on the terminal. Standard output may be the same
/// terminal.
pub fn without_line<T>(write: impl FnOnce() -> T) -> T {
    let mut console = console();
    console.erase_line();
    write()
}

/// Writes `bytes` to standard output. Reports a failure.
///
/// # Errors
///
/// The end of the program. If the reader closed the pipe (`EPIPE`), it has read what it wanted, and
/// there is no message.
pub fn print(bytes: &[u8]) -> Result<(), Ended> {
    write(bytes).map_err(|failure| write_failed(&failure))
}

/// Writes whole lines of results to standard output, as [`Results`] does. Reports a failure.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn print_lines(bytes: &[u8]) -> Result<(), Ended> {
    let written = Results::of_stdout().write_all(bytes);
    written.map_err(|failure| write_failed(&failure))
}

/// Writes all of `bytes` to standard output.
///
/// # Errors
///
/// The errors of write(2). `EBADF` if standard output was closed when the program began.
#[expect(
    clippy::disallowed_methods,
    reason = "all results go through this function"
)]
pub fn write(bytes: &[u8]) -> io::Result<()> {
    without_line(|| {
        require_stdout()?;
        // The buffer of the standard library would search the bytes for the last line break.
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    })
}

/// Succeeds unless standard output was closed when the program began.
///
/// # Errors
///
/// `EBADF` if it was closed. The standard library then opens the null device, so no write fails.
pub fn require_stdout() -> io::Result<()> {
    if stdout_was_closed() {
        return Err(rustix::io::Errno::BADF.into());
    }
    Ok(())
}

/// Reports a failed write to standard output, unless the reader has closed the pipe.
pub fn write_failed(failure: &io::Error) -> Ended {
    if failure.kind() != io::ErrorKind::BrokenPipe {
        error(format_args!("write error: {}", reason(failure)));
    }
    Ended::with(ExitCode::FAILURE)
}

#[cfg(test)]
mod tests;
