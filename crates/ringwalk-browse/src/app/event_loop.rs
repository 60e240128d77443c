//! The loop on a terminal.
//!
//! One thread owns the terminal. It waits for keys with a limit, and in between looks at signals,
//! at answers of workers and at the progress of the tree.

use super::input::Input;
use super::signals::Signals;
use super::terminal::{Taken, refuse_after_panic};
use super::{App, Wish};
use std::io;
use std::time::{Duration, Instant};

/// How the browser has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Somebody has quit.
    Quit,
    /// A signal with this number has ended it. The terminal is usable again.
    Signal(i32),
}

impl App {
    /// Shows the browser on the terminal until somebody quits or a signal ends it. Afterwards the
    /// terminal is as it was.
    ///
    /// # Errors
    ///
    /// If standard input or output is no terminal, or `TERM` names one that cannot move its cursor:
    /// a message that says so. If the terminal cannot be read or written. If a thread of the
    /// program has panicked meanwhile: its message is on standard error.
    pub fn run(mut self) -> io::Result<End> {
        let end = self.run_on_terminal()?;
        // A thread may have panicked right before the end.
        refuse_after_panic()?;
        Ok(end)
    }

    fn run_on_terminal(&mut self) -> io::Result<End> {
        // In this order: a signal must not end the program while the terminal is taken.
        let signals = Signals::watch()?;
        let mut taken = Taken::take()?;
        let mut input = Input::default();
        loop {
            if let Some(signal) = signals.ending() {
                return Ok(End::Signal(signal));
            }
            refuse_after_panic()?;
            if signals.take_stop() {
                self.suspend(&mut taken, &signals)?;
            }
            if signals.take_continued() {
                // Another program may have changed the mode of the terminal meanwhile.
                taken.lend(|| ())?;
                self.draw_now();
            }
            // The terminal may have been smaller in between, and have lost what was drawn.
            if signals.take_resized() {
                taken.redraw()?;
                self.draw_now();
            }
            self.update(Instant::now());
            if self.must_draw(Instant::now()) {
                taken.draw(self)?;
                self.was_drawn(Instant::now());
            }
            if let Err(error) = self.read_keys(&mut input) {
                // The terminal and the signal of its end go together.
                return signals
                    .ending()
                    .map_or(Err(error), |signal| Ok(End::Signal(signal)));
            }
            match self.take_wish() {
                Some(Wish::Quit) => return Ok(End::Quit),
                Some(Wish::Suspend) => self.suspend(&mut taken, &signals)?,
                Some(Wish::Shell(path)) => {
                    self.run_shell(&mut taken, &path)?;
                    signals.forget_keyboard();
                }
                Some(Wish::Redraw) => {
                    taken.redraw()?;
                    self.draw_now();
                }
                None => {}
            }
        }
    }

    /// Waits for keys and applies all that are there, so that a held key causes one drawing for
    /// many repetitions.
    fn read_keys(&mut self, input: &mut Input) -> io::Result<()> {
        // Keys behind one that was a wish are still to be applied.
        let pause = if input.is_empty() {
            self.pause()
        } else {
            Duration::ZERO
        };
        input.wait(pause)?;
        while self.wish.is_none()
            && let Some(key) = input.next_key()?
        {
            self.key(key);
        }
        Ok(())
    }

    fn suspend(&mut self, taken: &mut Taken, signals: &Signals) -> io::Result<()> {
        taken.lend(|| signals.stop_here())??;
        self.draw_now();
        Ok(())
    }

    fn run_shell(&mut self, taken: &mut Taken, path: &[u8]) -> io::Result<()> {
        let Ok(actions) = self.services.actions.clone() else {
            return Ok(());
        };
        if let Err(reason) = taken.lend(|| actions.shell(path))? {
            self.complain(format!("cannot start a shell: {reason}"));
        }
        self.draw_now();
        Ok(())
    }
}
