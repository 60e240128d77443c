//! `ringwalk snapshot`: saves directory trees in a Parquet file.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueHint};
use ringwalk_hash::raise_file_limit;
use ringwalk_snapshot::{
    Capture, CaptureError, Captured, Contents, FailedOperation, Failure, OlderSnapshot, Snapshot,
    WriteOptions,
};

use crate::common_args::parse_memory;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::explain::explain;
use crate::hash::saved;
use crate::output::{refuse_inputs, say_not_kept, snapshot_name};
use crate::progress::Progress;
use crate::quote::quoted_bytes;
use crate::status::{Ended, answered, failed};

/// Arguments of `ringwalk snapshot`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct SnapshotArgs {
    /// Directories to save; symbolic links given here are followed
    #[arg(value_name = "ROOT", required = true, value_hint = ValueHint::DirPath)]
    pub roots: Vec<OsString>,

    /// Write the snapshot to FILE. A crash at any moment leaves the old file or the new one
    #[arg(
        short,
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        value_parser = snapshot_name()
    )]
    pub output: OsString,

    /// Take from the snapshot OLD what has certainly not changed since, instead of reading it. The
    /// result is the same. --explain shows how much was taken
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub since: Option<OsString>,

    /// Leave out other file systems below the roots
    #[arg(short = 'x', long)]
    pub one_file_system: bool,

    /// Save hashes of contents too, for dupes and diff: of the files with the size of another file.
    /// This is what hash --save does, which with --all hashes the others too
    #[arg(long, conflicts_with = "since")]
    pub hash: bool,

    /// Save extended attributes too, with further system calls for each file
    #[arg(long)]
    pub xattrs: bool,

    /// Save times of the last access too
    #[arg(long)]
    pub atime: bool,

    /// Save the ids of projects of quotas too, with a further system call for each file unless the
    /// source has them
    #[arg(long)]
    pub projid: bool,

    /// Keep at most SIZE bytes of listings in memory, the rest in an unnamed file in TMPDIR or
    /// /tmp. SIZE may end in K, M or G
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "24M")]
    pub memory: usize,
}

/// Returns the optional parts of a snapshot that the options name, without hashes.
fn contents(args: &SnapshotArgs) -> Contents {
    Contents {
        atime: args.atime,
        xattrs: args.xattrs,
        projid: args.projid,
        ..Contents::default()
    }
}

/// Saves `args.roots` and writes the snapshot.
///
/// # Errors
///
/// If there is no snapshot.
pub fn run(args: &SnapshotArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    refuse_inputs("--output", &args.output, &args.roots)?;
    let capture = Capture::new(args.roots.iter().cloned());
    let capture = capture.map_err(|error| not_captured(&error))?;
    let mut write = WriteOptions::default();
    write.not_kept = say_not_kept;
    write.memory = args.memory;
    write.contents = contents(args);
    let rows = write.progress.clone();
    let mut capture = capture.options(write);
    if args.hash {
        let wanted = saved::Wanted {
            roots: &args.roots,
            one_file_system: args.one_file_system,
            all: false,
        };
        raise_file_limit();
        return saved::save(capture, &rows, wanted, &args.output, options);
    }
    capture = capture.one_file_system(args.one_file_system).report(report);
    if let Some(name) = &args.since {
        let older = ringwalk_snapshot::open(Path::new(name)).and_then(OlderSnapshot::new);
        let older = older.map_err(|error| failed(name, error.reason()))?;
        capture = capture.since(Arc::new(older));
    }
    let output = Path::new(&args.output);
    let walk = options.ready(capture.walk())?;
    let progress = Progress::of_capture(options.progress, walk.monitor(), rows);
    let captured = capture.run(walk, output);
    drop(progress);
    let captured = captured.map_err(|error| not_captured(&error))?;
    Ok(status(&captured, options))
}

/// Captures a live tree into an unnamed temporary file, for commands that take a directory in place
/// of a snapshot.
///
/// # Errors
///
/// If there is no snapshot.
pub fn capture_unnamed(
    root: &Path,
    one_file_system: bool,
    contents: Contents,
    options: &EngineOptions,
) -> Result<(Snapshot, Captured), Ended> {
    let capture = Capture::new([root.as_os_str()]).map_err(|error| not_captured(&error))?;
    let mut write = WriteOptions::default();
    write.contents = contents;
    let rows = write.progress.clone();
    let capture = capture
        .one_file_system(one_file_system)
        .options(write)
        .report(report);
    let walk = options.ready(capture.walk())?;
    let progress = Progress::of_capture(options.progress, walk.monitor(), rows);
    let captured = capture.run_unnamed(walk, root);
    drop(progress);
    let captured = captured.map_err(|error| not_captured(&error))?;
    if options.explain {
        explain(&captured.1.summary);
    }
    Ok(captured)
}

pub(crate) fn not_captured(error: &CaptureError) -> Ended {
    failed(error.path(), error.reason())
}

pub(crate) fn status(captured: &Captured, options: &EngineOptions) -> ExitCode {
    if options.explain {
        explain(&captured.summary);
    }
    answered(captured.info.verdict.complete)
}

/// Reports a file that could not be read.
pub(crate) fn report(path: &[u8], failure: Failure) {
    let operation = match failure.operation {
        FailedOperation::Open => "cannot open directory",
        FailedOperation::Read => "cannot read directory",
        FailedOperation::Readlink => "cannot read the link",
        FailedOperation::Xattr => "cannot read the extended attributes of",
        _ => "cannot access",
    };
    console::error(format_args!(
        "{operation} {}: {}",
        quoted_bytes(path),
        console::reason(&failure.errno.into())
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;
    use ringwalk_snapshot::Column;

    #[test]
    fn every_optional_column_has_an_option() {
        let command = SnapshotArgs::augment_args(clap::Command::new("snapshot"));
        for column in Column::all() {
            let Some(is_asked) = column.facts().asked else {
                continue;
            };
            let option = format!("--{}", column.name());
            let line = ["snapshot", "top", "-o", "file", &option];
            let words = command.clone().try_get_matches_from(line).unwrap();
            let args = SnapshotArgs::from_arg_matches(&words).unwrap();
            let has_it = match column {
                Column::Hash => args.hash,
                _ => is_asked(&contents(&args)),
            };
            assert!(has_it, "{option}");
        }
    }
}
