//! `ringwalk doctor`: the sources that this kernel, user and file system allow, the obstacles to
//! the others, and their remedies.
//!
//! The crate `ringwalk-doctor` finds these out. `report.rs` writes the report as text.

mod report;

use std::process::ExitCode;

use ringwalk::SourceChoice;
use ringwalk::shown::lines;
use ringwalk_doctor::Report;

use crate::cli::{DoctorArgs, TextFormat};
use crate::console;
use crate::engine_options::EngineOptions;
use crate::quote::quoted;

/// Examines `args.directory` and prints the report.
pub fn run(args: &DoctorArgs, options: &EngineOptions) -> ExitCode {
    let output = match args.output.open(&[]) {
        Ok(output) => output,
        Err(status) => return status,
    };
    let mut report = match Report::of(args.directory.as_ref(), options.workers) {
        Ok(report) => report,
        Err(errno) => {
            let reason = console::reason(&errno.into());
            console::error(format_args!(
                "cannot access {}: {reason}",
                quoted(&args.directory)
            ));
            return ExitCode::FAILURE;
        }
    };
    if options.source != SourceChoice::Auto {
        let asked = options.source.as_str();
        report.sources.retain(|source| source.name == asked);
    }
    let answer = match args.output.format {
        TextFormat::Json => report.json() + "\n",
        TextFormat::Table => report::text(&report),
    };
    if let Err(status) = output.write_all(lines(&answer).as_bytes()) {
        return status;
    }
    if options.explain {
        console::note(report::evidence(&report));
    }
    ExitCode::SUCCESS
}
