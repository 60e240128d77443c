//! Reports: entries and sizes of a snapshot by owner, group, project, age, size, type, directory or
//! extension.
//!
//! | file | contents |
//! |---|---|
//! | `key.rs` | the keys, and their names |
//! | `classes.rs` | classes of ages and sizes |
//! | `error.rs` | why a snapshot cannot be reported on |
//! | `value.rs` | values of keys |
//! | `scope.rs` | the rows of a report: everything, or a subtree |
//! | `directories.rs` | the directories directly below the base, for the key `dir` |
//! | `rows.rs` | reading rows into a table |
//! | `table.rs` | sums by group |
//! | `links.rs` | files with several hard links in a subtree |
//! | `parallel.rs` | several threads, with results in the order of the rows |
//! | `ranking.rs` | the order of groups, and the largest of them |
//! | `output/` | JSON, CSV and Parquet |
//! | `page/` | a page of HTML with the largest files and directories |

mod classes;
mod directories;
mod error;
mod key;
mod links;
pub mod output;
pub mod page;
mod parallel;
mod ranking;
mod rows;
mod scope;
mod table;
mod value;

pub use classes::{AgeClass, SizeClass};
pub use error::ReportError;
pub use key::{Key, KeyError};
pub use ranking::{Others, Ranking};
pub use table::Sums;
pub use value::Value;

use directories::Directories;
use links::Links;
use ringwalk_snapshot::{Column, Contents, Moment, ReadError, RowCounter, Snapshot};
use rows::Plan;
use scope::Scope;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Table;

/// The number of groups with sums of their own. Users choose the names of directories and
/// extensions, and could fill the memory with them. The first 100 000 groups, in the order of the
/// rows, have sums of their own. The rows of all further groups are added up together.
pub const MOST_GROUPS: usize = 100_000;

/// What a report shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReportOptions {
    /// The keys of the groups, at least one, each of them once.
    pub by: Vec<Key>,
    /// The subtree to report on: an absolute path in the snapshot, without symbolic links. `None`
    /// for everything. A file with several hard links then counts once within the subtree.
    pub under: Option<Vec<u8>>,
    /// The number of threads. `None` for one on each CPU that the process may use.
    pub threads: Option<NonZeroUsize>,
    /// The largest number of groups: [`MOST_GROUPS`] by default.
    pub most_groups: usize,
    /// Counts the rows that were added up, for a display of progress.
    pub progress: RowCounter,
    /// A flag that another thread may set to end the work early, with [`ReportError::Stopped`].
    pub stop: Arc<AtomicBool>,
}

impl ReportOptions {
    /// Creates the options of a report on the whole snapshot.
    pub fn by(keys: impl Into<Vec<Key>>) -> Self {
        Self {
            by: keys.into(),
            under: None,
            threads: None,
            most_groups: MOST_GROUPS,
            progress: RowCounter::default(),
            stop: Arc::default(),
        }
    }
}

/// The groups of a snapshot, and their sums.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The keys.
    pub by: Vec<Key>,
    /// The groups. [`Report::ranking`] has an order for the eye; here, only a single key with
    /// classes has a meaningful one.
    pub groups: Vec<Group>,
    /// The sums of the rows whose groups were beyond the limit; `None` if there were none.
    pub overflow: Option<Sums>,
    /// The sums of all rows.
    pub total: Sums,
    /// The number of failures within the report. Files are missing from the sums if it is not 0.
    pub errors: u64,
    /// When the snapshot began. Ages count from here.
    pub start: Moment,
}

/// A group and its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// One value for each key.
    pub values: Vec<Value>,
    /// The sums.
    pub sums: Sums,
}

/// Returns what a snapshot of a live tree must have for a report by these keys.
pub fn contents_to_report(keys: &[Key]) -> Contents {
    Contents {
        projid: keys.contains(&Key::Project),
        ..Contents::default()
    }
}

