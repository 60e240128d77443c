//! The changes or groups as a Parquet file. `docs/diff.md` describes the columns.

use super::Diff;
use super::change::Change;
use super::groups::{Group, GroupKey};
use super::json::View;
use super::version::{NUMBERS, Version};
use crate::table_file::{Cell, Column, Values, write};
use ringwalk_snapshot::type_letter;
use ringwalk_text::escaped;
use std::io::{self, Write};

/// Writes the changes or groups that `view` asks for as a Parquet file.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn write_table(diff: &Diff, view: &View<'_>, out: impl Write + Send) -> io::Result<()> {
    let most = view.top.unwrap_or(usize::MAX);
    match view.by {
        None => {
            let mut changes = diff.by_growth();
            changes.truncate(most);
            write("diff", &change_columns(diff), &changes, out)
        }
        Some(by) => {
            let groups = diff.groups(by);
            let rows: Vec<&Group> = groups.iter().take(most).collect();
            write("diff", &group_columns(diff, &groups), &rows, out)
        }
    }
}

fn change_columns(diff: &Diff) -> Vec<Column<'_, Change>> {
    let mut columns: Vec<Column<'_, Change>> =
        vec![Column::new("change", Values::Text, |each: &Change| {
            each.kind.name().into()
        })];
    place("", diff, &mut columns, |change| {
        let version = change.version();
        Some((version.root, &version.path))
    });
    columns.push(Column::new("type", Values::Text, |each: &Change| {
        type_letter(each.version().file_type).map_or(Cell::Null, Cell::from)
    }));
    columns.push(Column::new("growth", Values::Number, |each: &Change| {
        Cell::Number(each.growth)
    }));
    columns.push(Column::new("likely", Values::Boolean, |each: &Change| {
        Cell::Boolean(each.is_likely)
    }));
    columns.push(Column::new("changed", Values::Text, |each: &Change| {
        let names: Vec<_> = each
            .changed
            .iter()
            .map(ringwalk_snapshot::Column::name)
            .collect();
        names.join(",").into()
    }));
    place("from_", diff, &mut columns, |change| {
        change.from().map(|from| (from.root, &*from.path))
    });
    place("link_to_", diff, &mut columns, |change| {
        let name = change.link_to.as_ref()?;
        Some((name.root, &*name.path))
    });
    side("old_", &mut columns, |change| change.old.as_ref());
    side("new_", &mut columns, |change| change.new.as_ref());
    for (at, name) in [(0, "old_target"), (1, "new_target")] {
        columns.push(Column::new(name, Values::Bytes, move |each: &Change| {
            let targets = each.targets.as_ref();
            targets.map_or(Cell::Null, |targets| Cell::Text(targets[at].clone()))
        }));
    }
    columns
}

fn group_columns<'a>(diff: &'a Diff, groups: &[Group]) -> Vec<Column<'a, Group>> {
    let mut columns = Vec::new();
    match groups.first().map(|group| &group.key) {
        None => {}
        Some(GroupKey::Directory(_)) => {
            place("", diff, &mut columns, |group: &Group| match &group.key {
                GroupKey::Directory(location) => Some((location.root, &location.path)),
                _ => None,
            });
        }
        Some(GroupKey::Owner(_)) => {
            let uid = |group: &Group| match group.key {
                GroupKey::Owner(uid) => uid,
                _ => None,
            };
            columns.push(Column::new("uid", Values::Number, move |group| {
                uid(group).map(i64::from).into()
            }));
            columns.push(Column::new("owner", Values::Text, move |group| {
                let name = uid(group).and_then(|uid| diff.owner_name(uid));
                name.map_or(Cell::Null, |name| escaped(name).into())
            }));
        }
        Some(GroupKey::Extension(_)) => {
            columns.push(Column::new(
                "ext",
                Values::Text,
                |group: &Group| match &group.key {
                    GroupKey::Extension(Some(extension)) => extension.as_str().into(),
                    _ => Cell::Null,
                },
            ));
        }
    }
    columns.push(Column::new("growth", Values::Number, |group: &Group| {
        Cell::Number(group.growth)
    }));
    columns.push(Column::new("entries", Values::Number, |group: &Group| {
        Cell::Number(group.entries)
    }));
    columns
}

/// Returns a root and a path of a row.
type PlaceOf<R> = for<'r> fn(&'r R) -> Option<(u32, &'r [u8])>;

/// Adds the columns of a path.
fn place<'a, R: 'a>(
    prefix: &str,
    diff: &'a Diff,
    columns: &mut Vec<Column<'a, R>>,
    of: PlaceOf<R>,
) {
    columns.push(Column::new(
        format!("{prefix}root"),
        Values::Text,
        move |row| {
            let root = of(row).map(|(root, _)| diff.root_path(root));
            root.map_or(Cell::Null, |root| escaped(root).into())
        },
    ));
    columns.push(Column::new(
        format!("{prefix}path"),
        Values::Text,
        move |row| of(row).map_or(Cell::Null, |(_, path)| escaped(path).into()),
    ));
    columns.push(Column::new(
        format!("{prefix}path_raw"),
        Values::Bytes,
        move |row| match of(row) {
            Some((_, path)) if std::str::from_utf8(path).is_err() => Cell::Text(path.to_vec()),
            _ => Cell::Null,
        },
    ));
}

/// Adds the columns of one version.
fn side<'a>(
    prefix: &str,
    columns: &mut Vec<Column<'a, Change>>,
    of: fn(&Change) -> Option<&Version>,
) {
    columns.push(Column::new(
        format!("{prefix}row"),
        Values::Number,
        move |row| {
            let row = of(row).and_then(|version| i64::try_from(version.row).ok());
            row.into()
        },
    ));
    // The number of the file system means nothing outside.
    let shown = NUMBERS
        .into_iter()
        .filter(|column| *column != ringwalk_snapshot::Column::Fs);
    for column in shown {
        let values = match column.facts().values {
            ringwalk_snapshot::Values::Time => Values::Time,
            ringwalk_snapshot::Values::Uint64 => Values::Unsigned,
            _ => Values::Number,
        };
        let name = format!("{prefix}{}", column.name());
        columns.push(Column::new(name, values, move |row| {
            of(row).and_then(|version| version.get(column)).into()
        }));
    }
}
