//! `ringwalk hash`: hashes of the contents of files, in the formats of b3sum and sha256sum.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `check.rs` | `--check`: the files of a list |
//! | `saved.rs` | `--save`: a snapshot with hashes |
//!
//! The crate `ringwalk-hash` reads and hashes.

mod args;
mod check;
pub(crate) mod saved;

pub use args::HashArgs;

use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use ringwalk::{Error, Follow, Stay, Walk};
use ringwalk_hash::check_list::push_line;
use ringwalk_hash::{Fault, FilesBelow, HashOptions, hash_files, raise_file_limit};

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::explain::explain;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{Ended, answered, trouble};

/// Hashes the files below `args.roots`, or checks the files of a list.
///
/// # Errors
///
/// If there is no answer.
pub fn run(args: &HashArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    raise_file_limit();
    if let Some(output) = &args.save {
        return saved::run(output, args, options);
    }
    match &args.check {
        Some(list) => {
            let refused = options.refuse(Lacks::Directories, "with --check");
            refused.map_err(trouble)?;
            check::run(list, args, options)
        }
        None => hash(args, options),
    }
}

fn hash_options(args: &HashArgs, options: &EngineOptions) -> HashOptions {
    HashOptions::new(args.algo.into(), options.workers)
}

fn hash(args: &HashArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    let has_failed = AtomicBool::new(false);
    let fail = |message: &dyn std::fmt::Display| {
        console::error(message);
        has_failed.store(true, Ordering::Relaxed);
    };
    let stay = if args.one_file_system {
        Stay::Device
    } else {
        Stay::Anywhere
    };
    let walk = Walk::from_roots(args.roots.iter().cloned())
        .follow(Follow::CommandLine)
        .stay(stay);
    let walk = options.ready(walk)?;
    // The number that the user gives is for the workers that read files, not for the walk.
    let walk = walk.workers(None);
    let hashing = hash_options(args, options);
    let walk = walk.descriptor_reserve(hashing.descriptor_reserve());
    let progress = Progress::of_walk(options.progress, walk.monitor());
    let mut below = FilesBelow::new(walk, &args.roots);
    let files = std::iter::from_fn(|| {
        loop {
            match below.next()? {
                Ok(file) => return Some(file),
                Err(error) => fail(&walk_error(&error)),
            }
        }
    });
    let mut lines = Vec::new();
    let mut written = Ok(());
    let hashed = hash_files(files, &hashing, |results| {
        lines.clear();
        for (path, result) in results.drain(..) {
            match result {
                Ok(digest) => push_line(&mut lines, &digest, path.as_os_str().as_bytes()),
                Err(fault) => fail(&file_error(&path, fault)),
            }
        }
        written = console::print_lines(&lines);
        go_on(&written)
    });
    drop(progress);
    hashed.map_err(|error| no_thread(&error))?;
    if let (true, Some(summary)) = (options.explain, below.summary()) {
        explain(summary);
    }
    written?;
    Ok(answered(!has_failed.into_inner()))
}

/// Hashing goes on as long as the answer can be written.
fn go_on(written: &Result<(), Ended>) -> ControlFlow<()> {
    if written.is_ok() {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

/// Reports that no thread could be started, so that there is no answer.
fn no_thread(error: &io::Error) -> Ended {
    trouble(format_args!(
        "cannot start a thread: {}",
        console::reason(error)
    ))
}

/// Returns the message for an error of the walk.
pub(crate) fn walk_error(error: &Error) -> String {
    let path = quoted(error.path());
    let reason = console::reason(&error.errno().into());
    format!("{} {path}: {reason}", error.operation().describe())
}

/// Returns the message for a file that has no hash.
pub(crate) fn file_error(path: &Path, fault: Fault) -> String {
    let path = quoted(path.as_os_str());
    if let Some(reason) = fault.reason() {
        return format!("{path}: {reason}");
    }
    let what = if matches!(fault, Fault::Open(_)) {
        "open"
    } else {
        "read"
    };
    let reason = fault.errno().map(|errno| console::reason(&errno.into()));
    format!("cannot {what} {path}: {}", reason.unwrap_or_default())
}
