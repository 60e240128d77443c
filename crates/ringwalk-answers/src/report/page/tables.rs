//! The parts of the page that need no script: tables and warnings.

use super::Page;
use super::data::owner;
use super::nodes::Node;
use super::numbers::{count, day, growth as grown, share};
use super::visible::{html, visible_bytes, visible_path};
use crate::diff::Kind;
use crate::report::{AgeClass, Sums, Value};
use ringwalk_text::SizeFormat;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// Owners with a line of their own.
const TOP_OWNERS: usize = 30;

/// Returns the table of the largest files.
pub(super) fn files(page: &Page) -> String {
    let heads = ["=Allocated", "#Share", "#Size", "Changed", "Owner", "File"];
    let mut table = Table::new(&heads);
    let total = page.report.total.alloc;
    let largest = page.files.first().map_or(0, |file| file.sums.alloc);
    for file in page.files.iter().filter(|file| file.sums.alloc > 0) {
        table.row([
            Cell::Bar(page.sizes.size(file.sums.alloc), file.sums.alloc, largest),
            Cell::Number(share(file.sums.alloc, total)),
            Cell::Number(page.sizes.size(file.sums.size)),
            Cell::Text(file.mtime.map_or_else(|| "–".to_owned(), day)),
            Cell::Text(
                file.uid
                    .map_or_else(|| "–".to_owned(), |uid| owner(page, uid)),
            ),
            Cell::Path(visible_path(&page.absolute(file))),
        ]);
    }
    table.end("No file has allocated space.")
}

/// Returns the section on the largest changes, or nothing without a comparison.
pub(super) fn growth(page: &Page) -> String {
    let Some(growth) = &page.growth else {
        return String::new();
    };
    let mut table = Table::new(&["=Growth", "Change", "File or directory"]);
    let largest = growth.changes.first();
    let largest = largest.map_or(0, |change| change.growth.unsigned_abs());
    for change in &growth.changes {
        let mut path = visible_path(&change.path);
        if let Some(from) = &change.from {
            path = format!("{path} (was {})", visible_path(from));
        }
        if change.below > 0 {
            let plural = if change.below == 1 { "" } else { "s" };
            path = format!("{path} (with {} more name{plural})", count(change.below));
        }
        let amount = change.growth.unsigned_abs();
        table.row([
            Cell::Change(
                grown(change.growth, page.sizes),
                amount,
                largest,
                change.growth < 0,
            ),
            Cell::Text(kind(change.kind).to_owned()),
            Cell::Path(path),
        ]);
    }
    let table = table.end("No change has changed the allocated size.");
    let all = count(growth.all as u64);
    let what = format!("The largest of {all} changes, by allocated bytes.");
    format!("<section id=\"growth\"><h2>Largest changes</h2><p>{what}</p>{table}</section>\n")
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::LinkAdded => "link added",
        Kind::LinkRemoved => "link removed",
        other => other.name(),
    }
}

/// Returns the table of allocated sizes by owner and age.
pub(super) fn owners(page: &Page) -> String {
    let Matrix { ages, rows, others } = matrix(page);
    let mut heads = vec!["Owner"];
    let labels: Vec<String> = ages.iter().map(|age| format!("#{}", age.label())).collect();
    heads.extend(labels.iter().map(String::as_str));
    heads.extend(["#Total", "#Share"]);
    let mut table = Table::new(&heads);
    let total = page.report.total.alloc;
    for (name, cells) in rows {
        table.cross(&name, &ages, &cells, total, page.sizes);
    }
    if let Some((number, cells)) = others {
        let plural = if number == 1 { "" } else { "s" };
        table.cross(
            &format!("{number} other owner{plural}"),
            &ages,
            &cells,
            total,
            page.sizes,
        );
    }
    let mut out = table.end("Nothing is there.");
    // The groups of a report have a limit.
    if let Some(rest) = page.report.overflow {
        let rest = page.sizes.size(rest.alloc);
        let _ = write!(
            out,
            "<p>{rest} of further owners are not in this table.</p>"
        );
    }
    out
}

