//! What boxes say: details of an entry, the question before a deletion, its progress.

use super::amount::{bytes, date, entries, moment};
use super::boxes::{NARROW, WIDEST, draw_box};
use super::buffer::{Buffer, Rect};
use super::style::Palette;
use super::text::{columns, fit, safe};
use crate::app::{App, Asking, Mode, Running, in_words};
use crate::tree::{Id, Item, Kind, ReadState};

/// The number of names that a question shows.
const NAMES: usize = 3;

/// Draws the box of the mode, if it has one.
pub(crate) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, palette: Palette) {
    let (title, lines, question) = match &app.mode {
        Mode::Info(id, _) => {
            let id = *id;
            ("Details", details(app, id), "Enter closes this".to_owned())
        }
        Mode::Asking(asking) => {
            let title = if asking.into_trash {
                "Move into the trash"
            } else {
                "Delete for ever"
            };
            (
                title,
                asked(app, asking, area.width < NARROW),
                question(asking, area.width < NARROW),
            )
        }
        Mode::Deleting(running) => {
            let title = if running.into_trash {
                "Moving into the trash"
            } else {
                "Deleting"
            };
            (title, running_lines(running), "Esc cancels".to_owned())
        }
        _ => return,
    };
    let first = if let Mode::Info(_, first) = app.mode {
        first
    } else {
        0
    };
    let drawn = draw_box(title, &lines, &question, first, area, buffer, palette);
    if let Mode::Info(_, first) = &mut app.mode {
        *first = drawn;
    }
}

/// Returns everything known about an entry.
fn details(app: &mut App, id: Id) -> Vec<String> {
    let item = app.tree.items(&[id]).ok().and_then(|mut items| items.pop());
    let Some(item) = item else {
        return vec!["the entry is gone".to_owned()];
    };
    let path = app.tree.path(id).unwrap_or_else(|_| item.name.clone());
    let zone = app.options.zone.clone();
    let freeable = item.freeable.map_or_else(|| "not known".to_owned(), exact);
    let owner = item.uid.map_or_else(
        || "not known".to_owned(),
        |uid| format!("{} ({uid})", safe(app.owners.name(uid).as_bytes())),
    );
    let mut lines = vec![
        format!("Path      {}", safe(&path)),
        format!("Kind      {}", kind(&item)),
        format!("Allocated {}", exact(item.alloc)),
        format!("Apparent  {}", exact(item.size)),
        format!("Freeable  {freeable}"),
        format!("Changed   {}", moment(item.mtime, &zone)),
        format!("Owner     {owner}"),
    ];
    if item.is_directory() {
        lines.insert(2, format!("Entries   {} with itself", item.entries));
    } else {
        lines.push(format!("Names     {}", item.links));
    }
    if let Ok(comparison) = &app.services.comparison
        && let Some(growth) = comparison.growth(&app.list.path, &item.name, item.charged_alloc())
        && app.list.row_of(id).is_some()
    {
        lines.push(format!("Growth    {growth} bytes"));
    }
    if !item.charged {
        lines.push("A further name of a hard link: it counts under another name.".to_owned());
    }
    match item.state {
        ReadState::Done => {}
        ReadState::Reading => lines.push("It is being read.".to_owned()),
        ReadState::Failed => lines.push("It could not be read.".to_owned()),
        ReadState::OtherFileSystem => {
            lines.push("It is on another file system and was not read.".to_owned());
        }
    }
    if item.errors > 0 {
        lines.push(format!("Not read  {} in it; 5 lists them", item.errors));
    }
    if let Some(reason) = app.kept.get(&id) {
        lines.push(safe(format!("Not deleted: {reason}").as_bytes()));
    }
    lines
}

fn exact(number: u64) -> String {
    if number < 1024 {
        format!("{number} bytes")
    } else {
        format!("{} ({number} bytes)", bytes(number))
    }
}

fn kind(item: &Item) -> &'static str {
    match item.kind {
        Kind::Directory => "directory",
        Kind::File => "regular file",
        Kind::Link => "symbolic link",
        Kind::Special => "device, pipe or socket",
        Kind::Unknown => "not known",
    }
}

