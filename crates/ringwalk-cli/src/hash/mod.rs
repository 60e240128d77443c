//! `ringwalk hash`: hashes of the contents of files, in the formats of b3sum and sha256sum.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `check.rs` | `--check`: the files of a list |
//! | `saved.rs` | `--output`: a snapshot with hashes |
//!
//! The crate `ringwalk-hash` reads and hashes.

mod args;
mod check;
mod saved;

pub use args::HashArgs;

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ringwalk::{Error, FileType, Follow, Order, OwnedEntry, Stay, Walk};
use ringwalk_hash::check_list::push_line;
use ringwalk_hash::{
    Fault, FileToHash, HashOptions, OpenRoot, hash_files, kernel_file_system, raise_file_limit,
};

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::explain::explain;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{TROUBLE, trouble};

/// Hashes the files below `args.roots`, or checks the files of a list.
pub fn run(args: &HashArgs, options: &EngineOptions) -> ExitCode {
    raise_file_limit();
    if let Some(output) = &args.output {
        return saved::run(output, args, options).unwrap_or_else(|status| status);
    }
    match &args.check {
        Some(list) => match options.refuse(Lacks::Directories, "with --check") {
            Ok(()) => check::run(list, args, options),
            Err(message) => trouble(message),
        },
        None => hash(args, options),
    }
}

fn hash_options(args: &HashArgs, options: &EngineOptions) -> HashOptions {
    HashOptions::new(args.algo.into(), options.workers)
}

fn hash(args: &HashArgs, options: &EngineOptions) -> ExitCode {
    let has_failed = AtomicBool::new(false);
    let fail = |message: &dyn std::fmt::Display| {
        console::error(message);
        has_failed.store(true, Ordering::Relaxed);
    };
    let roots = Roots::open(&args.roots);
    let stay = if args.one_file_system {
        Stay::Device
    } else {
        Stay::Anywhere
    };
    let walk = Walk::from_roots(args.roots.iter().cloned())
        .follow(Follow::CommandLine)
        .stay(stay)
        .order(Order::Name);
    let Some(walk) = options.ready(walk) else {
        return ExitCode::from(TROUBLE);
    };
    // The number that the user gives is for the workers that read files, not for the walk.
    let walk = walk.workers(None);
    let hashing = hash_options(args, options);
    let walk = walk.descriptor_reserve(hashing.descriptor_reserve());
    let progress = Progress::of_walk(options.progress, walk.monitor());
    let mut entries = walk.into_iter();
    let mut left_out = LeftOut::default();
    let is_root = |error: &Error| args.roots.iter().any(|root| root == error.path());
    let files = std::iter::from_fn(|| {
        loop {
            match entries.next()? {
                Ok(entry) => {
                    if !left_out.takes(&entry)
                        && let Some(file) = roots.file(entry)
                    {
                        return Some(file);
                    }
                }
                Err(error) if left_out.holds(error.path()) && !is_root(&error) => {}
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
        go_on(written)
    });
    drop(progress);
    if let Err(error) = hashed {
        return no_thread(&error);
    }
    if let (true, Some(summary)) = (options.explain, entries.summary()) {
        explain(summary);
    }
    match written {
        Ok(()) if !has_failed.into_inner() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(status) => status,
    }
}

/// Hashing goes on as long as the answer can be written.
fn go_on(written: Result<(), ExitCode>) -> ControlFlow<()> {
    if written.is_ok() {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

/// Reports that no thread could be started, so that there is no answer.
fn no_thread(error: &io::Error) -> ExitCode {
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
    match fault {
        Fault::Irregular => format!("{path}: not a regular file"),
        Fault::Changed => format!("{path}: changed while it was read"),
        Fault::FalseSize => {
            format!("{path}: has more bytes than the size that its file system reports")
        }
        fault => {
            let what = if matches!(fault, Fault::Open(_)) {
                "open"
            } else {
                "read"
            };
            let reason = fault.errno().map(|errno| console::reason(&errno.into()));
            format!("cannot {what} {path}: {}", reason.unwrap_or_default())
        }
    }
}

/// Leaves out file systems of the kernel below a root.
#[derive(Default)]
struct LeftOut {
    /// The last directory that was left out. Entries come depth first.
    directory: Option<PathBuf>,
    /// The type of the root's own file system, if it is one of the kernel: its files are wanted.
    wanted: Option<u64>,
}

impl LeftOut {
    /// Returns true if the path lies in a directory that is left out.
    fn holds(&self, path: &Path) -> bool {
        let directory = self.directory.as_deref();
        directory.is_some_and(|directory| path.starts_with(directory))
    }

    /// Looks at the next entry. Returns true if it is left out.
    fn takes(&mut self, entry: &OwnedEntry) -> bool {
        let kind = || kernel_file_system(entry.path().as_os_str().as_bytes());
        if entry.depth() == 0 {
            // This root can lie in a directory that was left out below the previous root.
            self.directory = None;
            self.wanted = kind();
            return false;
        }
        if self.holds(entry.path()) {
            return true;
        }
        if entry.file_type() == FileType::Directory {
            let kind = kind();
            if kind.is_some() && kind != self.wanted {
                self.directory = Some(entry.path().to_path_buf());
            }
        }
        false
    }
}

/// The roots, open for the files below them.
struct Roots(Vec<(OsString, Arc<OpenRoot>)>);

impl Roots {
    fn open(roots: &[OsString]) -> Self {
        let roots = roots.iter().map(|root| {
            // The walk reports a root that cannot be opened. If the walk can open it after all,
            // `file` uses the whole paths of its files.
            let open = OpenRoot::open(Path::new(root)).unwrap_or(OpenRoot::Working);
            (root.clone(), Arc::new(open))
        });
        Self(roots.collect())
    }

    /// Returns the file to hash, if the entry is a regular file or a root that may be one. Its
    /// context is the path, beginning with the root as it was given.
    fn file(&self, entry: OwnedEntry) -> Option<FileToHash<PathBuf>> {
        let is_root = entry.depth() == 0;
        let file_type = entry.file_type();
        let is_wanted = match file_type {
            FileType::Regular => true,
            // The walk has reported a root whose type is unknown.
            FileType::Directory | FileType::Unknown => false,
            // A path that the user has given is reported if it is not a regular file.
            _ => is_root,
        };
        if !is_wanted {
            return None;
        }
        let (ino, root) = (entry.ino(), entry.root_index());
        let path = entry.into_path();
        if is_root {
            return Some(FileToHash {
                root: Arc::new(OpenRoot::Working),
                path: path.clone(),
                ino,
                only: None,
                context: path,
            });
        }
        let (root, open) = self.0.get(root)?;
        let below = match **open {
            OpenRoot::Directory(_) => below(&path, root),
            // A path below the root would be looked up in the working directory.
            OpenRoot::Working => path.clone(),
        };
        Some(FileToHash {
            root: Arc::clone(open),
            path: below,
            ino,
            only: None,
            context: path,
        })
    }
}

/// Returns the part of a path that follows its root. The walk begins every path with its root as
/// the user has given it.
fn below(path: &Path, root: &OsStr) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let mut below = bytes.strip_prefix(root.as_bytes()).unwrap_or(bytes);
    while let Some(rest) = below.strip_prefix(b"/") {
        below = rest;
    }
    PathBuf::from(OsStr::from_bytes(below))
}
