//! The keys, from their table.

use super::buffer::{Buffer, Rect};
use super::flags::FLAGS;
use super::put_line;
use super::style::Palette;
use super::text::{padded, wrapped};
use crate::app::{App, Mode};
use crate::keys::{Place, Section, TABLE};

/// Columns of the names of keys.
const NAMES: usize = 18;

/// Draws the help from its line on.
pub(crate) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, palette: Palette) {
    let lines = lines(usize::from(area.width));
    let Mode::Help(first) = &mut app.mode else {
        return;
    };
    *first = (*first).min(lines.len().saturating_sub(usize::from(area.height)));
    for (line, (text, is_heading)) in (0..area.height).zip(&lines[*first..]) {
        let style = if *is_heading {
            palette.heading()
        } else {
            palette.plain()
        };
        put_line(buffer, area, line, text, style);
    }
}

/// Returns the lines, and whether each is a heading.
fn lines(width: usize) -> Vec<(String, bool)> {
    let mut lines = Vec::new();
    for section in Section::ALL {
        lines.push((section.heading().to_owned(), true));
        for binding in TABLE.iter().filter(|binding| binding.section == section) {
            let place = match binding.place {
                Place::List => " (list)",
                Place::Anywhere => "",
            };
            push(
                &mut lines,
                &binding.names(),
                &format!("{}{place}", binding.help),
                width,
            );
        }
        lines.push((String::new(), false));
    }
    lines.push(("Characters before an entry".to_owned(), true));
    for (flag, meaning) in FLAGS {
        push(&mut lines, &flag.to_string(), meaning, width);
    }
    lines
}

/// Appends a key and its meaning; on a narrow screen below each other.
fn push(lines: &mut Vec<(String, bool)>, names: &str, meaning: &str, width: usize) {
    if width >= 3 * NAMES {
        lines.push((format!("  {} {meaning}", padded(names, NAMES)), false));
        return;
    }
    for (index, line) in wrapped(&format!("{names}: {meaning}"), width - 2.min(width))
        .iter()
        .enumerate()
    {
        let indent = if index == 0 { "" } else { "  " };
        lines.push((format!("{indent}{line}"), false));
    }
}
