//! A screen as control sequences of a terminal (ECMA-48).

use super::buffer::{Buffer, symbols};
use super::style::Style;
use std::io::{self, Write};

/// Clears the terminal.
pub(crate) const CLEAR: &[u8] = b"\x1b[2J";

/// Writes what turns one screen into another of the same size.
///
/// A line that differs is written as a whole: few lines change at once, and so half of a wide
/// character cannot stay behind.
///
/// # Errors
///
/// The errors of writing.
pub(crate) fn paint(before: &Buffer, now: &Buffer, out: &mut impl Write) -> io::Result<()> {
    for (y, (before, now)) in (1..).zip(before.lines().zip(now.lines())) {
        if before == now {
            continue;
        }
        write!(out, "\x1b[{y};1H")?;
        let mut style = Style::default();
        let mut is_sure = true;
        for (x, symbol, wanted) in symbols(now) {
            // Terminals disagree on the widths of characters.
            if !is_sure {
                write!(out, "\x1b[{y};{}H", x + 1)?;
            }
            if wanted != style {
                wanted.write(out)?;
                style = wanted;
            }
            out.write_all(symbol.as_bytes())?;
            is_sure = symbol.is_ascii();
        }
        if style != Style::default() {
            Style::default().write(out)?;
        }
    }
    match now.cursor {
        Some(at) => write!(out, "\x1b[{};{}H\x1b[?25h", at.y + 1, at.x + 1),
        None => write!(out, "\x1b[?25l"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Position;
    use super::*;

    fn painted(before: &Buffer, now: &Buffer) -> String {
        let mut out = Vec::new();
        paint(before, now, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_lines_that_differ_are_written() {
        let before = Buffer::new(3, 3);
        let mut now = before.clone();
        assert_eq!(painted(&before, &now), "\x1b[?25l");
        now.write(Position { x: 1, y: 1 }, "é", Style::default());
        now.cursor = Some(Position { x: 2, y: 1 });
        assert_eq!(
            painted(&before, &now),
            "\x1b[2;1H é\x1b[2;3H \x1b[2;3H\x1b[?25h"
        );
    }

    #[test]
    fn a_style_ends_with_its_cells() {
        let before = Buffer::new(3, 1);
        let mut now = before.clone();
        now.write(Position { x: 0, y: 0 }, "ab", Style::BOLD);
        assert_eq!(
            painted(&before, &now),
            "\x1b[1;1H\x1b[0;1mab\x1b[0m \x1b[?25l"
        );
        now.write(Position { x: 2, y: 0 }, "c", Style::REVERSED);
        assert_eq!(
            painted(&before, &now),
            "\x1b[1;1H\x1b[0;1mab\x1b[0;7mc\x1b[0m\x1b[?25l"
        );
    }
}
