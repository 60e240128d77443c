//! `ringwalk export`: writes a snapshot in the format of another program.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum, ValueHint};
use ringwalk_answers::exchange::{ExportError, write_csv, write_ncdu_json, write_ndjson};
use ringwalk_output::Unpublished;
use ringwalk_snapshot::{RowCounter, Snapshot};

use crate::console;
use crate::engine_options::EngineOptions;
use crate::output_file::say_not_kept;
use crate::progress::Progress;
use crate::quote::{quoted, quoted_bytes};
use crate::status::failed;

/// Arguments of `ringwalk export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The snapshot to export
    #[arg(value_name = "SNAP", value_hint = ValueHint::FilePath)]
    pub snapshot: OsString,

    /// The format to write
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub to: ExportFormat,

    /// Write to FILE, which appears whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<OsString>,

    /// Export only the tree of this root of the snapshot
    #[arg(long, value_name = "ROOT")]
    pub root: Option<OsString>,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON for ncdu -f
    Ncdu,
    /// One object of JSON for each file, on a line of its own
    Ndjson,
    /// Comma-separated values (RFC 4180) with a line of names
    Csv,
}

/// Exports `args.snapshot`.
pub fn run(args: &ExportArgs, options: &EngineOptions) -> ExitCode {
    export(args, options).err().unwrap_or(ExitCode::SUCCESS)
}

/// Exports a snapshot. The error is the exit status, after a report.
fn export(args: &ExportArgs, options: &EngineOptions) -> Result<(), ExitCode> {
    let path = Path::new(&args.snapshot);
    let snapshot = ringwalk_snapshot::open(path);
    let snapshot = snapshot.map_err(|error| failed(error.path(), error.reason()))?;
    if let Some(output) = &args.output {
        refuse_same(snapshot.file(), Path::new(output))?;
    }
    let root = root(args, &snapshot)?;
    let Some(output) = &args.output else {
        let written = write(
            &snapshot,
            root,
            args.to,
            options,
            console::Results::of_stdout(),
        );
        return written.map_err(|error| match error {
            ExportError::Write(error) => console::write_failed(&error),
            other => export_failed(path, path, &other),
        });
    };
    let output = Path::new(output);
    let unwritable = |error| failed(output, console::reason(&error));
    let file = Unpublished::new(output).map_err(unwritable)?;
    write(&snapshot, root, args.to, options, file.file())
        .map_err(|error| export_failed(path, output, &error))?;
    let not_kept = file.publish().map_err(unwritable)?;
    not_kept.inspect(|rights| say_not_kept(output, *rights));
    Ok(())
}

fn write(
    snapshot: &Snapshot,
    root: Option<usize>,
    to: ExportFormat,
    options: &EngineOptions,
    output: impl Write,
) -> Result<(), ExportError> {
    let rows = RowCounter::default();
    let _progress = Progress::of_rows(options.progress, rows.clone());
    match to {
        ExportFormat::Ncdu => write_ncdu_json(snapshot, root.unwrap_or(0), &rows, output),
        ExportFormat::Ndjson => write_ndjson(snapshot, root, &rows, output),
        ExportFormat::Csv => write_csv(snapshot, root, &rows, output),
    }
}

/// Succeeds unless the output is the snapshot itself, which it would replace.
fn refuse_same(snapshot: &File, output: &Path) -> Result<(), ExitCode> {
    if is_same(snapshot, output) {
        return Err(failed(
            output,
            "this is the snapshot: expected another file",
        ));
    }
    Ok(())
}

/// Returns true if an open file is the one at `path`.
pub(crate) fn is_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Returns the index of the root that `--root` names.
fn root(args: &ExportArgs, snapshot: &Snapshot) -> Result<Option<usize>, ExitCode> {
    let roots = &snapshot.info().roots;
    let names = || {
        let names = roots
            .iter()
            .map(|root| quoted_bytes(&root.path.0).to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let path = Path::new(&args.snapshot);
    let Some(wanted) = &args.root else {
        if args.to == ExportFormat::Ncdu && roots.len() != 1 {
            let count = roots.len();
            let message = format!("ncdu's format has one root, and the snapshot has {count}");
            let message = format!("{message}: choose one with --root: {}", names());
            return Err(failed(path, message));
        }
        return Ok(None);
    };
    let found = roots.iter().position(|root| is_path(&root.path.0, wanted));
    let message = || format!("no root {}: expected one of {}", quoted(wanted), names());
    found.map(Some).ok_or_else(|| failed(path, message()))
}

/// Returns true if two paths are the same except for slashes at their ends.
fn is_path(root: &[u8], wanted: &OsStr) -> bool {
    let trimmed = |path: &[u8]| {
        let slashes = path.iter().rev().take_while(|byte| **byte == b'/').count();
        path[..path.len() - slashes].to_vec()
    };
    trimmed(root) == trimmed(wanted.as_bytes())
}

fn export_failed(snapshot: &Path, output: &Path, error: &ExportError) -> ExitCode {
    match error {
        ExportError::Read(error) => failed(snapshot, error.reason()),
        ExportError::Write(error) => failed(output, console::reason(error)),
        ExportError::Format(message) => failed(snapshot, message),
    }
}
