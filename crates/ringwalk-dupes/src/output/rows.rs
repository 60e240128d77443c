//! A row for each name of each file, for CSV and Parquet.

use crate::Group;
use ringwalk_answers::table_file::{Cell, Column, Values};
use ringwalk_text::escaped;
use std::io;

/// A name of a file in a group.
#[derive(Debug)]
pub(super) struct Row {
    group: u64,
    size: u64,
    hash: Option<[u8; 32]>,
    keep: bool,
    reference: bool,
    snapshot: Option<usize>,
    file: u64,
    ino: u64,
    link: u64,
    shares_with: Option<Vec<u8>>,
    path: Vec<u8>,
}

/// Calls `each` for each row.
pub(super) fn for_each(
    groups: impl Iterator<Item = Group>,
    mut each: impl FnMut(Row) -> io::Result<()>,
) -> io::Result<()> {
    for (number, group) in (1..).zip(groups) {
        for (file, copy) in (1..).zip(&group.copies) {
            let shares_with = copy
                .shares_with
                .map(|other| group.copies[other].path().to_vec());
            for (link, name) in (1..).zip(&copy.names) {
                each(Row {
                    group: number,
                    size: group.size,
                    hash: group.hash,
                    keep: file == 1,
                    reference: copy.is_reference,
                    snapshot: copy.snapshot,
                    file,
                    ino: copy.version.ino,
                    link,
                    shares_with: shares_with.clone(),
                    path: name.path().to_vec(),
                })?;
            }
        }
    }
    Ok(())
}

/// Returns the columns, in their order.
pub(super) fn columns() -> Vec<Column<'static, Row>> {
    let mut columns = vec![
        Column::new("group", Values::Number, |row: &Row| number(row.group)),
        Column::new("size", Values::Number, |row: &Row| number(row.size)),
        Column::new("hash", Values::Bytes, |row: &Row| {
            row.hash
                .map_or(Cell::Null, |hash| Cell::Text(hash.to_vec()))
        }),
        Column::new("keep", Values::Boolean, |row: &Row| Cell::Boolean(row.keep)),
        Column::new("reference", Values::Boolean, |row: &Row| {
            Cell::Boolean(row.reference)
        }),
        Column::new("snapshot", Values::Number, |row: &Row| {
            row.snapshot.map_or(Cell::Null, |at| number(at as u64))
        }),
        Column::new("file", Values::Number, |row: &Row| number(row.file)),
        Column::new("ino", Values::Unsigned, |row: &Row| {
            Cell::Number(row.ino.cast_signed())
        }),
        Column::new("link", Values::Number, |row: &Row| number(row.link)),
    ];
    columns.extend(path("shares_with", |row| row.shares_with.as_deref()));
    columns.extend(path("path", |row| Some(&row.path)));
    columns
}

/// Returns two columns: a path as text, and the bytes of a path that is not UTF-8.
fn path(name: &str, of: fn(&Row) -> Option<&[u8]>) -> [Column<'static, Row>; 2] {
    [
        Column::new(name, Values::Text, move |row| {
            of(row).map_or(Cell::Null, |path| escaped(path).into())
        }),
        Column::new(format!("{name}_raw"), Values::Bytes, move |row| {
            match of(row) {
                Some(path) if std::str::from_utf8(path).is_err() => Cell::Text(path.to_vec()),
                _ => Cell::Null,
            }
        }),
    ]
}

/// Returns a number. The kernel's sizes are below 2^63.
fn number(number: u64) -> Cell {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}
