//! `--format html`: a page for a browser.

use super::{ReportArgs, input, refused, status, under};
use crate::console;
use crate::diff;
use crate::engine_options::EngineOptions;
use crate::output::Output;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{Ended, answered, failed, trouble};
use ringwalk_answers::diff::DiffOptions;
use ringwalk_answers::report::page::{PageOptions, page};
use ringwalk_snapshot::{Contents, Skipped, Snapshot};
use std::process::ExitCode;

/// Writes the page of `args.input`.
pub(super) fn run(
    args: &ReportArgs,
    options: &EngineOptions,
    output: Output<'_>,
) -> Result<ExitCode, Ended> {
    let old = args.compare.as_deref().map(diff::input::open);
    let old = old.transpose()?;
    // A directory is compared with a snapshot that was taken the same way.
    let stays = old.as_ref().map(|old| old.has_skipped(Skipped::OtherFs));
    let stays = stays.transpose();
    let stays = stays.map_err(|error| failed(error.path(), error.reason()))?;
    let snapshot = input::open(
        &args.input,
        stays.unwrap_or(false),
        Contents::default(),
        options,
    )?;
    let mut wanted = PageOptions::default();
    if let Some(nodes) = args.nodes {
        wanted.nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
    }
    wanted.under = under::find(args, &snapshot)?;
    wanted.sizes = args.sizes.format();
    wanted.threads = options.workers;
    let progress = Progress::of_rows(options.progress, wanted.progress.clone());
    let page = page(&snapshot, &wanted);
    drop(progress);
    let mut page = page.map_err(|error| refused(args, &error))?;
    if let Some(old) = &old {
        page.compare(&compare(old, &snapshot, args, options)?);
    }
    output.write(|out| Ok(page.write(out)?))?;
    let status = status(args, page.errors());
    if page.errors() == 0 && page.has_uncertain_growth() {
        let old = args.compare.as_deref().unwrap_or_default();
        console::error(format_args!(
            "{} is incomplete; the growth is not certain",
            quoted(old)
        ));
        return Ok(answered(false));
    }
    Ok(status)
}

fn compare(
    old: &Snapshot,
    new: &Snapshot,
    args: &ReportArgs,
    options: &EngineOptions,
) -> Result<ringwalk_answers::diff::Diff, Ended> {
    let mut wanted = DiffOptions::default();
    if let Some(workers) = options.workers {
        wanted.threads = workers;
    }
    let _progress = Progress::of_rows(options.progress, wanted.progress.clone());
    ringwalk_answers::diff::diff(old, new, &wanted).map_err(|error| {
        let names = [args.compare.as_deref().unwrap_or_default(), &args.input];
        trouble(diff::message(&error, names))
    })
}
