//! `ringwalk snapshot`: saves directory trees in a Parquet file.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ringwalk_hash::raise_file_limit;
use ringwalk_snapshot::{Capture, CaptureError, Captured, Contents, FailedOperation, Failure};
use ringwalk_snapshot::{OlderSnapshot, Snapshot, WriteOptions};

use crate::cli::SnapshotArgs;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::explain::explain;
use crate::hash::saved;
use crate::output::say_not_kept;
use crate::progress::Progress;
use crate::quote::quoted_bytes;
use crate::status::{TROUBLE, failed};

/// Saves `args.roots` and writes the snapshot.
pub fn run(args: &SnapshotArgs, options: &EngineOptions) -> ExitCode {
    let capture = match Capture::new(args.roots.iter().cloned()) {
        Ok(capture) => capture,
        Err(error) => return not_captured(&error),
    };
    let mut write = WriteOptions::default();
    write.not_kept = say_not_kept;
    write.memory = args.memory;
    write.contents = Contents {
        atime: args.atime,
        xattrs: args.xattrs,
        projid: args.projid,
        ..Contents::default()
    };
    let rows = write.progress.clone();
    let mut capture = capture.options(write);
    if args.hash {
        let wanted = saved::Wanted {
            roots: &args.roots,
            one_file_system: args.one_file_system,
            all: false,
        };
        raise_file_limit();
        return saved::save(capture, &rows, wanted, &args.output, options)
            .unwrap_or_else(|status| status);
    }
    capture = capture.one_file_system(args.one_file_system).report(report);
    if let Some(name) = &args.since {
        match ringwalk_snapshot::open(Path::new(name)).and_then(OlderSnapshot::new) {
            Ok(older) => capture = capture.since(Arc::new(older)),
            Err(error) => {
                return failed(name, error.reason());
            }
        }
    }
    let output = Path::new(&args.output);
    let Some(walk) = options.ready(capture.walk()) else {
        return ExitCode::from(TROUBLE);
    };
    let progress = Progress::of_capture(options.progress, walk.monitor(), rows);
    let captured = capture.run(walk, output);
    drop(progress);
    match captured {
        Ok(captured) => status(&captured, options),
        Err(error) => not_captured(&error),
    }
}

/// Captures a live tree into an unnamed temporary file, for commands that take a directory in place
/// of a snapshot.
///
/// # Errors
///
/// The exit status, after a report.
pub fn capture_unnamed(
    root: &Path,
    one_file_system: bool,
    contents: Contents,
    options: &EngineOptions,
) -> Result<(Snapshot, Captured), ExitCode> {
    let capture = Capture::new([root.as_os_str()]).map_err(|error| not_captured(&error))?;
    let mut write = WriteOptions::default();
    write.contents = contents;
    let rows = write.progress.clone();
    let capture = capture
        .one_file_system(one_file_system)
        .options(write)
        .report(report);
    let walk = options.ready(capture.walk());
    let walk = walk.ok_or_else(|| ExitCode::from(TROUBLE))?;
    let progress = Progress::of_capture(options.progress, walk.monitor(), rows);
    let captured = capture.run_unnamed(walk, root);
    drop(progress);
    let captured = captured.map_err(|error| not_captured(&error))?;
    if options.explain {
        explain(&captured.1.summary);
    }
    Ok(captured)
}

pub(crate) fn not_captured(error: &CaptureError) -> ExitCode {
    failed(error.path(), error.reason())
}

pub(crate) fn status(captured: &Captured, options: &EngineOptions) -> ExitCode {
    if options.explain {
        explain(&captured.summary);
    }
    if captured.info.verdict.complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
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
