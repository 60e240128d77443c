//! The list.

use super::amount::{bytes, count, date, growth, share};
use super::buffer::{Buffer, Position, Rect};
use super::columns::{Column, FLAGS, columns};
use super::flags::{flag, mark};
use super::style::Palette;
use super::style::Style;
use super::text::{padded, padded_left, safe};
use super::{put, put_line};
use crate::app::App;
use crate::tree::{Id, Item, ReadState, Weight};
use crate::view::{Row, narrow, size};
use std::collections::HashMap;

/// Lists of this height have a line of headings.
const WITH_HEADINGS: u16 = 6;

/// Draws the list. Only the visible entries are fetched.
pub(crate) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, palette: Palette) {
    let order = app.order;
    let columns = columns(
        usize::from(area.width),
        order,
        app.services.comparison.is_ok(),
    );
    let mut rows = area;
    if area.height >= WITH_HEADINGS {
        put_line(
            buffer,
            area,
            0,
            &headings(&columns, area, app.weight),
            palette.heading(),
        );
        rows.y += 1;
        rows.height -= 1;
    }
    app.list.cursor.set_height(usize::from(rows.height));
    if app.list.len() == 0 {
        let text = match (app.list.is_loaded, &app.filter) {
            (false, _) => "  reading the directory",
            (true, Some(_)) => "  nothing matches here",
            (true, None) if is_unreadable(app) => "  cannot be read",
            (true, None) => "  empty",
        };
        return put_line(buffer, rows, 0, text, palette.dim());
    }
    let (items, directory) = match fetch(app, rows.height) {
        Ok(fetched) => fetched,
        Err(error) => {
            let text = safe(format!("  cannot read the entries: {error}").as_bytes());
            return put_line(buffer, rows, 0, &text, palette.error());
        }
    };
    for line in 0..rows.height {
        let row = app.list.cursor.top + usize::from(line);
        let place = Rect {
            y: rows.y + line,
            height: 1,
            ..rows
        };
        let is_current = row == app.list.cursor.at;
        match app.list.row(row) {
            None => break,
            Some(Row::Entry(id)) => {
                // An entry that has just gone leaves an empty line until the next listing.
                if let Some(item) = items.get(&id) {
                    Line {
                        app,
                        item,
                        directory: &directory,
                        columns: &columns,
                        is_current,
                    }
                    .draw(place, buffer, palette);
                }
            }
            Some(Row::Departed(index)) => {
                let text = departed(app, index, &columns, area);
                put_line(buffer, place, 0, &text, palette.dim());
            }
        }
        if is_current {
            buffer.set_style(place, palette.cursor());
        }
    }
}

/// Returns the visible entries, and the directory itself.
fn fetch(app: &App, height: u16) -> std::io::Result<(HashMap<Id, Item>, Item)> {
    let top = app.list.cursor.top;
    let ids = app.list.ids();
    let visible = &ids[top.min(ids.len())..(top + usize::from(height)).min(ids.len())];
    let mut items = app.tree.items(visible)?;
    let mut directory = app
        .tree
        .items(&[app.list.directory])?
        .pop()
        .unwrap_or_default();
    if let Some(matches) = app.matches() {
        let totals = matches.totals(&app.list.path);
        directory.size = totals.size;
        directory.alloc = totals.alloc;
        for item in &mut items {
            narrow(item, &app.list.path, matches.as_ref());
        }
    }
    Ok((
        items.into_iter().map(|item| (item.id, item)).collect(),
        directory,
    ))
}

/// What one line shows.
struct Line<'a> {
    app: &'a mut App,
    item: &'a Item,
    directory: &'a Item,
    columns: &'a [Column],
    is_current: bool,
}

