//! Taking the terminal, and giving it back.

use super::App;
use crate::screen::{self, Buffer, CLEAR};
use rustix::termios::{self, OptionalActions, Termios};
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The mode of the terminal before it was taken; `None` while it is not taken.
static MODE_BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The alternate screen of xterm, without a cursor.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[?25l";
/// The usual screen, with a cursor.
const GIVE_BACK: &[u8] = b"\x1b[?1049l\x1b[?25h";

/// True once a thread has panicked. The thread that panics holds the lock of standard output from
/// before this is set until its message is written. Every write to the terminal first checks this
/// flag under the same lock, so that nothing comes after the message. A thread may take the lock
/// again while it has it.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// The size of a terminal that does not know it, such as a serial console.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// The terminal, taken. Dropping it gives the terminal back.
pub(super) struct Taken {
    /// What the terminal shows.
    shown: Buffer,
    /// The next frame.
    next: Buffer,
}

impl Taken {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// If there is no terminal, or if it cannot move its cursor.
    pub(super) fn take() -> io::Result<Self> {
        check(
            stdout().is_terminal(),
            io::stdin().is_terminal(),
            std::env::var_os("TERM").as_deref(),
        )
        .map_err(io::Error::other)?;
        give_back_on_panic();
        HAS_PANICKED.store(false, Ordering::Relaxed);
        enter()?;
        Ok(Self {
            shown: Buffer::new(0, 0),
            next: Buffer::new(0, 0),
        })
    }

    /// Gives the terminal back while `act` runs, and takes it again. The next frame is drawn as a
    /// whole.
    pub(super) fn lend<T>(&mut self, act: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let result = act();
        enter()?;
        self.redraw()?;
        Ok(result)
    }

    /// Clears the screen. The next frame is drawn as a whole.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        let (width, height) = size()?;
        self.shown = Buffer::new(width, height);
        self.next = self.shown.clone();
        Frames(stdout()).write_all(CLEAR)
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self, app: &mut App) -> io::Result<()> {
        let area = self.shown.area;
        if (area.width, area.height) != size()? {
            self.redraw()?;
        }
        screen::draw(app, &mut self.next);
        // A frame reaches the terminal in one write.
        let mut sequences = Vec::new();
        screen::paint(&self.shown, &self.next, &mut sequences)?;
        let mut out = Frames(stdout());
        out.write_all(&sequences)?;
        out.flush()?;
        std::mem::swap(&mut self.shown, &mut self.next);
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Standard output, until a thread panics. Later writes are dropped: the loop ends with an error.
///
/// The lock is not held while a frame is computed: that waits for locks of the tree, and a thread
/// that panics may hold them while it waits for this one.
struct Frames(Stdout);

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = self.0.lock();
        if HAS_PANICKED.load(Ordering::Relaxed) {
            return Ok(bytes.len());
        }
        out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Waits until the message of a panic that has begun is written.
///
/// # Errors
///
/// If a thread has panicked.
pub(super) fn refuse_after_panic() -> io::Result<()> {
    let _lock = stdout().lock();
    if HAS_PANICKED.load(Ordering::Relaxed) {
        return Err(io::Error::other("a part of the program has failed"));
    }
    Ok(())
}

/// Says why a terminal cannot be used.
fn check(out: bool, input: bool, term: Option<&OsStr>) -> Result<(), String> {
    let instead = "use --once KEYS, or `ringwalk du`";
    if !out || !input {
        let what = if out { "input" } else { "output" };
        return Err(format!(
            "browsing needs a terminal, and standard {what} is not a terminal: {instead}"
        ));
    }
    match term.and_then(OsStr::to_str) {
        None | Some("") => Err(format!(
            "browsing needs to know the terminal, and TERM is not set: set it, or {instead}"
        )),
        Some("dumb") => Err(format!(
            "browsing needs a terminal that can move its cursor, and TERM is dumb: {instead}"
        )),
        Some(_) => Ok(()),
    }
}

/// Returns columns and lines of the terminal.
fn size() -> io::Result<(u16, u16)> {
    let size = termios::tcgetwinsize(stdout())?;
    if size.ws_col == 0 || size.ws_row == 0 {
        return Ok(USUAL_SIZE);
    }
    Ok((size.ws_col, size.ws_row))
}

fn enter() -> io::Result<()> {
    let mut out = stdout().lock();
    refuse_after_panic()?;
    let before = termios::tcgetattr(io::stdin())?;
    let mut raw = before.clone();
    raw.make_raw();
    termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    *MODE_BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    let entered = out.write_all(TAKE).and_then(|()| out.flush());
    entered.inspect_err(|_| give_back())
}

/// Gives the terminal back if it was taken. Errors do not matter: the terminal may be gone.
fn give_back() {
    let mut out = stdout().lock();
    let mut before = MODE_BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = before.take() {
        let _ = out.write_all(GIVE_BACK);
        let _ = out.flush();
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// Makes a panic of any thread give the terminal back, before it writes its message. The hook also
/// runs where a panic aborts the process.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let _lock = stdout().lock();
            HAS_PANICKED.store(true, Ordering::Relaxed);
            give_back();
            usual(info);
        }));
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "frames hold text that `screen::text` has made safe, and commands of this program"
)]
fn stdout() -> Stdout {
    io::stdout()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_is_missing() {
        let check = |out, input, term: &str| check(out, input, Some(OsStr::new(term)));
        assert!(check(true, true, "xterm").is_ok());
        assert!(
            check(false, true, "xterm")
                .unwrap_err()
                .contains("standard output")
        );
        assert!(
            check(true, false, "xterm")
                .unwrap_err()
                .contains("standard input")
        );
        assert!(
            check(true, true, "dumb")
                .unwrap_err()
                .contains("TERM is dumb")
        );
        assert!(
            check(true, true, "")
                .unwrap_err()
                .contains("TERM is not set")
        );
        assert!(
            super::check(true, true, None)
                .unwrap_err()
                .contains("TERM is not set")
        );
    }
}
