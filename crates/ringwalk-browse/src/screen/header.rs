//! The lines at the top: path, order, progress.

use super::amount::{bytes, count};
use super::buffer::{Buffer, Rect};
use super::put_line;
use super::style::Palette;
use super::text::{columns, fit_end, safe};
use crate::app::App;
use crate::tree::{Direction, GroupKey, SortKey, Weight};
use crate::view::{ListOrder, PaneKind};

/// Draws one or two lines.
pub(crate) fn draw(app: &App, area: Rect, lines: u16, buffer: &mut Buffer, palette: Palette) {
    let width = usize::from(area.width);
    let progress = progress(app);
    let right = if lines > 1 {
        view(app)
    } else {
        short_progress(app)
    };
    put_line(
        buffer,
        area,
        0,
        &two_ended(&path(app), &right, width),
        palette.title(),
    );
    if lines > 1 {
        let style = if app.tree.progress().errors > 0 {
            palette.heading()
        } else {
            palette.plain()
        };
        put_line(buffer, area, 1, &progress, style);
    }
}

/// Returns the path of the directory, safe.
pub(crate) fn path(app: &App) -> String {
    let mut path = app.tree.path_of_top();
    if !app.list.path.is_empty() {
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(&app.list.path);
    }
    safe(&path)
}

/// Returns a line of a path and what stands at its right end. If both do not fit, the path is cut.
fn two_ended(left: &str, right: &str, width: usize) -> String {
    let right = if columns(right) * 2 > width {
        ""
    } else {
        right
    };
    let room = width.saturating_sub(columns(right) + usize::from(!right.is_empty()));
    let left = fit_end(left, room);
    let gap = width.saturating_sub(columns(&left) + columns(right));
    format!("{left}{:gap$}{right}", "")
}

/// Returns what is shown, and in which order.
fn view(app: &App) -> String {
    match app.pane.as_ref().map(|pane| pane.kind) {
        None => order(app.order),
        Some(PaneKind::Largest) => "largest files".to_owned(),
        Some(PaneKind::Groups(GroupKey::Extension)) => "by extension".to_owned(),
        Some(PaneKind::Groups(GroupKey::Owner)) => "by owner".to_owned(),
        Some(PaneKind::Groups(GroupKey::Age)) => "by age".to_owned(),
        Some(PaneKind::Unreadable) => "could not be read".to_owned(),
        Some(PaneKind::Treemap) => match app.weight {
            Weight::Alloc => "treemap of allocated sizes".to_owned(),
            Weight::Size => "treemap of apparent sizes".to_owned(),
        },
    }
}

fn order(order: ListOrder) -> String {
    let key = if order.by_growth {
        "growth"
    } else {
        match order.order.key {
            SortKey::Alloc => "allocated size",
            SortKey::Size => "apparent size",
            SortKey::Freeable => "freeable",
            SortKey::Entries => "number of entries",
            SortKey::Mtime => "last change",
            SortKey::Name => "name",
            SortKey::Owner => "owner",
        }
    };
    let reversed = match order.order.direction {
        Direction::Usual => "",
        Direction::Reversed => ", reversed",
    };
    let directories = if order.order.directories_first {
        ", directories first"
    } else {
        ""
    };
    format!("by {key}{reversed}{directories}")
}

fn progress(app: &App) -> String {
    let progress = app.tree.progress();
    let mut parts = vec![
        super::amount::entries(progress.entries),
        format!("{} allocated", bytes(progress.alloc)),
    ];
    match progress.errors {
        0 => {}
        1 => parts.push("1 error".to_owned()),
        errors => parts.push(format!("{errors} errors")),
    }
    if !progress.finished {
        parts.push("reading".to_owned());
        if let Some(rate) = app.rate {
            parts.push(format!("{rate}/s"));
        }
    }
    parts.join("  ")
}

/// Returns the progress in a few columns, while the tree is read.
fn short_progress(app: &App) -> String {
    let progress = app.tree.progress();
    if progress.finished {
        return String::new();
    }
    format!("{}...", count(progress.entries))
}
