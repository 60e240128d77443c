//! CSV as RFC 4180 describes it, with line feeds alone at the ends of lines.

use super::cells::{Cell, columns, table};
use crate::report::{Ranking, Report};
use std::fmt::Write;

/// Returns a report as CSV: a line of names, then a line for each row. Null is an empty field.
pub fn csv(report: &Report, ranking: &Ranking<'_>) -> String {
    let mut out = String::new();
    for (name, _) in columns(report) {
        out.push_str(name);
        out.push(',');
    }
    out.push_str("others\n");
    for row in table(report, ranking) {
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            push(&mut out, cell);
        }
        out.push('\n');
    }
    out
}

fn push(out: &mut String, cell: &Cell) {
    // Writing to a string cannot fail.
    let _ = match cell {
        Cell::Null => Ok(()),
        Cell::Integer(number) => write!(out, "{number}"),
        Cell::Real(number) => write!(out, "{number:.2}"),
        Cell::Text(text) => {
            push_text(out, text);
            Ok(())
        }
    };
}

/// Appends text, in quotes if it is empty or has a character with a meaning. So an empty text
/// differs from null.
fn push_text(out: &mut String, text: &str) {
    let special = |character: char| matches!(character, '"' | ',' | ' ') || character.is_control();
    if !text.is_empty() && !text.contains(special) {
        out.push_str(text);
        return;
    }
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests;