/// Returns what a deletion would do.
fn asked(app: &App, asking: &Asking, is_narrow: bool) -> Vec<String> {
    let mut lines = names(app, &asking.ids);
    let Some(description) = &asking.description else {
        lines.push(asking.preparation.to_owned());
        return lines;
    };
    let freed = match description.freed {
        Some(freed) => format!("frees {}", bytes(freed)),
        None => "what it frees is not known".to_owned(),
    };
    let zone = &app.options.zone;
    let ages = format!(
        "oldest {}, newest {}",
        date(description.oldest, zone),
        date(description.newest, zone)
    );
    // On a small screen these come first, since names are cut.
    let mut summary = if is_narrow {
        let freed = description.freed.map_or_else(|| "?".to_owned(), bytes);
        vec![
            format!("{}, {freed}", entries(description.entries)),
            format!("old {}", date(description.oldest, zone)),
            format!("new {}", date(description.newest, zone)),
        ]
    } else {
        vec![format!("{}, {freed}", entries(description.entries)), ages]
    };
    match &asking.unshared {
        Some(Ok(found)) => summary.push(safe(in_words(found).as_bytes())),
        Some(Err(reason)) => summary.push(safe(reason.as_bytes())),
        None if app.is_looking_at_extents() => summary.push("looking at extents".to_owned()),
        None => {}
    }
    if let Some(shown) = description.shown {
        let (number, size) = (entries(shown.entries), bytes(shown.alloc));
        summary.push(format!("read again now; in the snapshot {number}, {size}"));
    }
    lines.splice(0..0, summary);
    for (id, reason) in description.refusals.iter().take(NAMES) {
        let reason = safe(reason.as_bytes());
        lines.push(if *id == Id::default() {
            format!("refused: {reason}")
        } else {
            let name = names(app, &[*id]).pop().unwrap_or_default();
            format!("refused: {name}: {reason}")
        });
    }
    if description.refusals.len() > NAMES {
        lines.push(format!(
            "refused: {} more",
            description.refusals.len() - NAMES
        ));
    }
    if app.filter.is_some() {
        lines.push("The filter does not limit this: everything in a directory goes.".to_owned());
    }
    if !app.tree.progress().finished {
        lines.push("The tree is still being read: there may be more.".to_owned());
    }
    lines
}

/// Returns the paths of the first entries, and how many more there are.
fn names(app: &App, ids: &[Id]) -> Vec<String> {
    let mut lines = Vec::new();
    for &id in ids.iter().take(NAMES) {
        let path = app.tree.path(id).unwrap_or_default();
        lines.push(fit(&safe(&path), 3 * usize::from(WIDEST)));
    }
    if ids.len() > NAMES {
        lines.push(format!("and {} more", ids.len() - NAMES));
    }
    lines
}

fn question(asking: &Asking, is_narrow: bool) -> String {
    let Some(description) = &asking.description else {
        return "Esc cancels".to_owned();
    };
    if asking.allowed().is_empty() {
        return if is_narrow {
            "All refused. Enter"
        } else {
            "All of it is refused. Enter"
        }
        .to_owned();
    }
    if asking.must_type() && is_narrow {
        return format!("Type {}: {}_", description.entries, asking.typed);
    }
    if asking.must_type() {
        return format!("Type {} and Enter: {}_", description.entries, asking.typed);
    }
    "Sure? y/N".to_owned()
}

fn running_lines(running: &Running) -> Vec<String> {
    let progress = running.progress;
    let mut lines = vec![format!(
        "{} of {} gone",
        progress.deleted,
        entries(running.total)
    )];
    if !running.into_trash {
        lines.push(format!("{} freed", bytes(progress.freed)));
    }
    if progress.failed > 0 {
        lines.push(format!("{} could not be", progress.failed));
    }
    if running.is_cancelled {
        lines.push("ending after the current file".to_owned());
    }
    debug_assert!(lines.iter().all(|line| columns(line) < 60));
    lines
}
