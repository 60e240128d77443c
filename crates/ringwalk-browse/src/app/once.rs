//! Keys from a text in place of a terminal.

use super::{App, Wish};
use crate::keys;
use crate::screen::{self, Buffer};
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two looks at a tree that is being read.
const PAUSE: Duration = Duration::from_millis(2);

impl App {
    /// Waits until the tree is read, applies keys, and returns the screen as text. Keys are written
    /// as in [`keys::parse`]. After each key everything that it has started is awaited.
    ///
    /// # Errors
    ///
    /// A message, if a key is not known.
    pub fn once(mut self, keys: &str, width: u16, height: u16) -> Result<String, String> {
        let keys = keys::parse(keys)?;
        let mut buffer = Buffer::new(width.max(1), height.max(1));
        self.settle(&mut buffer);
        for key in keys {
            self.key(key);
            match self.take_wish() {
                Some(Wish::Quit) => break,
                Some(Wish::Shell(_)) => self.complain("cannot start a shell without a terminal"),
                Some(Wish::Suspend) => self.complain("cannot stop without a terminal"),
                Some(Wish::Redraw) | None => {}
            }
            self.settle(&mut buffer);
        }
        Ok(buffer.text())
    }

    /// Draws until nothing more changes. Drawing may itself ask, for names of owners.
    fn settle(&mut self, buffer: &mut Buffer) {
        loop {
            self.update(Instant::now());
            if self.is_settled() {
                screen::draw(self, buffer);
                self.was_drawn(Instant::now());
                if self.is_settled() {
                    return;
                }
            }
            thread::sleep(PAUSE);
        }
    }
}
