//! `ringwalk report`: entries and sizes of a snapshot or a directory by owner, age, and other keys.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `input.rs` | the snapshot, or a new one of a directory |
//! | `under.rs` | the path of `--under` in the snapshot |
//! | `page.rs` | `--format html` |
//! | `flat.rs` | a table with a line for each group, and bars |
//! | `cross.rs` | a table with the values of a second key side by side |
//! | `grid.rs` | columns of text |
//! | `style.rs` | what the terminal allows: width, bold, bars |
//!
//! The module `report` of the crate `ringwalk-snapshot` adds up the rows, and makes JSON, CSV and
//! Parquet.

mod args;
mod cross;
mod flat;
mod grid;
mod input;
mod page;
mod style;
mod under;

pub use args::{ReportArgs, ReportFormat};

use crate::console;
use crate::engine_options::EngineOptions;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{Ended, answered, failed, trouble};
use ringwalk_answers::report::output::{csv, json, parquet};
use ringwalk_answers::report::{
    Key, Report, ReportError, ReportOptions, contents_to_report, report,
};
use ringwalk_snapshot::Snapshot;
use std::process::ExitCode;
use style::Style;

/// Groups on a terminal, unless `--top` gives another number.
const TOP_ON_TERMINAL: usize = 20;

/// Reports on `args.input` and prints the result.
///
/// # Errors
///
/// If there is no report.
pub fn run(args: &ReportArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    args.refuse().map_err(trouble)?;
    let inputs = [
        args.input.as_os_str(),
        args.compare.as_deref().unwrap_or_default(),
    ];
    let output = args.output.open(&inputs)?;
    if args.output.format == ReportFormat::Html {
        return page::run(args, options, output);
    }
    let keys = args
        .by
        .as_ref()
        .map_or_else(|| vec![Key::Directory], |keys| keys.0.clone());
    let contents = contents_to_report(&keys);
    let snapshot = input::open(&args.input, false, contents, options)?;
    let report = of(&snapshot, keys, args, options)?;
    let ranking = report.ranking(args.top);
    match args.output.format {
        ReportFormat::Json => output.write_all(json(&report, &ranking).as_bytes())?,
        ReportFormat::Csv => output.write_all(&csv(&report, &ranking))?,
        ReportFormat::Parquet => output.write(|out| Ok(parquet(&report, &ranking, out)?))?,
        // The page has been written above.
        ReportFormat::Table | ReportFormat::Html => {
            let style = Style::of_output(output.is_terminal(), args.sizes.format());
            output.write_all(table(&report, args.top, &style).as_bytes())?;
        }
    }
    Ok(status(args, report.errors))
}

/// Reports the number of errors, if there are any. Returns the exit status.
fn status(args: &ReportArgs, errors: u64) -> ExitCode {
    if errors == 0 {
        return answered(true);
    }
    let plural = if errors == 1 { "" } else { "s" };
    console::error(format_args!(
        "{} is incomplete: {errors} error{plural}; what could not be read is missing from the sums",
        quoted(&args.input)
    ));
    answered(false)
}

fn of(
    snapshot: &Snapshot,
    keys: Vec<Key>,
    args: &ReportArgs,
    options: &EngineOptions,
) -> Result<Report, Ended> {
    let mut wanted = ReportOptions::by(keys);
    wanted.threads = options.workers;
    wanted.under = under::find(args, snapshot)?;
    let _progress = Progress::of_rows(options.progress, wanted.progress.clone());
    report(snapshot, &wanted).map_err(|error| refused(args, &error))
}

/// Reports why there is no report.
fn refused(args: &ReportArgs, error: &ReportError) -> Ended {
    match error {
        ReportError::Read(error) => failed(error.path(), error.reason()),
        error => failed(&args.input, error),
    }
}

/// Returns the table.
fn table(report: &Report, top: Option<usize>, style: &Style) -> String {
    let top = top.or(style.terminal.then_some(TOP_ON_TERMINAL));
    let cross = if style.terminal {
        cross::table(report, top, style)
    } else {
        None
    };
    cross.unwrap_or_else(|| flat::table(report, &report.ranking(top), style))
}

/// Returns the head of the column of a key.
fn head(key: Key) -> &'static str {
    match key {
        Key::Directory => "directory",
        Key::Extension => "extension",
        Key::Size => "file size",
        other => other.name(),
    }
}
