//! JSON: one object, or a line for each change or group. `docs/diff.md` describes the members.

use super::Diff;
use super::change::{Change, Kind, Location};
use super::groups::{By, Group, GroupKey};
use super::version::{NUMBERS, Unread, Version};
use ringwalk::shown;
use ringwalk_snapshot::{Column, Info, Values, rfc3339, timestamp, type_letter};
use ringwalk_text::{escaped, hex, hex_unless_text};
use serde_json::{Map, Value, json as object};
use std::io::{self, Write};
use std::path::Path;

/// What is written.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct View<'a> {
    /// Names of the two files, as the user gave them.
    pub files: [Option<&'a Path>; 2],
    /// What changes are grouped by. `None` for the changes themselves.
    pub by: Option<By>,
    /// The most changes or groups, largest growth first.
    pub top: Option<usize>,
}

impl View<'_> {
    fn most(&self) -> usize {
        self.top.unwrap_or(usize::MAX)
    }
}

/// Returns one object on one line.
pub fn json(diff: &Diff, view: &View<'_>) -> String {
    let mut members = Map::new();
    let [old, new] = view.files;
    members.insert("old".to_owned(), source(old, &diff.old));
    members.insert("new".to_owned(), source(new, &diff.new));
    members.insert("same".to_owned(), diff.is_same().into());
    members.insert("complete".to_owned(), diff.is_certain().into());
    members.insert("growth".to_owned(), diff.growth().into());
    let kinds = Kind::ALL.map(|kind| (kind.name().to_owned(), diff.count(kind).into()));
    members.insert(
        "counts".to_owned(),
        Value::Object(kinds.into_iter().collect()),
    );
    let (name, items) = match view.by {
        None => {
            let changes = diff.by_growth();
            let items = changes.into_iter().take(view.most());
            ("changes", items.map(|each| change(diff, each)).collect())
        }
        Some(by) => {
            let groups = diff.groups(by);
            let items = groups.iter().take(view.most());
            ("groups", items.map(|each| group(diff, each)).collect())
        }
    };
    members.insert(name.to_owned(), Value::Array(items));
    let unread = diff.unread.iter().map(|each| unread(diff, each));
    members.insert("unread".to_owned(), unread.collect());
    members.insert("unknown".to_owned(), diff.unknown.into());
    line(&Value::Object(members))
}

/// Writes a line for each change or group.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn ndjson(diff: &Diff, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    match view.by {
        None => {
            for each in diff.by_growth().into_iter().take(view.most()) {
                out.write_all(line(&change(diff, each)).as_bytes())?;
            }
        }
        Some(by) => {
            for each in diff.groups(by).iter().take(view.most()) {
                out.write_all(line(&group(diff, each)).as_bytes())?;
            }
        }
    }
    Ok(())
}

fn line(value: &Value) -> String {
    let mut text = shown::json(value.to_string());
    text.push('\n');
    text
}

fn source(file: Option<&Path>, info: &Info) -> Value {
    use std::os::unix::ffi::OsStrExt as _;
    let file = file.map(|file| escaped(file.as_os_str().as_bytes()));
    object!({
        "file": file,
        "start": rfc3339(info.run.start.into()),
        "end": rfc3339(info.run.end.into()),
        "complete": info.verdict.complete,
        "errors": info.verdict.errors,
        "entries": info.verdict.entries,
    })
}

fn change(diff: &Diff, change: &Change) -> Value {
    let mut members = Map::new();
    let version = change.version();
    members.insert("change".to_owned(), change.kind.name().into());
    place(diff, version.root, &version.path, &mut members);
    let letter = type_letter(version.file_type);
    members.insert("type".to_owned(), letter.into());
    members.insert("growth".to_owned(), change.growth.into());
    if change.is_likely {
        members.insert("likely".to_owned(), true.into());
    }
    if let Some(from) = change.from() {
        members.insert("from".to_owned(), location(diff, from.root, &from.path));
    }
    if let Some(Location { root, path }) = &change.link_to {
        members.insert("link_to".to_owned(), location(diff, *root, path));
    }
    let changed = change.changed.iter().map(|column| column.name().into());
    members.insert("changed".to_owned(), Value::Array(changed.collect()));
    let targets = change.targets.as_ref();
    for (name, version, at) in [("old", &change.old, 0), ("new", &change.new, 1)] {
        let mut side = version.as_ref().map_or(Value::Null, numbers);
        if let (Value::Object(side), Some(targets)) = (&mut side, targets) {
            text("target", &targets[at], side);
        }
        if let (Value::Object(side), Some(version)) = (&mut side, version)
            && change.changed.contains(Column::Hash)
            && let Some(known) = &version.hash
        {
            side.insert("hash".to_owned(), hex(&known[..]).into());
        }
        members.insert(name.to_owned(), side);
    }
    Value::Object(members)
}

fn group(diff: &Diff, group: &Group) -> Value {
    let mut members = Map::new();
    match &group.key {
        GroupKey::Directory(Location { root, path }) => place(diff, *root, path, &mut members),
        GroupKey::Owner(uid) => {
            let name = uid.and_then(|uid| diff.owner_name(uid));
            members.insert("uid".to_owned(), (*uid).into());
            match name {
                Some(name) => text("owner", name, &mut members),
                None => drop(members.insert("owner".to_owned(), Value::Null)),
            }
        }
        GroupKey::Extension(extension) => {
            members.insert("ext".to_owned(), extension.clone().into());
        }
    }
    members.insert("growth".to_owned(), group.growth.into());
    members.insert("entries".to_owned(), group.entries.into());
    Value::Object(members)
}

fn unread(diff: &Diff, unread: &Unread) -> Value {
    let mut members = Map::new();
    members.insert("snapshot".to_owned(), unread.which.name().into());
    place(diff, unread.root, &unread.path, &mut members);
    members.insert("errno".to_owned(), unread.errno.into());
    members.insert("reason".to_owned(), unread.reason.clone().into());
    Value::Object(members)
}

fn location(diff: &Diff, root: u32, path: &[u8]) -> Value {
    let mut members = Map::new();
    place(diff, root, path, &mut members);
    Value::Object(members)
}

fn place(diff: &Diff, root: u32, path: &[u8], members: &mut Map<String, Value>) {
    text("root", diff.root_path(root), members);
    text("path", path, members);
}

/// Adds a member of text. Text that is not UTF-8 is escaped, and has a second member `NAME_raw`
/// with its bytes in hexadecimal digits.
fn text(name: &str, bytes: &[u8], members: &mut Map<String, Value>) {
    members.insert(name.to_owned(), escaped(bytes).into());
    if let Some(raw) = hex_unless_text(bytes) {
        members.insert(format!("{name}_raw"), raw.into());
    }
}

/// Returns the numbers of a version that are known.
fn numbers(version: &Version) -> Value {
    let mut members = Map::new();
    members.insert("row".to_owned(), version.row.into());
    // The number of the file system means nothing outside.
    for column in NUMBERS.into_iter().filter(|column| *column != Column::Fs) {
        let Some(value) = version.get(column) else {
            continue;
        };
        let value = match column.facts().values {
            Values::Time => time(value).into(),
            Values::Uint64 => value.cast_unsigned().into(),
            _ => value.into(),
        };
        members.insert(column.name().to_owned(), value);
    }
    Value::Object(members)
}

/// Returns nanoseconds since 1970 as text.
fn time(nanoseconds: i64) -> String {
    rfc3339(timestamp(nanoseconds))
}
