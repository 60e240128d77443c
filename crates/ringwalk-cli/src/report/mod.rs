//! `ringwalk report`: entries and sizes of a snapshot or a directory by owner, age, and other keys.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `input.rs` | the snapshot, or a new one of a directory |
//! | `under.rs` | the message about a path that the snapshot does not have |
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
mod style;
mod under;

pub use args::ReportArgs;

use crate::console;
use crate::engine_options::EngineOptions;
use crate::parquet_output::ParquetOutput;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{failed, trouble};
use ringwalk_snapshot::report::output::{csv, json, parquet};
use ringwalk_snapshot::report::{Key, Report, ReportError, ReportOptions, report};
use ringwalk_snapshot::{Snapshot, places};
use std::process::ExitCode;
use style::Style;

/// Groups on a terminal, unless `--top` gives another number.
const TOP_ON_TERMINAL: usize = 20;

/// Reports on `args.input` and prints the result.
pub fn run(args: &ReportArgs, options: &EngineOptions) -> ExitCode {
    match try_run(args, options) {
        Ok(status) | Err(status) => status,
    }
}

fn try_run(args: &ReportArgs, options: &EngineOptions) -> Result<ExitCode, ExitCode> {
    let file = args.parquet.as_deref().map(ParquetOutput::create);
    let file = file.transpose().map_err(trouble)?;
    let snapshot = input::open(&args.input, options)?;
    let report = of(&snapshot, args, options)?;
    match file {
        Some(file) => {
            let ranking = report.ranking(args.top);
            let written = file.write(|out| parquet(&report, &ranking, out));
            written.map_err(trouble)?;
        }
        None => console::print(text(&report, args).as_bytes())?,
    }
    if report.errors == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let plural = if report.errors == 1 { "" } else { "s" };
    console::error(format_args!(
        "{} is incomplete: {} error{plural}; what could not be read is missing from the sums",
        quoted(&args.input),
        report.errors
    ));
    Ok(ExitCode::FAILURE)
}

fn of(snapshot: &Snapshot, args: &ReportArgs, options: &EngineOptions) -> Result<Report, ExitCode> {
    let refused = |error| match error {
        ReportError::Read(error) => failed(error.path(), error.reason()),
        error => failed(&args.input, error),
    };
    let mut wanted = ReportOptions::by(args.by.0.clone());
    wanted.threads = options.workers;
    let _progress = Progress::of_rows(options.progress, wanted.progress.clone());
    let Some(under) = &args.under else {
        return report(snapshot, &wanted).map_err(refused);
    };
    // A path may lead through symbolic links, which a snapshot does not follow.
    for path in places(under).map_err(|failure| failed(under, failure))? {
        wanted.under = Some(path);
        match report(snapshot, &wanted) {
            Err(ReportError::NotInside(_)) => {}
            result => return result.map_err(refused),
        }
    }
    Err(trouble(under::message(under, &args.input, snapshot.info())))
}

/// Returns the report in the form that the user wants.
fn text(report: &Report, args: &ReportArgs) -> String {
    if args.json {
        return json(report, &report.ranking(args.top));
    }
    if args.csv {
        return csv(report, &report.ranking(args.top));
    }
    let style = Style::of_output();
    let top = args.top.or(style.terminal.then_some(TOP_ON_TERMINAL));
    let cross = if style.terminal {
        cross::table(report, top, &style)
    } else {
        None
    };
    cross.unwrap_or_else(|| flat::table(report, &report.ranking(top), &style))
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
