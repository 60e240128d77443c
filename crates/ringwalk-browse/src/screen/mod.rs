//! Drawing.
//!
//! A screen has up to two lines at the top, the list or what covers it, and up to two lines at the
//! bottom. On a small screen the first and the last line remain. Dialogs lie over it.
//!
//! | file | contents |
//! |---|---|
//! | `buffer.rs` | a screen in memory |
//! | `paint.rs` | a screen as control sequences |
//! | `text.rs` | foreign text, made safe and cut to columns |
//! | `amount.rs` | numbers, sizes and times as text |
//! | `style.rs` | colours and attributes |
//! | `columns.rs` | which columns the list has |
//! | `list.rs` | the list |
//! | `header.rs` | path and progress |
//! | `footer.rs` | totals, marks, filter, messages, prompts |
//! | `pane.rs` | largest files, groups, what could not be read |
//! | `treemap.rs` | the treemap |
//! | `help.rs` | the keys |
//! | `boxes.rs` | a box of text over the screen |
//! | `dialog.rs` | what boxes say: details of an entry, deletion |
//! | `flags.rs` | the characters before an entry |

pub(crate) mod amount;
mod boxes;
mod buffer;
mod columns;
mod dialog;
mod flags;
mod footer;
mod header;
mod help;
mod list;
mod paint;
mod pane;
mod style;
mod text;
mod treemap;

pub(crate) use buffer::{Buffer, Rect};
pub use flags::FLAGS;
pub(crate) use paint::{CLEAR, paint};

use crate::app::{App, Mode};
use buffer::Position;
use style::{Palette, Style};

/// Screens of this height have two lines at the top and at the bottom.
const ROOMY: u16 = 10;

/// Draws a frame.
pub(crate) fn draw(app: &mut App, buffer: &mut Buffer) {
    buffer.clear();
    let area = buffer.area;
    if area.is_empty() {
        return;
    }
    let palette = Palette::new(app.options.colour);
    let margin = if area.height >= ROOMY { 2 } else { 1 };
    let middle = Rect {
        y: area.y + margin.min(area.height),
        height: area.height.saturating_sub(2 * margin),
        ..area
    };
    header::draw(app, area, margin, buffer, palette);
    match (&app.mode, app.is_treemap(), app.pane.is_some()) {
        (Mode::Help(_), ..) => help::draw(app, middle, buffer, palette),
        (_, true, _) => treemap::draw(app, middle, buffer, palette),
        (_, _, true) => pane::draw(app, middle, buffer, palette),
        _ => list::draw(app, middle, buffer, palette),
    }
    let cursor = footer::draw(app, area, margin, buffer, palette);
    dialog::draw(app, area, buffer, palette);
    buffer.cursor = cursor.filter(|_| matches!(app.mode, Mode::Prompt(_)));
}

/// Puts safe text on a line, within a number of columns. Returns the column behind it.
fn put(buffer: &mut Buffer, at: Position, text: &str, most: u16, style: Style) -> u16 {
    if most == 0 || !buffer.area.contains(at) {
        return at.x;
    }
    let text = text::fit(text, usize::from(most));
    buffer.write(at, &text, style)
}

/// Puts safe text on a whole line and fills the line with the style.
fn put_line(buffer: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    if line >= area.height {
        return;
    }
    let row = Rect {
        y: area.y + line,
        height: 1,
        ..area
    };
    buffer.set_style(row, style);
    put(buffer, row.as_position(), text, area.width, style);
}

#[cfg(test)]
mod tests;
