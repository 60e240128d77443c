//! The columns of a report, and the cells of a row.

use crate::report::{Key, Others, Ranking, Report, Sums, Value};
use ringwalk_text::{escaped, hex};

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Real,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Text(String),
    Integer(i64),
    /// Percent, with two decimals.
    Real(f64),
}

/// A column: its name and what it holds.
pub(super) type Column = (&'static str, Kind);

/// Returns the columns of a key.
fn columns_of(key: Key) -> &'static [Column] {
    use Kind::{Integer, Text};
    match key {
        Key::Owner => &[("owner", Text), ("uid", Integer)],
        Key::Group => &[("group", Text), ("gid", Integer)],
        Key::Age => &[("age", Text), ("age_days", Integer)],
        Key::Size => &[("size_class", Text), ("size_least", Integer)],
        Key::Type => &[("type", Text)],
        Key::Directory => &[("dir", Text), ("dir_hex", Text)],
        Key::Extension => &[("ext", Text)],
    }
}

const SUMS: [Column; 4] = [
    ("entries", Kind::Integer),
    ("size", Kind::Integer),
    ("alloc", Kind::Integer),
    ("share", Kind::Real),
];

/// Returns the columns of the keys and of the sums.
pub(super) fn columns(report: &Report) -> Vec<Column> {
    let keys = report.by.iter().flat_map(|key| columns_of(*key));
    keys.chain(&SUMS).copied().collect()
}

/// Returns the rows of a table with these columns, and with one more column `others`. In the last
/// row it holds the number of groups that are not shown, in the other rows it is null.
pub(super) fn table<'r>(
    report: &'r Report,
    ranking: &'r Ranking<'r>,
) -> impl Iterator<Item = Vec<Cell>> {
    let groups = ranking.groups.iter().map(|group| {
        let mut cells = values(&group.values);
        cells.extend(sums(report, &group.sums));
        cells.push(Cell::Null);
        cells
    });
    groups.chain(
        ranking
            .others
            .iter()
            .map(|others| others_row(report, others)),
    )
}

fn others_row(report: &Report, others: &Others) -> Vec<Cell> {
    let keys = columns(report).len() - SUMS.len();
    let mut cells = vec![Cell::Null; keys];
    cells.extend(sums(report, &others.sums));
    cells.push(integer(others.groups));
    cells
}

/// Returns the cells of a group's values.
pub(super) fn values(values: &[Value]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for value in values {
        match value {
            Value::Owner { id, name } => {
                let name = name.as_ref().map(|name| escaped(name));
                cells.push(name.map_or(Cell::Null, Cell::Text));
                cells.push(id.map_or(Cell::Null, |id| Cell::Integer(id.into())));
            }
            Value::Age(class) => {
                cells.push(Cell::Text(class.label().to_owned()));
                cells.push(class.least_days().map_or(Cell::Null, Cell::Integer));
            }
            Value::Size(class) => {
                cells.push(Cell::Text(class.label().to_owned()));
                cells.push(class.least_bytes().map_or(Cell::Null, Cell::Integer));
            }
            Value::Type(letter) => {
                cells.push(letter.map_or(Cell::Null, |letter| Cell::Text(letter.into())));
            }
            Value::Directory(path) => {
                cells.push(Cell::Text(escaped(path)));
                cells.push(match std::str::from_utf8(path) {
                    Ok(_) => Cell::Null,
                    Err(_) => Cell::Text(hex(path)),
                });
            }
            Value::Extension(extension) => {
                let extension = extension.as_ref().map(|extension| escaped(extension));
                cells.push(extension.map_or(Cell::Null, Cell::Text));
            }
        }
    }
    cells
}

/// Returns the cells of sums.
pub(super) fn sums(report: &Report, sums: &Sums) -> [Cell; 4] {
    let share = report.share(sums);
    [
        integer(sums.entries),
        integer(sums.size),
        integer(sums.alloc),
        share.map_or(Cell::Null, |share| Cell::Real(f64::from(share) / 100.0)),
    ]
}

/// Returns a number. Sums beyond the range of a signed number are the largest one.
pub(super) fn integer(number: u64) -> Cell {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
