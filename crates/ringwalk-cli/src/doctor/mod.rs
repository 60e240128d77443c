//! `ringwalk doctor`: what this kernel, user and file system allow, why not more, and what would help.
//!
//! It is found out by the crate `ringwalk-doctor`; `report.rs` is the report as text.

mod report;

use std::process::ExitCode;

use ringwalk_doctor::Report;

use crate::cli::DoctorArgs;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::quote::quoted;
use crate::source_name::SourceName;

/// Looks at `args.directory` and prints the report.
pub fn run(args: &DoctorArgs, options: &EngineOptions) -> ExitCode {
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
    if options.source != SourceName::Auto {
        let asked = options.source.as_str();
        report.sources.retain(|source| source.name == asked);
    }
    let output = if args.json {
        report.json() + "\n"
    } else {
        report::text(&report)
    };
    if let Err(status) = console::report(&output) {
        return status;
    }
    if options.explain {
        console::note(report::evidence(&report));
    }
    ExitCode::SUCCESS
}
