//! JSON: one object.

use super::cells::{columns, sums, values};
use crate::report::{Ranking, Report, Sums};
use crate::table_file::Cell;
use serde_json::{Map, Number, Value};

/// Returns a report as one JSON object on one line.
pub fn json(report: &Report, ranking: &Ranking<'_>) -> String {
    let mut object = Map::new();
    let keys = report.by.iter().map(|key| key.name().into());
    object.insert("by".to_owned(), Value::Array(keys.collect()));
    object.insert("start".to_owned(), report.start.seconds.into());
    object.insert("complete".to_owned(), (report.errors == 0).into());
    object.insert("errors".to_owned(), report.errors.into());
    let groups = ranking.groups.iter().map(|group| {
        let mut cells = values(&group.values);
        cells.extend(sums(report, &group.sums));
        row(report, cells).into()
    });
    object.insert("rows".to_owned(), Value::Array(groups.collect()));
    let others = ranking.others.map_or(Value::Null, |others| {
        let mut row = sums_row(report, &others.sums);
        row.insert("groups".to_owned(), others.groups.into());
        row.insert("more".to_owned(), others.more.into());
        row.into()
    });
    object.insert("others".to_owned(), others);
    object.insert("total".to_owned(), sums_row(report, &report.total).into());
    let mut text = ringwalk::shown::json(Value::Object(object).to_string());
    text.push('\n');
    text
}

/// Returns an object of the cells under the names of their columns.
fn row(report: &Report, cells: Vec<Cell>) -> Map<String, Value> {
    let mut object = Map::new();
    for ((name, _), cell) in columns(report).into_iter().zip(cells) {
        // Only paths that are not UTF-8 have this member.
        if name != "dir_hex" || cell != Cell::Null {
            object.insert(name.to_owned(), value(cell));
        }
    }
    object
}

fn sums_row(report: &Report, of: &Sums) -> Map<String, Value> {
    let names = ["entries", "size", "alloc", "share"];
    let cells = sums(report, of).map(value);
    names.map(str::to_owned).into_iter().zip(cells).collect()
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => String::from_utf8_lossy(&text).into(),
        Cell::Number(number) => number.into(),
        Cell::Boolean(boolean) => boolean.into(),
        Cell::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}