/// Allocated sizes by age.
type Ages = BTreeMap<AgeClass, u64>;

/// Allocated sizes by owner and age.
struct Matrix {
    /// The ages that occur.
    ages: Vec<AgeClass>,
    /// The owners with the largest sizes.
    rows: Vec<(String, Ages)>,
    /// The number of the other owners, and their sizes.
    others: Option<(usize, Ages)>,
}

fn matrix(page: &Page) -> Matrix {
    let mut owners: BTreeMap<String, Ages> = BTreeMap::new();
    let mut ages = Ages::new();
    for group in &page.report.groups {
        let [who, Value::Age(age)] = &group.values[..] else {
            continue;
        };
        let Sums { alloc, .. } = group.sums;
        let cells = owners.entry(visible_bytes(&who.label())).or_default();
        for sum in [
            cells.entry(*age).or_default(),
            ages.entry(*age).or_default(),
        ] {
            *sum = sum.saturating_add(alloc);
        }
    }
    let ages = ages.into_keys().collect();
    let mut rows: Vec<_> = owners.into_iter().collect();
    rows.sort_by_key(|(_, cells)| std::cmp::Reverse(sum(cells)));
    let cut = rows.split_off(TOP_OWNERS.min(rows.len()));
    let others = (!cut.is_empty()).then(|| {
        let mut cells = Ages::new();
        for (age, alloc) in cut.iter().flat_map(|(_, cells)| cells) {
            let sum = cells.entry(*age).or_default();
            *sum = sum.saturating_add(*alloc);
        }
        (cut.len(), cells)
    });
    Matrix { ages, rows, others }
}

fn sum(cells: &Ages) -> u64 {
    cells
        .values()
        .fold(0, |sum, alloc| sum.saturating_add(*alloc))
}

/// Returns the warnings at the top of the page.
pub(super) fn warnings(page: &Page) -> String {
    let mut out = String::new();
    let mut warn = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<p class=\"warning\" role=\"alert\">{}</p>",
            html(&text)
        );
    };
    let errors = page.errors();
    if errors > 0 {
        let plural = if errors == 1 { "" } else { "s" };
        warn(format!(
            "The snapshot is incomplete: {} error{plural}. What could not be read is missing from \
             all sums.",
            count(errors)
        ));
    }
    if let Some(growth) = page.growth.as_ref().filter(|growth| !growth.is_certain) {
        let old = match growth.old_errors {
            0 => String::new(),
            errors => format!(" The older one has {} errors.", count(errors)),
        };
        warn(format!(
            "The growth is not certain, because one of the two snapshots is incomplete.{old}"
        ));
    }
    out
}

/// Returns the section on what could not be read, or nothing if everything could.
pub(super) fn failures(page: &Page) -> String {
    if page.failed.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["Error", "File or directory"]);
    for node in &page.failed {
        table.row([
            Cell::Text(note(node).unwrap_or_default()),
            Cell::Path(visible_path(&page.absolute(node))),
        ]);
    }
    let shown = page.failed.len() as u64;
    let more = match page.errors().saturating_sub(shown) {
        0 => String::new(),
        more => format!("<p>{} more are not shown.</p>", count(more)),
    };
    let table = table.end("");
    format!("<section id=\"failures\"><h2>Could not be read</h2>{table}{more}</section>\n")
}

/// Returns why a file could not be read, or was left out.
pub(super) fn note(node: &Node) -> Option<String> {
    if let Some((operation, errno)) = &node.failure {
        let text = io::Error::from_raw_os_error(*errno).to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        return Some(format!("cannot {}: {reason}", verb(operation)));
    }
    Some(format!("left out: {}", node.skipped?.reason()))
}

fn verb(operation: &str) -> &str {
    match operation {
        "stat" => "read the metadata",
        "readlink" => "read the link",
        "xattr" => "read the extended attributes",
        "" => "read",
        other => other,
    }
}

/// A cell of a table.
enum Cell {
    Text(String),
    Number(String),
    Path(String),
    /// A number, and its part of the largest one for a bar.
    Bar(String, u64, u64),
    /// The same for a growth, which may be a shrinkage.
    Change(String, u64, u64, bool),
}

