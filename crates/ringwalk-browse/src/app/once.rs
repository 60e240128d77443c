//! Keys from a text in place of a terminal.

use super::{App, Wish};
use crate::keys;
use crate::screen;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::thread;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr;

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
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width.max(1), height.max(1)));
        self.settle(&mut terminal);
        for key in keys {
            self.key(key);
            match self.take_wish() {
                Some(Wish::Quit) => break,
                Some(Wish::Shell(_)) => self.complain("cannot start a shell without a terminal"),
                Some(Wish::Suspend) => self.complain("cannot stop without a terminal"),
                Some(Wish::Redraw) | None => {}
            }
            self.settle(&mut terminal);
        }
        Ok(text(terminal.backend().buffer()))
    }

    /// Draws until nothing more changes. Drawing may itself ask, for names of owners.
    fn settle(&mut self, terminal: &mut Terminal<TestBackend>) {
        loop {
            self.update(Instant::now());
            if self.is_settled() {
                let Ok(_) = terminal.draw(|frame| screen::draw(self, frame));
                self.was_drawn(Instant::now());
                if self.is_settled() {
                    return;
                }
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns the lines of a screen as text, without spaces at their ends.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut x = buffer.area.left();
        while x < buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            // A wide character covers the cell behind it.
            x += u16::try_from(symbol.width()).unwrap_or(1).max(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
