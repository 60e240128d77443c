//! `ringwalk export`: writes a snapshot in the format of another program.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use ringwalk_answers::exchange::{ExportError, write_csv, write_ncdu_json, write_ndjson};
use ringwalk_snapshot::{RowCounter, Snapshot};

use crate::engine_options::EngineOptions;
use crate::output::{OneOf, PlaceArgs, Unwritten, formats};
use crate::progress::Progress;
use crate::quote::{quoted, quoted_bytes};
use crate::status::{Ended, answered, failed};

formats! {
    /// The formats of `export`.
    pub ExportFormat: Ncdu, Ndjson, Csv
}

/// Arguments of `ringwalk export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The snapshot to export
    #[arg(value_name = "SNAP", value_hint = ValueHint::FilePath)]
    pub snapshot: OsString,

    /// The format to write
    // Unlike other commands, this one has no format for people that could be the default.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: ExportFormat,

    /// Where the answer goes.
    #[command(flatten)]
    pub place: PlaceArgs,

    /// Export only the tree of this root of the snapshot
    #[arg(long, value_name = "ROOT")]
    pub root: Option<OsString>,
}

/// Exports `args.snapshot`.
///
/// # Errors
///
/// If the snapshot cannot be exported.
pub fn run(args: &ExportArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    let path = Path::new(&args.snapshot);
    let snapshot = ringwalk_snapshot::open(path);
    let snapshot = snapshot.map_err(|error| failed(error.path(), error.reason()))?;
    let root = root(args, &snapshot)?;
    let output = args.place.open(args.format.format(), &[&args.snapshot])?;
    output.write(|out| {
        write(&snapshot, root, args.format, options, out).map_err(|error| match error {
            ExportError::Write(error) => Unwritten::Output(error),
            ExportError::Read(error) => Unwritten::Ended(failed(path, error.reason())),
            ExportError::Format(message) => Unwritten::Ended(failed(path, message)),
        })
    })?;
    Ok(answered(true))
}

fn write(
    snapshot: &Snapshot,
    root: Option<usize>,
    format: ExportFormat,
    options: &EngineOptions,
    output: impl Write,
) -> Result<(), ExportError> {
    let rows = RowCounter::default();
    let _progress = Progress::of_rows(options.progress, rows.clone());
    match format {
        ExportFormat::Ncdu => write_ncdu_json(snapshot, root.unwrap_or(0), &rows, output),
        ExportFormat::Ndjson => write_ndjson(snapshot, root, &rows, output),
        ExportFormat::Csv => write_csv(snapshot, root, &rows, output),
    }
}

/// Returns the index of the root that `--root` names.
fn root(args: &ExportArgs, snapshot: &Snapshot) -> Result<Option<usize>, Ended> {
    let roots = &snapshot.info().roots;
    let names = || {
        let names = roots
            .iter()
            .map(|root| quoted_bytes(&root.path.0).to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let path = Path::new(&args.snapshot);
    let Some(wanted) = &args.root else {
        if args.format == ExportFormat::Ncdu && roots.len() != 1 {
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
