//! A table of two keys: the values of the second one stand side by side.

use super::flat::share;
use super::grid::Grid;
use super::head;
use super::style::Style;
use ringwalk_answers::report::{Key, Report, Sums, Value};
use ringwalk_text::SizeFormat;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// One line of the table.
#[derive(Default)]
struct Line<'r> {
    /// Allocated bytes by value of the second key.
    cells: BTreeMap<&'r Value, u64>,
    sums: Sums,
}

impl<'r> Line<'r> {
    fn add(&mut self, value: &'r Value, sums: &Sums) {
        *self.cells.entry(value).or_default() += sums.alloc;
        self.add_sums(sums);
    }

    fn add_sums(&mut self, sums: &Sums) {
        self.sums.entries += sums.entries;
        self.sums.size += sums.size;
        self.sums.alloc += sums.alloc;
    }

    fn add_line(&mut self, other: &Self) {
        for (value, alloc) in &other.cells {
            *self.cells.entry(value).or_default() += alloc;
        }
        self.add_sums(&other.sums);
    }

    fn to_cells(
        &self,
        label: String,
        values: &BTreeSet<&Value>,
        report: &Report,
        sizes: SizeFormat,
    ) -> Vec<String> {
        let mut cells = vec![label];
        for value in values {
            let alloc = self.cells.get(value);
            cells.push(alloc.map_or_else(|| "-".to_owned(), |alloc| sizes.size(*alloc)));
        }
        cells.push(sizes.size(self.sums.alloc));
        cells.push(share(report, &self.sums));
        cells
    }
}

/// Returns the table of allocated sizes by two keys. The second key has few values. `None` if the
/// report has other keys, or if the table is wider than the terminal.
pub(super) fn table(report: &Report, top: Option<usize>, style: &Style) -> Option<String> {
    let [first, second] = report.by[..] else {
        return None;
    };
    if !(second.has_classes() || second == Key::Type) || report.overflow.is_some() {
        return None;
    }
    let mut by_first: BTreeMap<&Value, Line<'_>> = BTreeMap::new();
    let mut total = Line::default();
    let mut values = BTreeSet::new();
    for group in &report.groups {
        let [row, column] = &group.values[..] else {
            return None;
        };
        by_first.entry(row).or_default().add(column, &group.sums);
        total.add(column, &group.sums);
        values.insert(column);
    }
    let mut lines: Vec<_> = by_first.into_iter().collect();
    lines.sort_by_key(|(_, line)| Reverse((line.sums.alloc, line.sums.entries)));
    let cut = lines.split_off(top.unwrap_or(usize::MAX).min(lines.len()));
    if first.has_classes() {
        lines.sort_by_key(|(value, _)| *value);
    }

    let mut grid = Grid::new(1);
    let mut heads = vec![head(first).to_owned()];
    heads.extend(values.iter().map(|value| short(value)));
    heads.extend(["alloc".to_owned(), "share".to_owned()]);
    grid.push(heads);
    for (value, line) in &lines {
        grid.push(line.to_cells(style.label(&value.label()), &values, report, style.sizes));
    }
    if !cut.is_empty() {
        let mut others = Line::default();
        for (_, line) in &cut {
            others.add_line(line);
        }
        grid.push(others.to_cells(
            format!("others ({})", cut.len()),
            &values,
            report,
            style.sizes,
        ));
    }
    grid.push(total.to_cells("total".to_owned(), &values, report, style.sizes));
    grid.fit(style.columns);
    (grid.width() <= style.columns).then(|| draw(&grid, style))
}

fn draw(grid: &Grid, style: &Style) -> String {
    let lines = grid.lines();
    let last = lines.len().saturating_sub(1);
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if at == 0 || at == last {
            out.push_str(&style.strong(line));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Returns the head of the column of a value.
fn short(value: &Value) -> String {
    match value {
        Value::Age(class) => class.short().to_owned(),
        Value::Size(class) => class.short().to_owned(),
        Value::Type(Some(letter)) => letter.to_string(),
        other => String::from_utf8_lossy(&other.label()).into_owned(),
    }
}
