//! `ringwalk count`: the number of files and directories below directories, and their sizes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgAction, Args, ValueHint};
use ringwalk::{Errno, Fields, FileType, Follow, InodeSweep, Outcome, SavedTree, Summary, Walk};
use ringwalk_du::{ReadError, SweptTally, Tally, type_name};
use ringwalk_snapshot::SnapshotTree;
use ringwalk_text::SizeFormat;
use serde::Serialize;

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::explain::explain;
use crate::from;
use crate::output::{Output, OutputArgs, TextFormat};
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{Ended, answered, trouble};

/// Arguments of `ringwalk count`.
// -h is --human-readable, as of du.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct CountArgs {
    /// Directories below which to count; symbolic links given here are followed [default: the
    /// current directory, or all of the snapshot]
    // Clap's parser of paths would refuse an empty path, and with it the whole command line.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<OsString>,

    /// Count the files of the snapshot SNAP, and read nothing else; DIR is a directory in the
    /// snapshot
    #[arg(
        long,
        value_name = "SNAP",
        value_hint = ValueHint::FilePath,
        allow_hyphen_values = true
    )]
    pub from: Option<OsString>,

    /// Count names only: no sizes, and no system call for each file
    #[arg(long)]
    pub no_stat: bool,

    /// Show sizes in powers of 1024, such as 1.3G
    #[arg(short = 'h', long, conflicts_with = "si")]
    pub human_readable: bool,

    /// Show sizes in powers of 1000
    #[arg(long)]
    pub si: bool,

    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<TextFormat>,
}

impl CountArgs {
    /// Refuses options that have no effect.
    fn refuse(&self) -> Result<(), String> {
        let option = match self {
            Self { si: true, .. } => "--si",
            Self {
                human_readable: true,
                ..
            } => "--human-readable",
            Self { .. } => return Ok(()),
        };
        match self.output.format {
            _ if self.no_stat => Err(format!("{option} has no effect with --no-stat")),
            TextFormat::Json => Err(format!("{option} has no effect with --format json")),
            TextFormat::Table => Ok(()),
        }
    }

    /// Returns how sizes are shown.
    fn sizes(&self) -> SizeFormat {
        match self {
            Self { si: true, .. } => SizeFormat::Si,
            Self {
                human_readable: true,
                ..
            } => SizeFormat::Human,
            Self { .. } => SizeFormat::Bytes,
        }
    }
}

/// The sums. The man page describes them.
#[derive(Debug)]
struct Sums {
    entries: u64,
    files: u64,
    directories: u64,
    /// Apparent and allocated size in bytes; `None` if only names were counted.
    sizes: Option<[u128; 2]>,
}

impl Sums {
    fn of(tally: &Tally<'_>, names_only: bool) -> Self {
        let (entries, directories) = (tally.files(), tally.of(FileType::Directory));
        Self {
            entries,
            files: entries - directories,
            directories,
            sizes: (!names_only).then_some([tally.bytes, tally.allocated]),
        }
    }
}

/// Counts below `args.directories` and prints the sums.
///
/// # Errors
///
/// If there is no answer.
pub fn run(args: &CountArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    args.refuse().map_err(trouble)?;
    // A snapshot can stand among the directories by mistake.
    let inputs: Vec<&OsStr> = match &args.from {
        Some(name) => vec![name],
        None => args.directories.iter().map(OsString::as_os_str).collect(),
    };
    let output = args.output.open(&inputs)?;
    let fields = if args.no_stat {
        Fields::empty()
    } else {
        Fields::SIZE | Fields::BLOCKS
    };
    if let Some(name) = &args.from {
        return run_from(name, args, options, fields, output);
    }
    let mut directories = args.directories.clone();
    if directories.is_empty() {
        directories.push(".".into());
    }
    if let Some(outcome) = sweep(&directories, options, fields) {
        return finish(&outcome, 0, args, options, output);
    }
    let walk = Walk::from_roots(directories)
        .fields(fields)
        .follow(Follow::CommandLine)
        .descends_everywhere(true);
    let outcome = count(walk, options)?;
    finish(&outcome, 0, args, options, output)
}

/// Counts the files of a snapshot.
fn run_from(
    name: &OsStr,
    args: &CountArgs,
    options: &EngineOptions,
    fields: Fields,
    output: Output<'_>,
) -> Result<ExitCode, Ended> {
    let refused = options.refuse(Lacks::Directories, "with --from");
    refused.map_err(trouble)?;
    let tree = from::open(name).map_err(trouble)?;
    let (directories, _) = from::operands(&tree, args.directories.clone(), true);
    let missing = args.directories.len().saturating_sub(directories.len());
    let saved: Arc<dyn SavedTree> = Arc::<SnapshotTree>::clone(&tree);
    let walk = Walk::from_roots(directories)
        .fields(fields)
        .follow(Follow::CommandLine)
        .saved_tree(saved);
    let outcome = count(walk, options)?;
    let status = finish(&outcome, missing as u64, args, options, output)?;
    let failed = from::report_failure(&*tree);
    Ok(if failed { answered(false) } else { status })
}