/// Adds up the rows of a snapshot by groups.
///
/// # Errors
///
/// When the snapshot cannot be read or does not have the subtree, and for [`Key::Project`] when it
/// has no project ids.
pub fn report(snapshot: &Snapshot, options: &ReportOptions) -> Result<Report, ReportError> {
    if options.by.is_empty() {
        return Err(ReportError::NoKeys);
    }
    if options.by.contains(&Key::Project) && !snapshot.has(Column::Projid) {
        return Err(ReportError::NoProjects);
    }
    let threads = threads(options.threads);
    let scope = match &options.under {
        Some(path) => Scope::under(snapshot, path)?,
        None => Scope::all(snapshot)?,
    };
    let directories = if options.by.contains(&Key::Directory) {
        Directories::find(snapshot, &scope, options.most_groups)?
    } else {
        Directories::default()
    };
    let run = &snapshot.info().run;
    let plan = Plan {
        snapshot,
        keys: &options.by,
        directories: &directories,
        start: nanoseconds(run.start),
        end: nanoseconds(run.end),
        links: scope.links_from_outside,
    };
    let table = read(&plan, &scope, threads, options)?;
    if options.stop.load(Ordering::Relaxed) {
        return Err(ReportError::Stopped);
    }
    Ok(Report::of_table(&plan, &table, &scope))
}

/// Returns the number of threads: the wanted one, or one for each CPU that the process may use.
fn threads(wanted: Option<NonZeroUsize>) -> NonZeroUsize {
    wanted.unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// Adds up all rows of a scope.
fn read(
    plan: &Plan<'_>,
    scope: &Scope,
    threads: NonZeroUsize,
    options: &ReportOptions,
) -> Result<Table, ReadError> {
    let limit = options.most_groups;
    let rows = scope.ranges.iter().map(|range| range.end - range.start);
    options.progress.begin(rows.sum());
    let mut table = Table::new(plan.keys.len());
    let mut links = Links::default();
    parallel::for_each_wave(
        plan.snapshot,
        &scope.ranges,
        threads,
        |rows| {
            let is_stopped = options.stop.load(Ordering::Relaxed);
            let number = rows.end - rows.start;
            let piece = plan.read(if is_stopped {
                rows.start..rows.start
            } else {
                rows
            })?;
            options.progress.add(number);
            Ok(piece)
        },
        |piece| {
            let numbers = table.merge(&piece.table, limit);
            for candidate in &piece.candidates {
                let group = numbers.get(candidate.group as usize);
                links.add(candidate, group.copied().unwrap_or(table::OVERFLOW));
            }
        },
    )?;
    for link in links.settle(plan.snapshot, scope, threads)? {
        table.sums(link.group).add(link.sums);
    }
    Ok(table)
}

impl Report {
    fn of_table(plan: &Plan<'_>, table: &Table, scope: &Scope) -> Self {
        let info = plan.snapshot.info();
        let mut total = table.overflow;
        let mut groups = Vec::with_capacity(table.len());
        for (codes, sums) in table.groups() {
            total.add(sums);
            let values = plan.keys.iter().zip(codes);
            groups.push(Group {
                values: values
                    .map(|(key, code)| Value::of_code(*key, code, info, plan.directories))
                    .collect(),
                sums,
            });
        }
        groups.sort_unstable_by(|a, b| a.values.cmp(&b.values));
        Self {
            by: plan.keys.to_vec(),
            groups,
            overflow: (table.overflow.entries > 0).then_some(table.overflow),
            total,
            errors: scope.errors,
            start: info.run.start,
        }
    }
}

/// Returns a moment in nanoseconds since 1970, or the nearest one that fits.
fn nanoseconds(moment: Moment) -> i64 {
    let seconds = i128::from(moment.seconds) * 1_000_000_000;
    let all = seconds + i128::from(moment.nanoseconds);
    i64::try_from(all).unwrap_or(if all < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests;
