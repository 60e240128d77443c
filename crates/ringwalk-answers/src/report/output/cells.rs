//! The columns of a report, and the cells of a row.

use crate::report::{Key, Others, Ranking, Report, Sums, Value};
use crate::table_file;
use crate::table_file::{Cell, Values};
use ringwalk_text::{escaped, hex_unless_text};

/// A column: its name and what it holds.
pub(super) type Column = (&'static str, Values);

/// Returns the columns of a key.
fn columns_of(key: Key) -> &'static [Column] {
    use Values::{Number, Text};
    match key {
        Key::Owner => &[("owner", Text), ("uid", Number)],
        Key::Group => &[("group", Text), ("gid", Number)],
        Key::Project => &[("projid", Number)],
        Key::Age => &[("age", Text), ("age_days", Number)],
        Key::Size => &[("size_class", Text), ("size_least", Number)],
        Key::Type => &[("type", Text)],
        Key::Directory => &[("dir", Text), ("dir_hex", Text)],
        Key::Extension => &[("ext", Text)],
    }
}

const SUMS: [Column; 4] = [
    ("entries", Values::Number),
    ("size", Values::Number),
    ("alloc", Values::Number),
    ("share", Values::Real),
];

/// Returns the columns of the keys and of the sums.
pub(super) fn columns(report: &Report) -> Vec<Column> {
    let keys = report.by.iter().flat_map(|key| columns_of(*key));
    keys.chain(&SUMS).copied().collect()
}

/// Returns the columns of [`table()`]: these, and `others`.
pub(super) fn table_columns(report: &Report) -> Vec<table_file::Column<'static, Vec<Cell>>> {
    let others = ("others", Values::Number);
    let columns = columns(report).into_iter().chain([others]).enumerate();
    columns
        .map(|(at, (name, values))| {
            table_file::Column::new(name, values, move |row: &Vec<Cell>| row[at].clone())
        })
        .collect()
}

/// Returns the rows of a table. In the last one `others` holds the number of groups that are not
/// shown, in the other rows it is null.
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
                cells.push(name.map_or(Cell::Null, Cell::from));
                cells.push(id.map(i64::from).into());
            }
            Value::Project(id) => cells.push(id.map(i64::from).into()),
            Value::Age(class) => {
                cells.push(class.label().into());
                cells.push(class.least_days().into());
            }
            Value::Size(class) => {
                cells.push(class.label().into());
                cells.push(class.least_bytes().into());
            }
            Value::Type(letter) => {
                cells.push(letter.map_or(Cell::Null, |letter| String::from(letter).into()));
            }
            Value::Directory(path) => {
                cells.push(escaped(path).into());
                cells.push(hex_unless_text(path).map_or(Cell::Null, Cell::from));
            }
            Value::Extension(extension) => {
                let extension = extension.as_ref().map(|extension| escaped(extension));
                cells.push(extension.map_or(Cell::Null, Cell::from));
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
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_escaped_and_given_in_hexadecimal() {
        let cells = values(&[Value::Directory(b"a\xffb".to_vec())]);
        assert_eq!(cells, [Cell::from("a\\xffb"), Cell::from("61ff62")]);
        let cells = values(&[Value::Directory("é\n".into())]);
        assert_eq!(cells, [Cell::from("é\n"), Cell::Null]);
    }

    #[test]
    fn every_value_has_the_columns_of_its_key() {
        use crate::report::{AgeClass, SizeClass};
        let all = [
            (
                Key::Owner,
                Value::Owner {
                    id: None,
                    name: None,
                },
            ),
            (
                Key::Group,
                Value::Owner {
                    id: Some(1),
                    name: Some(b"g".to_vec()),
                },
            ),
            (Key::Project, Value::Project(Some(1))),
            (Key::Age, Value::Age(AgeClass::Future)),
            (Key::Size, Value::Size(SizeClass::Empty)),
            (Key::Type, Value::Type(None)),
            (Key::Directory, Value::Directory(b".".to_vec())),
            (Key::Extension, Value::Extension(None)),
        ];
        assert_eq!(all.len(), Key::ALL.len());
        for (key, value) in all {
            let cells = values(&[value]);
            assert_eq!(cells.len(), columns_of(key).len(), "{key}");
            for (cell, (name, kind)) in cells.iter().zip(columns_of(key)) {
                let agrees = match cell {
                    Cell::Null => true,
                    Cell::Text(_) => *kind == Values::Text,
                    Cell::Number(_) => *kind == Values::Number,
                    Cell::Real(_) => *kind == Values::Real,
                    Cell::Boolean(_) => false,
                };
                assert!(agrees, "{name}");
            }
        }
    }
}
