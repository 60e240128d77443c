//! Taking the terminal, and giving it back.

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGHUP;
use signal_hook::low_level;
use std::ffi::OsStr;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// True while the terminal is in raw mode and shows the alternate screen.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// True once a thread has panicked. The thread that panics holds the lock of standard output from
/// before this is set until its message is written. Every write to the terminal first checks this
/// flag under the same lock, so that nothing comes after the message. A thread may take the lock
/// again while it has it.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// How often crossterm was entered and left: odd while it reads.
static READS: AtomicUsize = AtomicUsize::new(0);

/// crossterm, asked not to wait, reads for microseconds. After this time it reads without end.
const STUCK: Duration = Duration::from_millis(500);

/// A frame of a large terminal has some 50 kB. It shall reach the terminal in one write.
const BUFFER: usize = 64 << 10;

/// The terminal, taken. Dropping it gives the terminal back.
pub(super) struct Taken {
    /// What frames are drawn on.
    pub(super) terminal: Terminal<CrosstermBackend<BufWriter<Frames>>>,
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
        end_with_terminal()?;
        HAS_PANICKED.store(false, Ordering::Relaxed);
        enter()?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, Frames(stdout())));
        let terminal = Terminal::new(backend).inspect_err(|_| give_back())?;
        Ok(Self { terminal })
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
        let area = Rect::from((Position::ORIGIN, self.terminal.size()?));
        // Other than `Terminal::clear`, this does not ask the terminal where its cursor is. Not
        // every terminal answers, and the answer comes between keys.
        self.terminal.resize(area)
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
pub(super) struct Frames(Stdout);

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

/// Waits until the terminal has input, a signal comes, or the time is over.
///
/// # Errors
///
/// If the terminal is gone. Then do not ask crossterm 0.29 for events: it would read without end.
/// If the terminal disappears right after this check, [`end_with_terminal`] ends that.
pub(super) fn wait_for_input(pause: Duration) -> io::Result<()> {
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    let limit = Timespec::try_from(pause).ok();
    match poll(&mut polled, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if polled[0].revents().intersects(gone) {
        return Err(io::Error::other("the terminal is gone"));
    }
    Ok(())
}

/// Runs a function of crossterm that reads the terminal.
pub(super) fn reading<T>(read: impl FnOnce() -> T) -> T {
    READS.fetch_add(1, Ordering::Relaxed);
    let result = read();
    READS.fetch_add(1, Ordering::Relaxed);
    result
}

/// Starts a thread that ends the program if crossterm reads a terminal that is gone, which it does
/// without end. SIGHUP does not help there, as the loop looks at signals between two reads.
fn end_with_terminal() -> io::Result<()> {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let watch = || {
        let input = io::stdin();
        let mut polled = [PollFd::new(&input, PollFlags::empty())];
        // Without events that are asked for, only the end of the terminal is reported.
        while poll(&mut polled, None) == Err(Errno::INTR) {}
        loop {
            let before = READS.load(Ordering::Relaxed);
            thread::sleep(STUCK);
            let is_reading = before % 2 == 1 && READS.load(Ordering::Relaxed) == before;
            if is_reading && low_level::emulate_default_handler(SIGHUP).is_err() {
                std::process::abort();
            }
        }
    };
    let thread = thread::Builder::new().name("browse-terminal".to_owned());
    ringwalk_sys::with_signals_blocked(|| thread.spawn(watch)).map(drop)
}

fn enter() -> io::Result<()> {
    let _lock = stdout().lock();
    refuse_after_panic()?;
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::Relaxed);
    crossterm::execute!(stdout(), EnterAlternateScreen, Hide).inspect_err(|_| give_back())
}

/// Gives the terminal back if it was taken. Errors do not matter: the terminal may be gone.
fn give_back() {
    let _lock = stdout().lock();
    if IS_TAKEN.swap(false, Ordering::Relaxed) {
        let mut out = stdout();
        let _ = crossterm::execute!(out, LeaveAlternateScreen, Show);
        let _ = out.flush();
        let _ = disable_raw_mode();
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
