//! Largest files, groups, what could not be read.

use super::amount::{bytes, count, date, share};
use super::buffer::{Buffer, Rect};
use super::flags::{flag, mark};
use super::list::bar;
use super::put_line;
use super::style::Palette;
use super::text::{columns, fit_end, padded_left, safe};
use crate::app::App;
use crate::tree::{Group, Item, Unreadable, Weight};
use crate::view::{Content, size};
use std::fmt::Write as _;

/// Panes of this height have a line of headings.
const WITH_HEADINGS: u16 = 6;
/// Wide panes have bars.
const WITH_BARS: u16 = 60;

/// Draws the rows of the pane.
pub(crate) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, palette: Palette) {
    let mut rows = area;
    if area.height >= WITH_HEADINGS {
        put_line(
            buffer,
            area,
            0,
            &headings(app, area.width),
            palette.heading(),
        );
        rows.y += 1;
        rows.height -= 1;
    }
    let Some(pane) = &mut app.pane else { return };
    pane.cursor.set_height(usize::from(rows.height));
    let (cursor, len) = (pane.cursor, pane.len());
    let text = match (&pane.content, len) {
        (None, _) => "  adding up",
        (Some(Content::Unreadable(_)), 0) => "  everything could be read",
        (Some(_), 0) => "  nothing",
        _ => "",
    };
    if !text.is_empty() {
        return put_line(buffer, rows, 0, text, palette.dim());
    }
    for line in 0..rows.height {
        let row = cursor.top + usize::from(line);
        if row >= len {
            break;
        }
        let text = row_text(app, row, area.width);
        let style = if row == cursor.at {
            palette.cursor()
        } else {
            palette.plain()
        };
        put_line(buffer, rows, line, &text, style);
    }
}

fn headings(app: &App, width: u16) -> String {
    let weight = match app.weight {
        Weight::Alloc => " alloc",
        Weight::Size => "  size",
    };
    let bars = if width >= WITH_BARS {
        "               share "
    } else {
        " "
    };
    // Groups and largest files are about the whole directory.
    let all = if app.filter.is_some() {
        " (of all files, whatever the filter)"
    } else {
        ""
    };
    match app.pane.as_ref().and_then(|pane| pane.content.as_ref()) {
        Some(Content::Files(_)) => match width {
            WITH_BARS.. => format!("  {weight}    changed file{all}"),
            _ => format!("  {weight} file{all}"),
        },
        Some(Content::Groups(_)) => format!("{weight} {bars}entries group{all}"),
        Some(Content::Unreadable(_)) => "path and reason".to_owned(),
        Some(Content::Tiles(_)) | None => String::new(),
    }
}

fn row_text(app: &App, row: usize, width: u16) -> String {
    let Some(content) = app.pane.as_ref().and_then(|pane| pane.content.as_ref()) else {
        return String::new();
    };
    let text = match content {
        Content::Files(files) => files.get(row).map(|file| file_text(app, file, width)),
        Content::Groups(groups) => groups
            .get(row)
            .map(|group| group_text(app.weight, groups, group, width)),
        Content::Unreadable(errors) => errors.get(row).map(|error| error_text(error, width)),
        Content::Tiles(_) => None,
    };
    text.unwrap_or_default()
}

fn file_text(app: &App, (item, path): &(Item, Vec<u8>), width: u16) -> String {
    let mut text = format!("{}{}", mark(app, item), flag(app, item));
    text.push_str(&padded_left(&bytes(size(item, app.weight)), 6));
    if width >= WITH_BARS {
        let _ = write!(text, " {}", date(item.mtime, &app.options.zone));
    }
    // The path below the directory that is shown says enough.
    let below = match app.list.path.len() {
        0 => path.as_slice(),
        length => path.get(length + 1..).unwrap_or(path),
    };
    let room = usize::from(width).saturating_sub(columns(&text) + 1);
    format!("{text} {}", fit_end(&safe(below), room))
}

fn group_text(weight: Weight, groups: &[Group], group: &Group, width: u16) -> String {
    let size = |group: &Group| match weight {
        Weight::Alloc => group.alloc,
        Weight::Size => group.size,
    };
    let mut text = padded_left(&bytes(size(group)), 6);
    if width >= WITH_BARS {
        let whole = groups.iter().map(size).fold(0, u64::saturating_add);
        let largest = groups.iter().map(size).max().unwrap_or(0);
        let _ = write!(text, " {}", bar(size(group), largest, 12));
        let _ = write!(text, " {}", padded_left(&share(size(group), whole), 6));
    }
    let label = if group.label.is_empty() {
        "(none)".to_owned()
    } else {
        safe(&group.label)
    };
    format!("{text} {} {label}", padded_left(&count(group.entries), 7))
}

fn error_text(error: &Unreadable, width: u16) -> String {
    let reason = safe(error.reason.as_bytes());
    let room = usize::from(width).saturating_sub(columns(&reason) + 2);
    // A path needs some columns to say anything.
    format!(
        "{}: {reason}",
        fit_end(&safe(&error.path), room.max(usize::from(width) / 2))
    )
}
