//! Standard error and standard output, shared by messages, results and the line of progress.
//!
//! The line of progress stands on the terminal's last line and is drawn by a thread of its own. Whatever else is
//! written must first take it away: so everything goes through one lock, and whoever writes clears the line. It is
//! drawn again at its next turn.
//!
//! Every message goes through here. Of control characters, only line breaks, tabs and NUL reach the
//! terminal. This is the last line of defence: code that puts foreign text into a message quotes it
//! ([`crate::quote`]) or escapes it ([`ringwalk::shown`]), so that the text stays on its line.
//! Results are bytes ([`print()`], [`write()`]). Code that makes them asks [`stdout_is_terminal`].

use ringwalk::shown::lines;
pub use ringwalk_gnu::reason;
use ringwalk_sys::stdout_was_closed;
use rustix::termios::tcgetwinsize;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Back to the first column, then erase to the end of the line (ECMA-48 EL).
const ERASE_LINE: &str = "\r\x1b[K";

static PROGRAM: OnceLock<&'static str> = OnceLock::new();
static CONSOLE: Mutex<Console> = Mutex::new(Console { line_shown: false });

struct Console {
    line_shown: bool,
}

fn console() -> MutexGuard<'static, Console> {
    CONSOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console {
    fn take_line_away(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            put(ERASE_LINE);
        }
    }
}

/// Writes to standard error in one call, so that lines of several processes do not mix; the caller holds the lock. A
/// failure cannot be told anywhere, and must not end the work.
fn put(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where all text goes through"
)]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// Returns true if standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    stderr().is_terminal()
}

/// Returns the columns of the terminal that standard error is; 0 if they are unknown.
pub fn columns() -> usize {
    tcgetwinsize(stderr()).map_or(0, |size| usize::from(size.ws_col))
}

/// Returns true if standard output is a terminal.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Sets the name that messages begin with; the first call counts. Without one it is `ringwalk`.
pub fn set_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// The name that messages begin with.
pub fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or("ringwalk")
}

/// Tells the user of something that went wrong: `ringwalk: MESSAGE`, a line on standard error.
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

/// Writes `text` to standard output, with its control characters escaped.
///
/// # Errors
///
/// Those of [`print()`].
pub fn report(text: &str) -> Result<(), ExitCode> {
    print(lines(text).as_bytes())
}

/// Draws the line of progress, which must have no line break and fit the terminal.
pub fn draw(line: &str) {
    let mut console = console();
    console.line_shown = true;
    put(&format!("{ERASE_LINE}{}", lines(line)));
}

/// Takes the line of progress away.
pub fn clear() {
    console().take_line_away();
}

/// Runs `write` while no line of progress is on the terminal: for writes to standard output, which may be the same one.
pub fn without_line<T>(write: impl FnOnce() -> T) -> T {
    let mut console = console();
    console.take_line_away();
    write()
}

/// Writes `bytes` to standard output, with a message when that fails.
///
/// # Errors
///
/// The exit status to end with. A reader that went away (`EPIPE`) has seen what it wanted, so that is not told.
pub fn print(bytes: &[u8]) -> Result<(), ExitCode> {
    write(bytes).map_err(|failure| write_failed(&failure))
}

/// Writes all of `bytes` to standard output.
///
/// # Errors
///
/// Those of write(2); `EBADF` if standard output was closed when the program began.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where all results go through"
)]
pub fn write(bytes: &[u8]) -> io::Result<()> {
    without_line(|| {
        require_stdout()?;
        // Not by way of the standard library's buffer, which looks for the last line in what it is given.
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
/// `EBADF`. The standard library opens the null device there, so no write fails.
pub fn require_stdout() -> io::Result<()> {
    if stdout_was_closed() {
        return Err(rustix::io::Errno::BADF.into());
    }
    Ok(())
}

/// Tells of a failed write to standard output, unless nobody reads it any more; the exit status to end with.
pub fn write_failed(failure: &io::Error) -> ExitCode {
    if failure.kind() != io::ErrorKind::BrokenPipe {
        error(format_args!("write error: {}", reason(failure)));
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_the_programs_name() {
        assert_eq!(program(), "ringwalk");
    }
}