impl Line<'_> {
    fn draw(&mut self, area: Rect, buffer: &mut Buffer, palette: Palette) {
        let item = self.item;
        let width = usize::from(area.width);
        let base = self.style(palette);
        let mut at = area.as_position();
        let flags = format!("{}{}", mark(self.app, item), flag(self.app, item));
        at.x = put(buffer, at, &flags, area.right() - at.x, base);
        for &column in self.columns {
            let (text, style) = self.cell(column, width, palette);
            let text = match column {
                Column::Owner => padded(&text, column.width(width)),
                _ => padded_left(&text, column.width(width)),
            };
            let style = if self.is_current { base } else { style };
            at.x = put(buffer, at, &text, area.right().saturating_sub(at.x), style);
            at.x = at.x.saturating_add(1);
        }
        // Trees of a snapshot have absolute paths.
        let is_marked = item.is_directory() && !item.name.starts_with(b"/");
        let slash = if is_marked { "/" } else { "" };
        let name = format!("{slash}{}", safe(&item.name));
        put(buffer, at, &name, area.right().saturating_sub(at.x), base);
    }

    /// Returns the style of the name.
    fn style(&self, palette: Palette) -> Style {
        let item = self.item;
        match flag(self.app, item) {
            'X' | '!' => palette.error(),
            _ if self.app.marks.contains(item.id) => palette.marked(),
            '>' | 'H' => palette.dim(),
            _ if item.is_directory() => palette.directory(),
            _ => palette.plain(),
        }
    }

    /// Returns the text of a column.
    fn cell(&mut self, column: Column, screen: usize, palette: Palette) -> (String, Style) {
        let (item, weight) = (self.item, self.app.weight);
        let shown = size(item, weight);
        let text = match column {
            Column::Size => bytes(shown),
            Column::OtherSize => match weight {
                Weight::Alloc => bytes(item.size),
                Weight::Size => bytes(item.alloc),
            },
            Column::Freeable => item.freeable.map_or_else(|| "?".to_owned(), bytes),
            Column::Growth => match self.growth() {
                Some(by) => return (growth(by), palette.growth(by)),
                None => String::new(),
            },
            Column::Share => share(shown, size(self.directory, weight)),
            Column::Bar => bar(shown, self.app.list.largest, column.width(screen)),
            Column::Entries => count(item.entries),
            Column::Mtime => date(item.mtime, &self.app.options.zone),
            Column::Owner => match item.uid {
                Some(uid) => safe(self.app.owners.name(uid).as_bytes()),
                None => "?".to_owned(),
            },
        };
        (text, palette.plain())
    }

    fn growth(&self) -> Option<i64> {
        let comparison = self.app.services.comparison.as_ref().ok()?;
        comparison.growth(
            &self.app.list.path,
            &self.item.name,
            self.item.charged_alloc(),
        )
    }
}

/// Returns a bar in a number of columns. A full bar is the largest entry.
pub(crate) fn bar(part: u64, whole: u64, width: usize) -> String {
    let inside = width.saturating_sub(2);
    let filled = if whole == 0 {
        0
    } else {
        let filled = u128::from(part) * inside as u128 + u128::from(whole) / 2;
        usize::try_from(filled / u128::from(whole))
            .unwrap_or(inside)
            .min(inside)
    };
    format!("[{:inside$}]", "#".repeat(filled))
}

fn headings(columns: &[Column], area: Rect, weight: Weight) -> String {
    let width = usize::from(area.width);
    let mut line = " ".repeat(FLAGS);
    for column in columns {
        let heading = column.heading(weight);
        line.push_str(&match column {
            Column::Owner => padded(heading, column.width(width)),
            _ => padded_left(heading, column.width(width)),
        });
        line.push(' ');
    }
    line.push_str("name");
    line
}

/// Returns the line of an entry that is gone.
fn departed(app: &App, index: usize, columns: &[Column], area: Rect) -> String {
    let Some((name, alloc)) = app.list.departed.get(index) else {
        return String::new();
    };
    let width = usize::from(area.width);
    let mut line = " -".to_owned();
    for column in columns {
        let text = match column {
            Column::Growth => growth(i64::try_from(*alloc).map_or(i64::MIN, |alloc| -alloc)),
            // Without a column of growth, the size shows how many bytes are gone.
            Column::Size if !columns.contains(&Column::Growth) => bytes(*alloc),
            _ => String::new(),
        };
        line.push_str(&padded_left(&text, column.width(width)));
        line.push(' ');
    }
    line.push_str(&safe(name));
    line
}

/// Returns the place of a column behind another text.
pub(crate) fn after(at: Position, columns: u16) -> Position {
    Position {
        x: at.x.saturating_add(columns),
        ..at
    }
}

/// Returns true if the shown directory could not be read.
fn is_unreadable(app: &App) -> bool {
    let directory = app.tree.items(&[app.list.directory]);
    // An error of reading a snapshot is reported with the listing.
    directory.is_ok_and(|items| items.iter().any(|item| item.state == ReadState::Failed))
}
