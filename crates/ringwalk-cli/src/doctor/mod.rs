//! `ringwalk doctor`: the sources that this kernel, user and file system allow, the obstacles to
//! the others, and their remedies.
//!
//! The crate `ringwalk-doctor` finds these out. `report.rs` writes the report as text.

mod report;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use ringwalk::SourceChoice;
use ringwalk::shown::lines;
use ringwalk_doctor::Report;

use crate::console;
use crate::engine_options::EngineOptions;
use crate::output::{OutputArgs, TextFormat};
use crate::quote::quoted;
use crate::status::{Ended, answered};

/// Arguments of `ringwalk doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory on the file system to examine
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directory: OsString,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<TextFormat>,
}

/// Examines `args.directory` and prints the report.
///
/// # Errors
///
/// If there is no report.
pub fn run(args: &DoctorArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    let output = args.output.open(&[])?;
    let report = Report::of(args.directory.as_ref(), options.workers);
    let mut report = report.map_err(|errno| {
        let reason = console::reason(&errno.into());
        console::error(format_args!(
            "cannot access {}: {reason}",
            quoted(&args.directory)
        ));
        Ended::with(ExitCode::FAILURE)
    })?;
    if options.source != SourceChoice::Auto {
        let asked = options.source.as_str();
        report.sources.retain(|source| source.name == asked);
    }
    let answer = match args.output.format {
        TextFormat::Json => report.json() + "\n",
        TextFormat::Table => report::text(&report),
    };
    output.write_all(lines(&answer).as_bytes())?;
    if options.explain {
        console::note(report::evidence(&report));
    }
    Ok(answered(true))
}
