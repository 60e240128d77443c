//! A table with a line for each group.

use super::grid::{GAP, Grid};
use super::head;
use super::style::Style;
use ringwalk_answers::report::{Others, Ranking, Report, Sums};
use ringwalk_text::SizeFormat;
use std::borrow::Cow;

/// Columns of a bar.
const LEAST_BAR: usize = 8;
const LARGEST_BAR: usize = 40;

/// Returns the table of a report.
pub(super) fn table(report: &Report, ranking: &Ranking<'_>, style: &Style) -> String {
    let keys = report.by.len();
    let mut grid = Grid::new(keys);
    let heads = report.by.iter().map(|key| head(*key));
    grid.push(
        heads
            .chain(["entries", "size", "alloc", "share"])
            .map(str::to_owned)
            .collect(),
    );
    let mut sums = Vec::new();
    for group in &ranking.groups {
        let labels = group.values.iter().map(|value| style.label(&value.label()));
        grid.push(line(report, labels.collect(), &group.sums, style.sizes));
        sums.push(group.sums);
    }
    let mut last = |label: Cow<'_, str>, of: &Sums| {
        let mut labels = vec![String::new(); keys];
        labels[0] = label.into_owned();
        grid.push(line(report, labels, of, style.sizes));
        sums.push(*of);
    };
    if let Some(others) = &ranking.others {
        last(others_label(others).into(), &others.sums);
    }
    last("total".into(), &report.total);
    draw(&mut grid, &sums, style)
}

/// Returns the text for rows that are not shown by group.
fn others_label(others: &Others) -> String {
    let more = if others.more { " and more" } else { "" };
    format!("others ({}{more})", others.groups)
}

fn line(report: &Report, mut cells: Vec<String>, sums: &Sums, sizes: SizeFormat) -> Vec<String> {
    cells.extend([
        sums.entries.to_string(),
        sizes.size(sums.size),
        sizes.size(sums.alloc),
        share(report, sums),
    ]);
    cells
}

/// Returns the lines with bars, if there is room. The first line is the head, and the last line is
/// the total. `sums` has the sums of the lines below the head.
fn draw(grid: &mut Grid, sums: &[Sums], style: &Style) -> String {
    grid.fit(style.columns);
    // The last column stays free: some terminals wrap a line that fills it.
    let room = style.columns.saturating_sub(grid.width() + GAP + 1);
    let width = room.min(LARGEST_BAR);
    let has_bars = style.terminal && width >= LEAST_BAR;
    let (_, groups) = sums.split_last().unwrap_or((&NOTHING, &[]));
    let largest = groups.iter().map(|sums| sums.alloc).max().unwrap_or(0);
    let mut out = String::new();
    for (at, line) in grid.lines().into_iter().enumerate() {
        if at == 0 || at == sums.len() {
            out.push_str(&style.strong(line.trim_end()));
        } else {
            out.push_str(&line);
            let bar = style.bar(sums[at - 1].alloc, largest, width);
            if has_bars && !bar.is_empty() {
                out.push_str(&" ".repeat(GAP));
                out.push_str(&bar);
            }
        }
        out.push('\n');
    }
    out
}

const NOTHING: Sums = Sums {
    entries: 0,
    size: 0,
    alloc: 0,
};

/// Returns the share of the total in percent.
pub(super) fn share(report: &Report, sums: &Sums) -> String {
    match report.share(sums) {
        // Rounded to tenths.
        Some(hundredths) => {
            let tenths = (hundredths + 5) / 10;
            format!("{}.{}%", tenths / 10, tenths % 10)
        }
        None => "-".to_owned(),
    }
}
