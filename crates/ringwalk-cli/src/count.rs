//! `ringwalk count`: how many files there are below directories, and how large they are together.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use ringwalk::{
    Batch, Errno, Error, Fields, FileType, Flow, Follow, Identity, Metadata, Outcome, Scan,
    ScanVisitor, Summary, Visitor, Walk,
};
use serde::Serialize;

use crate::cli::CountArgs;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::explain::explain;
use crate::progress::Progress;
use crate::quote::quoted;

/// `d_type` values, which index the counts by type, stop below this.
const TYPES: usize = 16;

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
    let outcome = walk.run(|_worker| Tally::default());
    drop(progress);
    finish(&outcome, args, options)
}

/// Counts the whole file system that is mounted at the only directory. `None` if it has to be walked.
fn scan(args: &CountArgs, options: &EngineOptions, fields: Fields) -> Option<Outcome<Tally>> {
    let [directory] = &args.directories[..] else {
        return None;
    };
    let scan = Scan::new(directory.as_os_str()).fields(fields).follow(true);
    let scan = options.apply_to_scan(scan);
    let progress = Progress::of_walk(options.progress, scan.monitor());
    let scanned = scan.run(|_| Scanned {
        root: None,
        tally: Tally::default(),
    });
    drop(progress);
    let Outcome { visitors, summary } = scanned.ok()?;
    let visitors = visitors.into_iter().map(|scanned| scanned.tally).collect();
    Some(Outcome { visitors, summary })
}

/// What one thread of a scan has seen.
struct Scanned {
    /// The directory itself, which does not count.
    root: Option<Identity>,
    tally: Tally,
}

impl ScanVisitor for Scanned {
    fn root(&mut self, root: &Metadata) {
        self.root = Some(root.identity());
    }

    fn files(&mut self, files: &[Metadata]) {
        for file in files {
            if Some(file.identity()) == self.root {
                continue;
            }
            // Every name counts, and a directory has one.
            let names = match file.file_type() {
                FileType::Directory => 1,
                _ => u64::from(file.nlink),
            };
            self.tally.types[file.file_type() as usize % TYPES] += names;
            self.tally.bytes += u128::from(file.size) * u128::from(names);
        }
    }
}

/// Prints the sums.
fn finish(outcome: &Outcome<Tally>, args: &CountArgs, options: &EngineOptions) -> ExitCode {
    let tally = outcome.visitors.iter().fold(Tally::default(), Tally::plus);
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

/// What one worker has seen.
#[derive(Debug, Default)]
struct Tally {
    types: [u64; TYPES],
    /// Wide, because three sparse files can already be larger together than 64 bits tell.
    bytes: u128,
    /// Roots that are no directories.
    no_directories: u64,
}

impl Tally {
    fn plus(mut self, other: &Self) -> Self {
        for (sum, part) in self.types.iter_mut().zip(other.types) {
            *sum += part;
        }
        self.bytes += other.bytes;
        self.no_directories += other.no_directories;
        self
    }

    fn files(&self) -> u64 {
        self.types.iter().sum()
    }

    fn of(&self, file_type: FileType) -> u64 {
        self.types[file_type as usize % TYPES]
    }

    fn check_roots(&mut self, batch: &Batch<'_, ()>) {
        // What could not be looked at has been told already.
        for root in batch.entries().filter(|root| root.stat_error().is_none()) {
            if root.file_type() != FileType::Directory {
                let path = Path::new(OsStr::from_bytes(root.name()));
                let reason = no_directory(path);
                console::error(format_args!(
                    "cannot open directory {}: {reason}",
                    quoted(path)
                ));
                self.no_directories += 1;
            }
        }
    }
}

/// Why a root that is no directory cannot be counted; for a link, what keeps us from its target.
fn no_directory(path: &Path) -> String {
    let target = std::fs::metadata(path).err();
    target.map_or_else(
        || "Not a directory".to_owned(),
        |failure| console::reason(&failure),
    )
}

impl Visitor for Tally {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        if batch.dir().is_none() {
            self.check_roots(batch);
            return Flow::Continue;
        }
        for entry in batch.entries() {
            // Listed, then gone: not below DIR any more.
            if entry.stat_error() == Some(Errno::NOENT) {
                continue;
            }
            self.types[entry.file_type() as usize % TYPES] += 1;
            if let Some(metadata) = entry.metadata() {
                self.bytes += u128::from(metadata.size);
            }
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        if error.is_vanished() {
            return;
        }
        let (operation, path) = (error.operation().describe(), quoted(error.path()));
        console::error(format_args!(
            "{operation} {path}: {}",
            console::reason(&error.errno().into())
        ));
    }
}

fn line(tally: &Tally, names_only: bool) -> String {
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

fn json(tally: &Tally, summary: &Summary, names_only: bool) -> String {
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
    use std::path::PathBuf;

    /// A directory with a file of 5 bytes that has two names, and a link to it; gone at the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ringwalk-{name}-{}", std::process::id()));
            std::fs::create_dir_all(path.join("sub")).unwrap();
            std::fs::write(path.join("file"), "12345").unwrap();
            std::fs::hard_link(path.join("file"), path.join("sub/again")).unwrap();
            std::os::unix::fs::symlink("file", path.join("link")).unwrap();
            Self(path)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn walk(roots: &[PathBuf], fields: Fields) -> (Tally, Summary) {
        let walk = Walk::from_roots(roots.iter().map(PathBuf::as_path)).fields(fields);
        let outcome = walk.follow(Follow::CommandLine).run(|_| Tally::default());
        (
            outcome.visitors.iter().fold(Tally::default(), Tally::plus),
            outcome.summary,
        )
    }

    #[test]
    fn every_name_below_counts_with_its_size() {
        let tree = Tree::new("count");
        let sub = std::fs::symlink_metadata(tree.0.join("sub")).unwrap().len();
        let (tally, summary) = walk(std::slice::from_ref(&tree.0), Fields::SIZE);
        let bytes = 5 + 5 + 4 + sub;
        assert_eq!(line(&tally, false), format!("4 files, {bytes} bytes\n"));
        assert_eq!(
            (tally.of(FileType::Regular), tally.of(FileType::Symlink)),
            (2, 1)
        );
        let value: serde_json::Value =
            serde_json::from_str(&json(&tally, &summary, false)).unwrap();
        assert_eq!(value["bytes"], bytes);
        assert_eq!(
            (
                value["types"]["directory"].as_u64(),
                value["directories"].as_u64()
            ),
            (Some(1), Some(2))
        );
    }

    #[test]
    fn without_stat_there_are_no_bytes() {
        let tree = Tree::new("names");
        let (tally, summary) = walk(&[tree.0.clone(), tree.0.join("sub")], Fields::empty());
        assert_eq!(line(&tally, true), "5 files\n");
        let value: serde_json::Value = serde_json::from_str(&json(&tally, &summary, true)).unwrap();
        assert!(value["bytes"].is_null());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told_from_a_file() {
        let tree = Tree::new("links");
        let nowhere = tree.0.join("nowhere");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        assert_eq!(no_directory(&nowhere), "No such file or directory");
        assert_eq!(no_directory(&tree.0.join("link")), "Not a directory");
    }

    #[test]
    fn roots_that_are_no_directories_are_told_and_counted_as_errors() {
        let tree = Tree::new("roots");
        let (tally, summary) = walk(&[tree.0.join("file"), tree.0.join("missing")], Fields::SIZE);
        assert_eq!(
            (tally.files(), tally.no_directories, summary.errors),
            (0, 1, 1)
        );
    }
}
