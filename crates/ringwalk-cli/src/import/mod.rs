//! `ringwalk import`: makes a snapshot from a file of another program.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use ringwalk_answers::exchange::{ImportError, import};
use ringwalk_snapshot::WriteOptions;
use rustix::stdio::stdin;

use crate::common_args::parse_memory;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::output::{is_open_file, say_not_kept, snapshot_name};
use crate::progress::Progress;
use crate::status::{Ended, answered, failed};

/// Arguments of `ringwalk import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file to import, from ncdu -o or ncdu -O; - is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: OsString,

    /// Write the snapshot to SNAP, which appears whole or not at all
    #[arg(
        short,
        long,
        value_name = "SNAP",
        value_hint = ValueHint::FilePath,
        value_parser = snapshot_name()
    )]
    pub output: OsString,

    /// Keep at most SIZE bytes of listings in memory, the rest in an unnamed file in TMPDIR or
    /// /tmp. SIZE may end in K, M or G
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "24M")]
    pub memory: usize,
}

/// Imports `args.file`.
///
/// # Errors
///
/// If the file cannot be imported.
pub fn run(args: &ImportArgs, engine: &EngineOptions) -> Result<ExitCode, Ended> {
    let (path, output) = (Path::new(&args.file), Path::new(&args.output));
    let file = if args.file == "-" {
        stdin().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    let file = file.map_err(|error| failed(path, console::reason(&error)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed(path, "Is a directory: expected a file of ncdu"));
    }
    if is_open_file(&file, output) {
        return Err(failed(
            output,
            "it is an input, and --output would replace it",
        ));
    }
    let mut options = WriteOptions::default();
    options.not_kept = say_not_kept;
    options.memory = args.memory;
    let progress = Progress::of_rows(engine.progress, options.progress.clone());
    let imported = import(file, options, output);
    drop(progress);
    imported.map_err(|error| match error {
        ImportError::Write(error) => failed(output, console::reason(&error)),
        ImportError::Read { place, error } => {
            failed(path, format_args!("{place}: {}", console::reason(&error)))
        }
        error @ ImportError::Content { .. } => failed(path, error),
    })?;
    Ok(answered(true))
}