fn count(walk: Walk, options: &EngineOptions) -> Result<Outcome<Tally<'static>>, Ended> {
    // As for directories that cannot be read: there is an answer for the others.
    let unreadable = |_| Ended::with(ExitCode::FAILURE);
    let walk = options.ready(walk).map_err(unreadable)?;
    let progress = Progress::of_walk(options.progress, walk.monitor());
    let outcome = walk.run(|_worker| Tally::new(&report));
    drop(progress);
    Ok(outcome)
}

/// Counts the whole file system that is mounted at the only directory. Returns `None` if the
/// directory must be walked.
fn sweep(
    directories: &[OsString],
    options: &EngineOptions,
    fields: Fields,
) -> Option<Outcome<Tally<'static>>> {
    let [directory] = directories else {
        return None;
    };
    let sweep = InodeSweep::new(directory.as_os_str())
        .fields(fields)
        .follow(true);
    let sweep = options.apply_to_sweep(sweep);
    let progress = Progress::of_walk(options.progress, sweep.monitor());
    let swept = sweep.run(|_| SweptTally::new(Tally::new(&report)));
    drop(progress);
    let Outcome {
        visitors, summary, ..
    } = swept.ok()?;
    let visitors = visitors.into_iter().map(SweptTally::into_tally).collect();
    Some(Outcome {
        visitors,
        leftovers: Vec::new(),
        summary,
    })
}

/// Reports a read error to the user.
fn report(error: ReadError<'_>) {
    let (operation, path) = (error.operation.describe(), quoted(error.path));
    let reason = console::reason(&error.errno.into());
    if error.errno == Errno::NOTDIR && from::is_snapshot(error.path) {
        return console::error(format_args!(
            "{operation} {path}: it is a snapshot; --from {path} counts the files in it"
        ));
    }
    console::error(format_args!("{operation} {path}: {reason}"));
}

/// Prints the sums. `missing` operands are not in the snapshot.
fn finish(
    outcome: &Outcome<Tally<'_>>,
    missing: u64,
    args: &CountArgs,
    options: &EngineOptions,
    output: Output<'_>,
) -> Result<ExitCode, Ended> {
    let mut tally = outcome
        .visitors
        .iter()
        .fold(Tally::new(&report), Tally::plus);
    tally.no_directories += missing;
    let summary = &outcome.summary;
    let sums = Sums::of(&tally, args.no_stat);
    let answer = match args.output.format {
        TextFormat::Json => json(&sums, &tally, summary),
        TextFormat::Table => table(&sums, args.sizes()),
    };
    let printed = output.write_all(answer.as_bytes());
    if options.explain {
        explain(summary);
    }
    printed?;
    let is_complete = summary.is_complete() && tally.no_directories == 0;
    Ok(answered(is_complete))
}

fn table(sums: &Sums, format: SizeFormat) -> String {
    let mut lines = vec![
        ("entries", sums.entries.to_string()),
        ("files", sums.files.to_string()),
        ("directories", sums.directories.to_string()),
    ];
    if let Some([apparent, allocated]) = sums.sizes {
        lines.push(("apparent size", size(apparent, format)));
        lines.push(("allocated size", size(allocated, format)));
    }
    let width = |word: fn(&(&str, String)) -> usize| lines.iter().map(word).max().unwrap_or(0);
    let (words, numbers) = (width(|line| line.0.len()), width(|line| line.1.len()));
    let mut text = String::new();
    for (word, number) in &lines {
        let _ = writeln!(text, "{word:<words$}  {number:>numbers$}");
    }
    text
}

/// Returns a size as text. Sparse files together can exceed 64 bits, which only bytes show exactly.
fn size(bytes: u128, format: SizeFormat) -> String {
    match u64::try_from(bytes) {
        Ok(bytes) => format.size(bytes),
        Err(_) => bytes.to_string(),
    }
}

/// The JSON object. The man page describes its members.
#[derive(Debug, Serialize)]
struct Object {
    entries: u64,
    files: u64,
    directories: u64,
    apparent_size: Option<u128>,
    allocated_size: Option<u128>,
    /// In the order of their names.
    types: BTreeMap<&'static str, u64>,
    directories_read: u64,
    errors: u64,
    vanished: u64,
    elapsed_seconds: f64,
    source: &'static str,
    workers: usize,
    stopped: bool,
}

fn json(sums: &Sums, tally: &Tally<'_>, summary: &Summary) -> String {
    let object = Object {
        entries: sums.entries,
        files: sums.files,
        directories: sums.directories,
        apparent_size: sums.sizes.map(|[apparent, _]| apparent),
        allocated_size: sums.sizes.map(|[_, allocated]| allocated),
        types: tally
            .by_type()
            .map(|(file_type, files)| (type_name(file_type), files))
            .collect(),
        directories_read: summary.directories,
        errors: summary.errors + tally.no_directories,
        vanished: summary.vanished,
        elapsed_seconds: summary.elapsed.as_secs_f64(),
        source: summary.source,
        workers: summary.workers,
        stopped: summary.stopped,
    };
    // Numbers and fixed text always serialize.
    let mut text = serde_json::to_string(&object).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
