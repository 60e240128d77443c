//! The lines at the bottom: totals of the directory, marks, filter; messages and prompts.

use super::amount::{bytes, entries};
use super::buffer::{Buffer, Position, Rect};
use super::style::Palette;
use super::text::{columns, fit_end, safe};
use super::{put, put_line};
use crate::app::{App, Mode};
use std::fmt::Write as _;

/// Draws one or two lines. Returns the place of the cursor of a prompt.
pub(crate) fn draw(
    app: &App,
    area: Rect,
    lines: u16,
    buffer: &mut Buffer,
    palette: Palette,
) -> Option<Position> {
    let last = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    if area.height <= lines {
        return None;
    }
    let totals = totals(app);
    if lines > 1 {
        let above = Rect {
            y: last.y - 1,
            ..last
        };
        put_line(buffer, above, 0, &totals, palette.title());
    }
    if let Mode::Prompt(prompt) = &app.mode {
        return Some(draw_prompt(app, prompt, last, buffer, palette));
    }
    match (&app.message, lines) {
        (Some(message), _) => {
            let style = if message.is_error {
                palette.error()
            } else {
                palette.heading()
            };
            put_line(buffer, last, 0, &safe(message.text.as_bytes()), style);
        }
        (None, 1) => put_line(buffer, last, 0, &totals, palette.title()),
        (None, _) => put_line(buffer, last, 0, &hint(app), palette.plain()),
    }
    None
}

/// Draws a line that is being typed. Its end is always visible.
fn draw_prompt(
    app: &App,
    prompt: &crate::app::Prompt,
    line: Rect,
    buffer: &mut Buffer,
    palette: Palette,
) -> Position {
    let words = prompt.asked.words();
    let mut at = line.as_position();
    blank(buffer, line);
    at.x = put(buffer, at, words, line.width, palette.heading());
    let room = line.right().saturating_sub(at.x).saturating_sub(1);
    let begin = at;
    let text = fit_end(&safe(prompt.text.as_bytes()), usize::from(room));
    at.x = put(buffer, at, &text, room, palette.plain());
    if prompt.text.is_empty() {
        let place = super::list::after(begin, 1);
        let room = line.right().saturating_sub(place.x);
        put(buffer, place, prompt.asked.hint(), room, palette.dim());
    }
    // The error message stands above the line, since the line stays to be corrected.
    if let Some(message) = &app.message {
        let above = Rect {
            y: line.y - 1,
            ..line
        };
        blank(buffer, above);
        put_line(
            buffer,
            above,
            0,
            &safe(message.text.as_bytes()),
            palette.error(),
        );
    }
    Position {
        x: at.x.min(line.right() - 1),
        y: at.y,
    }
}

/// Clears a line.
fn blank(buffer: &mut Buffer, line: Rect) {
    for position in line.positions() {
        buffer[position].reset();
    }
}

/// Returns the totals: of the marks and of the filter, if there are any, then of the directory.
fn totals(app: &App) -> String {
    let mut parts = Vec::new();
    if !app.marks.is_empty() {
        parts.push(marks(app));
    }
    if let Some(filter) = &app.filter {
        let totals = filter.matches.totals(&app.list.path);
        let progress = filter.matches.progress();
        let mut text = format!("{} match, {}", totals.entries, bytes(totals.alloc));
        if !progress.finished {
            let _ = write!(text, ", {} looked at", progress.entries);
        }
        let _ = write!(text, ": {}", safe(filter.text.as_bytes()));
        if let Some(error) = filter.matches.error() {
            let _ = write!(text, " (not complete: {})", safe(error.as_bytes()));
        }
        parts.push(text);
    }
    let directory = app
        .tree
        .items(&[app.list.directory])
        .ok()
        .and_then(|mut items| items.pop());
    if let Some(directory) = directory {
        parts.push(format!(
            "{}, {} allocated, {} apparent",
            entries(directory.entries),
            bytes(directory.alloc),
            bytes(directory.size)
        ));
    }
    parts.join(" | ")
}

fn marks(app: &App) -> String {
    let Some(totals) = &app.mark_totals else {
        return "adding up the marks".to_owned();
    };
    let mut text = format!("* {} marked", totals.marked);
    if totals.entries != totals.marked {
        let _ = write!(text, " with {}", entries(totals.entries));
    }
    let _ = write!(text, ", {}", bytes(totals.alloc));
    match totals.freeable {
        Some(freed) => {
            let _ = write!(text, ", frees {}", bytes(freed));
        }
        None => text.push_str(", freeable not known"),
    }
    text
}

/// Returns what can be done, or why the entry under the cursor is still there.
fn hint(app: &App) -> String {
    if let Some(reason) = app.current_id().and_then(|id| app.kept.get(&id)) {
        return safe(format!("not deleted: {reason}").as_bytes());
    }
    let hint = match (&app.mode, &app.pane, &app.filter) {
        (Mode::Help(_), ..) => "any other key closes the help",
        (_, Some(_), _) => "Esc list  Enter show  ? keys  q quit",
        (_, None, Some(_)) => "Esc ends the filter  / changes it  ? keys  q quit",
        _ => "? keys  / filter  Space mark  d delete  t treemap  1-5 panes  q quit",
    };
    debug_assert!(columns(hint) < 80, "{hint}");
    hint.to_owned()
}
