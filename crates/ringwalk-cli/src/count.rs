//! `ringwalk count`: how many files there are below directories, and how large they are together.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

use ringwalk::{Fields, FileType, Follow, Outcome, Scan, Summary, Walk};
use ringwalk_sums::{Scanned, Tally, Trouble};
use serde::Serialize;

use crate::cli::CountArgs;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::explain::explain;
use crate::progress::Progress;
use crate::quote::quoted;

/// Counts below `args.directories` and prints the sums.
pub fn run(args: &CountArgs, options: &EngineOptions) -> ExitCode {
    let fields = if args.no_stat {
        Fields::empty()
    } else {
        Fields::SIZE
    };
    if let Some(outcome) = scan(args, options, fields) {
        return finish(&outcome, args, options);
    }
    let roots = args.directories.iter().map(OsString::as_os_str);
    let walk = Walk::from_roots(roots)
        .fields(fields)
        .follow(Follow::CommandLine);
    let Some(walk) = options.ready(walk) else {
        return ExitCode::FAILURE;
    };
    let progress = Progress::of_walk(options.progress, walk.monitor());
    let outcome = walk.run(|_worker| Tally::new(&tell));
    drop(progress);
    finish(&outcome, args, options)
}

/// Counts the whole file system that is mounted at the only directory. `None` if it has to be walked.
fn scan(
    args: &CountArgs,
    options: &EngineOptions,
    fields: Fields,
) -> Option<Outcome<Tally<'static>>> {
    let [directory] = &args.directories[..] else {
        return None;
    };
    let scan = Scan::new(directory.as_os_str()).fields(fields).follow(true);
    let scan = options.apply_to_scan(scan);
    let progress = Progress::of_walk(options.progress, scan.monitor());
    let scanned = scan.run(|_| Scanned::new(Tally::new(&tell)));
    drop(progress);
    let Outcome { visitors, summary } = scanned.ok()?;
    let visitors = visitors.into_iter().map(Scanned::into_tally).collect();
    Some(Outcome { visitors, summary })
}

/// Tells the user of what could not be read.
fn tell(trouble: Trouble<'_>) {
    let (operation, path) = (trouble.operation.describe(), quoted(trouble.path));
    console::error(format_args!(
        "{operation} {path}: {}",
        console::reason(&trouble.errno.into())
    ));
}

/// Prints the sums.
fn finish(outcome: &Outcome<Tally<'_>>, args: &CountArgs, options: &EngineOptions) -> ExitCode {
    let tally = outcome.visitors.iter().fold(Tally::new(&tell), Tally::plus);
    let summary = &outcome.summary;
    let output = if args.json {
        json(&tally, summary, args.no_stat)
    } else {
        line(&tally, args.no_stat)
    };
    let printed = console::print(output.as_bytes());
    if options.explain {
        explain(summary);
    }
    match printed {
        Ok(()) if summary.is_complete() && tally.no_directories == 0 => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(status) => status,
    }
}

fn line(tally: &Tally<'_>, names_only: bool) -> String {
    let mut line = format!("{} files", tally.files());
    if !names_only {
        let _ = write!(line, ", {} bytes", tally.bytes);
    }
    line.push('\n');
    line
}

/// The JSON object; its members are described in the man page.
#[derive(Debug, Serialize)]
struct Object {
    files: u64,
    bytes: Option<u128>,
    types: Types,
    directories: u64,
    errors: u64,
    vanished: u64,
    elapsed_seconds: f64,
    source: &'static str,
    workers: usize,
    stopped: bool,
}

#[derive(Debug, Serialize)]
struct Types {
    block_device: u64,
    character_device: u64,
    directory: u64,
    fifo: u64,
    file: u64,
    socket: u64,
    symlink: u64,
    unknown: u64,
}

fn json(tally: &Tally<'_>, summary: &Summary, names_only: bool) -> String {
    let object = Object {
        files: tally.files(),
        bytes: (!names_only).then_some(tally.bytes),
        types: Types {
            block_device: tally.of(FileType::BlockDevice),
            character_device: tally.of(FileType::CharacterDevice),
            directory: tally.of(FileType::Directory),
            fifo: tally.of(FileType::Fifo),
            file: tally.of(FileType::Regular),
            socket: tally.of(FileType::Socket),
            symlink: tally.of(FileType::Symlink),
            unknown: tally.of(FileType::Unknown),
        },
        directories: summary.directories,
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
mod tests {
    use super::*;

    #[test]
    fn sums_are_shown_with_the_bytes_only_if_they_are_known() {
        let outcome = Walk::new("src")
            .fields(Fields::SIZE)
            .run(|_| Tally::new(&tell));
        let tally = outcome.visitors.iter().fold(Tally::new(&tell), Tally::plus);
        let files = tally.files();
        assert_eq!(
            line(&tally, false),
            format!("{files} files, {} bytes\n", tally.bytes)
        );
        assert_eq!(line(&tally, true), format!("{files} files\n"));
        let value = |names_only| -> serde_json::Value {
            serde_json::from_str(&json(&tally, &outcome.summary, names_only)).unwrap()
        };
        assert!(value(true)["bytes"].is_null());
        let value = value(false);
        assert_eq!(value["files"], files);
        assert_eq!(value["bytes"], u64::try_from(tally.bytes).unwrap());
        assert_eq!(
            value["types"]["directory"].as_u64().map(|below| below + 1),
            value["directories"].as_u64()
        );
    }
}
