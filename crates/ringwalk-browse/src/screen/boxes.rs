//! A box of text over the screen.

use super::buffer::{Buffer, Position, Rect};
use super::style::Palette;
use super::style::Style;
use super::text::wrapped;
use super::{put, put_line};

/// The widest box. Longer lines are hard to read.
pub(crate) const WIDEST: u16 = 76;
/// Boxes of less than this width have no edges, and short texts.
pub(crate) const NARROW: u16 = 40;

/// Draws a box in the middle. The last line is always visible; of the others as many as fit, from
/// `first` on. Returns the line from which on they were drawn: `first`, or less at the end.
pub(crate) fn draw_box(
    title: &str,
    lines: &[String],
    last: &str,
    first: usize,
    area: Rect,
    buffer: &mut Buffer,
    palette: Palette,
) -> usize {
    let width = WIDEST.min(area.width);
    let inside = usize::from(width.saturating_sub(2 * edge(width))).max(1);
    let mut texts: Vec<String> = lines
        .iter()
        .flat_map(|line| wrapped(line, inside))
        .collect();
    let last = wrapped(last, inside);
    // The title takes a line too.
    let room = usize::from(area.height).saturating_sub(1 + last.len());
    let first = first.min(texts.len().saturating_sub(room));
    texts.drain(..first);
    texts.truncate(room);
    let height = u16::try_from(texts.len() + last.len() + 1)
        .unwrap_or(area.height)
        .min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    for position in place.positions() {
        buffer[position].reset();
    }
    put_line(buffer, place, 0, &format!(" {title}"), palette.title());
    for (line, text) in (1..height).zip(texts.iter().chain(&last)) {
        let is_last = usize::from(line) > texts.len();
        let style = if is_last {
            palette.heading()
        } else {
            palette.plain()
        };
        draw_line(place, line, text, buffer, style, palette);
    }
    first
}

/// Returns the columns of an edge. A narrow screen has none to spare.
fn edge(width: u16) -> u16 {
    if width < NARROW { 0 } else { 2 }
}

/// Draws a line of a box, and its edges.
fn draw_line(
    place: Rect,
    line: u16,
    text: &str,
    buffer: &mut Buffer,
    style: Style,
    palette: Palette,
) {
    let (y, edge) = (place.y + line, edge(place.width));
    let at = Position {
        x: place.x + edge,
        y,
    };
    put(
        buffer,
        at,
        text,
        place.width.saturating_sub(2 * edge),
        style,
    );
    if edge > 0 {
        for x in [place.x, place.right() - 1] {
            put(buffer, Position { x, y }, " ", 1, palette.title());
        }
    }
}
