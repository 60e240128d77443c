//! A screen in memory: cells with a character and a style.

use super::style::Style;
use std::ops::{Index, IndexMut};
use unicode_width::UnicodeWidthStr;

/// A place on the screen: column and line, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) x: u16,
    pub(crate) y: u16,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Rect {
    /// Returns the column behind the last one.
    pub(crate) fn right(self) -> u16 {
        self.x.saturating_add(self.width)
    }

    /// Returns the line behind the last one.
    pub(crate) fn bottom(self) -> u16 {
        self.y.saturating_add(self.height)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    pub(crate) fn contains(self, at: Position) -> bool {
        (self.x..self.right()).contains(&at.x) && (self.y..self.bottom()).contains(&at.y)
    }

    /// Returns the place of the first cell.
    pub(crate) fn as_position(self) -> Position {
        Position {
            x: self.x,
            y: self.y,
        }
    }

    /// Returns the places of all cells, line by line.
    pub(crate) fn positions(self) -> impl Iterator<Item = Position> {
        (self.y..self.bottom())
            .flat_map(move |y| (self.x..self.right()).map(move |x| Position { x, y }))
    }
}

/// A cell: one character with its marks, or nothing behind a wide character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    symbol: String,
    pub(crate) style: Style,
}

impl Cell {
    fn blank() -> Self {
        Self {
            symbol: " ".to_owned(),
            style: Style::default(),
        }
    }

    /// Makes the cell a space without colours and attributes.
    pub(crate) fn reset(&mut self) {
        self.set(" ");
        self.style = Style::default();
    }

    /// Sets the character and keeps the style.
    pub(crate) fn set(&mut self, symbol: &str) {
        // The memory of a cell is used again for each frame.
        self.symbol.clear();
        self.symbol.push_str(symbol);
    }
}

/// A screen.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) area: Rect,
    cells: Vec<Cell>,
    /// The place of the visible cursor.
    pub(crate) cursor: Option<Position>,
}

impl Buffer {
    /// Creates an empty screen.
    pub(crate) fn new(width: u16, height: u16) -> Self {
        Self {
            area: Rect {
                x: 0,
                y: 0,
                width,
                height,
            },
            cells: vec![Cell::blank(); usize::from(width) * usize::from(height)],
            cursor: None,
        }
    }

    /// Makes all cells empty.
    pub(crate) fn clear(&mut self) {
        self.cells.iter_mut().for_each(Cell::reset);
        self.cursor = None;
    }

    /// Writes safe text into a line. Returns the column behind it.
    ///
    /// A character takes the following ones into its cell as long as they add no column: marks, the
    /// second half of a ligature, the colour of a skin.
    pub(crate) fn write(&mut self, mut at: Position, text: &str, style: Style) -> u16 {
        let mut rest = text;
        while let Some(end) = end_of_symbol(rest) {
            let symbol;
            (symbol, rest) = rest.split_at(end);
            let width = u16::try_from(symbol.width()).unwrap_or(u16::MAX);
            if width > self.area.right().saturating_sub(at.x) {
                break;
            }
            for (column, symbol) in (0..width).zip([symbol].into_iter().chain([""; 2])) {
                let cell = &mut self[Position {
                    x: at.x + column,
                    y: at.y,
                }];
                cell.set(symbol);
                cell.style = cell.style.with(style);
            }
            at.x += width;
        }
        at.x
    }

    /// Adds a style to all cells of a part of the screen.
    pub(crate) fn set_style(&mut self, area: Rect, style: Style) {
        let screen = self.area;
        for at in area.positions().filter(|&at| screen.contains(at)) {
            let cell = &mut self[at];
            cell.style = cell.style.with(style);
        }
    }

    /// Returns the lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks(usize::from(self.area.width).max(1))
    }

    /// Returns the screen as text, without spaces at the ends of lines.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for line in self.lines() {
            let text: String = symbols(line).map(|(_, symbol, _)| symbol).collect();
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }

    fn index(&self, at: Position) -> usize {
        assert!(self.area.contains(at), "{at:?} is outside of the screen");
        usize::from(at.y) * usize::from(self.area.width) + usize::from(at.x)
    }
}

impl Index<Position> for Buffer {
    type Output = Cell;

    fn index(&self, at: Position) -> &Cell {
        &self.cells[self.index(at)]
    }
}

impl IndexMut<Position> for Buffer {
    fn index_mut(&mut self, at: Position) -> &mut Cell {
        let index = self.index(at);
        &mut self.cells[index]
    }
}

/// Returns the length of the first character of a text, with all that adds no column to it.
fn end_of_symbol(text: &str) -> Option<usize> {
    let mut ends = text
        .char_indices()
        .map(|(at, character)| at + character.len_utf8());
    let mut end = ends.next()?;
    let width = text[..end].width();
    end = ends
        .take_while(|&end| text[..end].width() == width)
        .last()
        .unwrap_or(end);
    Some(end)
}

/// Returns what a terminal shows of a line: column, character and style. If one half of a
/// wide character was overwritten, the other half is a space.
pub(crate) fn symbols(line: &[Cell]) -> impl Iterator<Item = (usize, &str, Style)> {
    let mut column = 0;
    std::iter::from_fn(move || {
        let cell = line.get(column)?;
        let width = cell.symbol.width();
        let others = line.get(column + 1..column + width);
        let is_whole =
            others.is_some_and(|others| others.iter().all(|other| other.symbol.is_empty()));
        let (symbol, width) = if width > 0 && is_whole {
            (cell.symbol.as_str(), width)
        } else {
            (" ", 1)
        };
        let at = column;
        column += width;
        Some((at, symbol, cell.style))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(texts: &[(u16, &str)]) -> String {
        let mut buffer = Buffer::new(8, 1);
        for &(x, text) in texts {
            buffer.write(Position { x, y: 0 }, text, Style::default());
        }
        buffer.text()
    }

    #[test]
    fn a_symbol_keeps_all_that_adds_no_column() {
        for text in [
            "a\u{301}bc",
            "漢字",
            "\u{1f44d}\u{1f3fd}",
            "\u{644}\u{627}",
            "각",
        ] {
            let mut buffer = Buffer::new(20, 1);
            let end = buffer.write(Position::default(), text, Style::default());
            assert_eq!(usize::from(end), text.width(), "{text}");
            assert_eq!(buffer.text(), format!("{text}\n"));
        }
    }

    #[test]
    fn text_ends_at_the_edge() {
        assert_eq!(written(&[(6, "abc")]), "      ab\n");
        assert_eq!(written(&[(5, "漢字")]), "     漢\n");
    }

    #[test]
    fn half_a_wide_character_is_a_space() {
        assert_eq!(written(&[(0, "漢字x"), (1, "|")]), " |字x\n");
        assert_eq!(written(&[(0, "漢字x"), (2, "|")]), "漢| x\n");
    }

    #[test]
    fn styles_are_added_up() {
        let mut buffer = Buffer::new(2, 2);
        let (bold, dim) = (Style::BOLD, Style::DIM);
        buffer.write(Position { x: 0, y: 1 }, "ab", bold);
        buffer.set_style(
            Rect {
                x: 1,
                y: 1,
                width: 9,
                height: 9,
            },
            dim,
        );
        assert_eq!(buffer[Position { x: 0, y: 1 }].style, bold);
        assert_eq!(buffer[Position { x: 1, y: 1 }].style, bold.with(dim));
        buffer.clear();
        assert_eq!(buffer[Position { x: 1, y: 1 }].style, Style::default());
    }
}