/// A table of HTML.
struct Table {
    out: String,
    rows: usize,
}

impl Table {
    /// Creates a table with a head. `#` before a name marks a column of numbers, and `=` a column
    /// of numbers with bars.
    fn new(heads: &[&str]) -> Self {
        let mut out = "<div class=\"wide\"><table><thead><tr>".to_owned();
        for head in heads {
            let (class, name) = match head.split_at(1) {
                ("#", name) => (" class=\"number\"", name),
                ("=", name) => (" class=\"number barred\"", name),
                _ => ("", *head),
            };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", html(name));
        }
        out.push_str("</tr></thead><tbody>\n");
        Self { out, rows: 0 }
    }

    fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows += 1;
        self.out.push_str("<tr>");
        for cell in cells {
            let cell = match cell {
                Cell::Text(text) => format!("<td>{}</td>", html(&text)),
                Cell::Number(text) => format!("<td class=\"number\">{}</td>", html(&text)),
                Cell::Path(text) => format!("<td class=\"path\"><bdi>{}</bdi></td>", html(&text)),
                Cell::Bar(text, part, whole) => {
                    format!(
                        "<td class=\"number barred\">{}{}</td>",
                        html(&text),
                        bar(part, whole, "bar")
                    )
                }
                Cell::Change(text, part, whole, is_less) => {
                    let class = if is_less { "bar less" } else { "bar more" };
                    format!(
                        "<td class=\"number barred\">{}{}</td>",
                        html(&text),
                        bar(part, whole, class)
                    )
                }
            };
            self.out.push_str(&cell);
        }
        self.out.push_str("</tr>\n");
    }

    /// Adds a row of sizes by age, coloured by their share in `total`.
    fn cross(
        &mut self,
        name: &str,
        ages: &[AgeClass],
        cells: &Ages,
        total: u64,
        sizes: SizeFormat,
    ) {
        self.rows += 1;
        let _ = write!(
            self.out,
            "<tr><th scope=\"row\"><bdi>{}</bdi></th>",
            html(name)
        );
        for age in ages {
            let alloc = cells.get(age).copied().unwrap_or(0);
            let text = if alloc == 0 {
                "–".to_owned()
            } else {
                sizes.size(alloc)
            };
            let heat = heat(alloc, total);
            let _ = write!(
                self.out,
                "<td class=\"number heat{heat}\">{}</td>",
                html(&text)
            );
        }
        let all = sum(cells);
        let (size, share) = (sizes.size(all), share(all, total));
        let _ = writeln!(
            self.out,
            "<td class=\"number total\">{size}</td><td class=\"number\">{share}</td></tr>"
        );
    }

    /// Returns the table, or `empty` if it has no rows.
    fn end(mut self, empty: &str) -> String {
        if self.rows == 0 {
            return format!("<p>{}</p>", html(empty));
        }
        self.out.push_str("</tbody></table></div>");
        self.out
    }
}

/// Returns a bar. The policy forbids attributes with style, and has nothing against numbers of SVG.
fn bar(part: u64, whole: u64, class: &str) -> String {
    if whole == 0 {
        return String::new();
    }
    let tenths = (u128::from(part) * 1000).div_ceil(u128::from(whole));
    format!(
        "<svg class=\"{class}\" width=\"90\" height=\"8\" aria-hidden=\"true\">\
         <rect width=\"{}.{}%\" height=\"8\"/></svg>",
        tenths / 10,
        tenths % 10
    )
}

/// Returns a step of colour from 0 to 6 for a share. The steps are powers of about 3, since most
/// shares are small.
fn heat(part: u64, whole: u64) -> usize {
    const STEPS: [u128; 5] = [1, 3, 10, 30, 100];
    if part == 0 || whole == 0 {
        return 0;
    }
    let thousandths = u128::from(part) * 1000 / u128::from(whole);
    1 + STEPS
        .iter()
        .filter(|step| thousandths >= **step * 3)
        .count()
}
