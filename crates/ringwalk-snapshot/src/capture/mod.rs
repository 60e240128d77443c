//! Capturing live trees: the walk whose entries are written.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Capture`]: setting up, running, writing |
//! | `visitor.rs` | gives the entries of each batch to a keeper |
//! | `keeper.rs` | where entries are kept: the stage, or a part |
//! | `resumed.rs` | the locations of directories at which a walk goes on |
//! | `extras.rs` | what a walk does not return: targets of links, extended attributes |
//! | `shared.rs` | what all visitors share |
//! | `shared_mounts.rs` | bind mounts: which files several roots show again |
//! | `failures.rs` | read errors, by root and path |
//! | `file_systems.rs` | type, UUID and mount point of the file systems of the entries |
//! | `own_output.rs` | the files that a snapshot writes or replaces |
//! | `transactions.rs` | the last transactions before reading began, for a later update |
//! | `vanished.rs` | trees that were removed while the walk was to read them |
//! | `stoppable.rs` | an output whose writer can be stopped |

mod extras;
mod failures;
pub(crate) mod file_systems;
pub(crate) mod keeper;
mod own_output;
pub(crate) mod resumed;
mod shared;
mod shared_mounts;
mod stoppable;
mod transactions;
pub(crate) mod vanished;
pub(crate) mod visitor;

use crate::entry::Failure;
use crate::info::{Info, RootInfo, Run, Text, Transaction};
use crate::read::{ReadError, Snapshot};
use crate::schema::{Contents, HASH_BYTES};
use crate::seal::seal;
use crate::write::spill::unnamed_file;
use crate::write::stage::Stage;
use crate::write::{Referred, WriteOptions, write};
use failures::FailureLog;
use file_systems::FileSystems;
use keeper::StageKeeper;
pub(crate) use own_output::OwnOutput;
use resumed::Resumed;
use ringwalk::{Fields, Follow, Metadata, OlderTree, Outcome, Summary, Walk};
use ringwalk_du::Rule;
use ringwalk_gnu::quote::file_always;
use ringwalk_gnu::reason;
use ringwalk_output::Unpublished;
pub(crate) use shared::{Fatal, Shared};
use shared_mounts::SharedMounts;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fmt, io};
pub(crate) use stoppable::Stoppable;
use visitor::CaptureVisitor;

/// A snapshot of live trees, to be set up and then run.
///
/// ```
/// use ringwalk_snapshot::{Capture, Snapshot};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("snapshot.parquet");
/// let capture = Capture::new(["src"])?;
/// let walk = capture.walk();
/// let captured = capture.run(walk, &path)?;
/// assert!(captured.info.verdict.complete);
/// assert_eq!(Snapshot::open(&path)?.rows(), captured.info.verdict.entries);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Capture {
    /// The roots, absolute and without symbolic links.
    roots: Vec<PathBuf>,
    one_file_system: bool,
    options: WriteOptions,
    report: Option<Reporter>,
    stop: Arc<AtomicBool>,
    older: Option<Arc<dyn OlderTree>>,
    hashes: Option<Arc<dyn FileHashes>>,
}

/// The function that is called for each failure.
#[derive(Clone)]
struct Reporter(Arc<Report>);

/// Takes a failure, with its path. All workers call it.
type Report = dyn Fn(&[u8], Failure) + Send + Sync;

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}

/// Knows hashes of contents of files, for [`Capture::hashes`].
pub trait FileHashes: Send + Sync + fmt::Debug {
    /// Returns the BLAKE3 hash of the contents of a regular file; `None` if it is not known.
    ///
    /// The metadata say which file it is, and which version of it. They have the fields of
    /// [`Fields::STATX`], as far as the file system has them and they are certain. A hash of other
    /// contents, such as those before a later change, is wrong. `path` returns the path of the
    /// name, beginning with a root without symbolic links. All workers of the walk call this, once
    /// for each name of a file.
    fn hash(&self, metadata: &Metadata, path: &dyn Fn() -> Vec<u8>) -> Option<[u8; HASH_BYTES]>;
}

/// A snapshot that has been written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Captured {
    /// What the snapshot says of itself.
    pub info: Info,
    /// How the walk was done.
    pub summary: Summary,
}

/// Why a snapshot cannot be taken.
#[derive(Debug)]
pub struct CaptureError {
    /// The path that the error is about.
    path: PathBuf,
    what: What,
}

#[derive(Debug)]
enum What {
    Root(io::Error),
    /// A root lies within this one.
    Within(PathBuf),
    Stage(io::Error),
    Output(io::Error),
    Reading(ReadError),
    Stopped,
}

impl CaptureError {
    fn new(path: &Path, what: What) -> Self {
        Self {
            path: path.to_owned(),
            what,
        }
    }

    /// Returns the error of work on `path` that was stopped.
    pub(crate) fn stopped(path: &Path) -> Self {
        Self::new(path, What::Stopped)
    }

    /// Returns the path that the error is about: a root, or the output.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the reason, as text that follows the path.
    pub fn reason(&self) -> String {
        match &self.what {
            What::Root(error) => format!("cannot access it: {}", reason(error)),
            What::Within(outer) => {
                let outer = file_always(outer.as_os_str().as_bytes());
                format!("it lies within {outer}, and a file cannot be in a snapshot twice")
            }
            What::Stage(error) => format!("cannot keep listings: {}", reason(error)),
            What::Output(error) => format!("cannot write it: {}", reason(error)),
            What::Reading(error) => error.reason(),
            What::Stopped => "the snapshot was stopped".to_owned(),
        }
    }

    /// Returns the error of the system; `None` if something else is wrong.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.what {
            What::Root(error) | What::Stage(error) | What::Output(error) => Some(error),
            What::Reading(error) => error.io_error(),
            What::Within(_) | What::Stopped => None,
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = file_always(self.path.as_os_str().as_bytes());
        write!(f, "{path}: {}", self.reason())
    }
}

impl std::error::Error for CaptureError {}

impl Capture {
    /// Sets up a snapshot of the trees at these paths. Symbolic links given here are followed.
    ///
    /// # Errors
    ///
    /// If a root cannot be accessed, or lies within another one.
    pub fn new(roots: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, CaptureError> {
        let mut resolved: Vec<PathBuf> = Vec::new();
        for root in roots {
            let root = PathBuf::from(root.into());
            let path = root.canonicalize();
            let path = path.map_err(|error| CaptureError::new(&root, What::Root(error)))?;
            for other in &resolved {
                if path.starts_with(other) {
                    return Err(CaptureError::new(&root, What::Within(other.clone())));
                }
                if other.starts_with(&path) {
                    return Err(CaptureError::new(other, What::Within(root)));
                }
            }
            resolved.push(path);
        }
        Ok(Self {
            roots: resolved,
            one_file_system: false,
            options: WriteOptions::default(),
            report: None,
            stop: Arc::default(),
            older: None,
            hashes: None,
        })
    }

    /// Adds the column of hashes, with those that `hashes` knows. Other regular files, and files
    /// that are left out, have nulls. No hash of an older snapshot is taken.
    pub fn hashes(mut self, hashes: Arc<dyn FileHashes>) -> Self {
        self.hashes = Some(hashes);
        self
    }

    /// Takes what has not changed from an older tree, such as an
    /// [`OlderSnapshot`](crate::OlderSnapshot), as far as that is certain. The new snapshot has the
    /// same rows with it and without it.
    pub fn since(mut self, older: Arc<dyn OlderTree>) -> Self {
        self.older = Some(older);
        self
    }

    /// Sets a function that is called for each failure, with the path. All workers call it.
    pub fn report(mut self, report: impl Fn(&[u8], Failure) + Send + Sync + 'static) -> Self {
        self.report = Some(Reporter(Arc::new(report)));
        self
    }

    /// Sets a flag that another thread may set to end the work early. [`run`](Self::run) then fails
    /// and leaves the output as it was.
    pub fn stop_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Sets whether other file systems below the roots are left out. Their mount points are rows
    /// with `skipped` = `otherfs`.
    pub fn one_file_system(mut self, one_file_system: bool) -> Self {
        self.one_file_system = one_file_system;
        self
    }

    /// Sets how the file is written.
    pub fn options(mut self, options: WriteOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the walk for [`run`](Self::run), to which the caller may add options about its
    /// workers and its source.
    pub fn walk(&self) -> Walk {
        let fields = self.options.contents.fields();
        let walk = Walk::from_roots(self.roots.iter().map(PathBuf::as_path))
            .fields(fields)
            .stay(self.rule().stay());
        match &self.older {
            Some(older) => walk.older_tree(Arc::clone(older)),
            None => walk,
        }
    }

    /// Returns the roots, absolute and without symbolic links.
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns how the file is written.
    pub(crate) fn write_options(&self) -> &WriteOptions {
        &self.options
    }

    /// Returns the optional columns. Hashes of files have one, whatever the options say.
    pub(crate) fn contents(&self) -> Contents {
        let contents = self.options.contents;
        Contents {
            hash: contents.hash || self.hashes.is_some(),
            ..contents
        }
    }

    fn rule(&self) -> Rule {
        Rule::new(Follow::Never).one_file_system(self.one_file_system)
    }

    /// Walks, and writes the snapshot to `output`, which appears whole or not at all. A file at
    /// `output` is replaced, and is not part of the snapshot.
    ///
    /// Read errors are no errors of this call: each is a row, and the verdict counts them.
    ///
    /// # Errors
    ///
    /// If `output` or the temporary file cannot be written, or a root is reached again below
    /// another one.
    ///
    /// # Panics
    ///
    /// If the walk has a budget, or goes on with leftovers.
    pub fn run(&self, walk: Walk, output: &Path) -> Result<Captured, CaptureError> {
        let failed = |error| CaptureError::new(output, What::Output(error));
        // Before the walk: if the output cannot be written, a long walk would be for nothing.
        let file = Unpublished::new(output).map_err(failed)?;
        let own = OwnOutput::new(output, file.file());
        let transactions = transactions::committed(&self.roots);
        let captured = self.run_into(walk, file.file(), output, own, transactions)?;
        // This takes most of the time of `publish`, and the work may be stopped meanwhile.
        file.file().sync_all().map_err(failed)?;
        self.check_stop(output)?;
        let published = self.options.publish(file, output);
        published.map_err(failed)?;
        Ok(captured)
    }

    /// Walks, and returns the snapshot in an unnamed temporary file, in the folder `TMPDIR` or
    /// `/tmp`. `name` is its name in errors.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_unnamed(
        &self,
        walk: Walk,
        name: &Path,
    ) -> Result<(Snapshot, Captured), CaptureError> {
        let failed = |error| CaptureError::new(name, What::Stage(error));
        let file = unnamed_file().map_err(failed)?;
        // No later update can read a file without a name.
        let captured = self.run_into(walk, &file, name, OwnOutput::default(), Vec::new());
        let captured = captured.map_err(|error| match error.what {
            // The user has named no output.
            What::Output(error) => failed(error),
            _ => error,
        })?;
        let snapshot = Snapshot::from_file(file, name)
            .map_err(|error| CaptureError::new(name, What::Reading(error)))?;
        Ok((snapshot, captured))
    }

    fn run_into(
        &self,
        walk: Walk,
        output: &File,
        name: &Path,
        own: OwnOutput,
        transactions: Vec<Transaction>,
    ) -> Result<Captured, CaptureError> {
        walk.expect_whole("a snapshot");
        let shared = self.shared(own)?;
        let mut run = Run {
            start: now(),
            transactions,
            ..Run::default()
        };
        let stage = Stage::new(self.options.waiting());
        // The list of roots.
        stage.new_directory();
        let Outcome {
            visitors, summary, ..
        } = walk.run(|_worker| CaptureVisitor::new(&shared, StageKeeper::new(&stage)));
        for visitor in visitors {
            visitor.close();
        }
        if let Some(fatal) = shared.fatal() {
            return Err(self.fatal_error(fatal, name));
        }
        let Shared {
            failures,
            file_systems,
            ..
        } = shared;
        self.check_stop(name)?;
        run.end = now();
        summary.source.clone_into(&mut run.source);
        let roots = self.roots.iter();
        let info = Info {
            roots: roots
                .map(|root| RootInfo::new(root.as_os_str().as_bytes()))
                .collect(),
            file_systems: file_systems.resolve(),
            run,
            ..Info::default()
        };
        let staged = stage.into_staged();
        let failures = failures.into_failures();
        let stoppable = Stoppable::new(output, &self.stop);
        let options = WriteOptions {
            contents: self.contents(),
            ..self.options.clone()
        };
        let info = write(&staged, &failures, &options, info, name_owners, stoppable);
        self.check_stop(name)?;
        let info = info.and_then(|info| seal(output).map(|()| info));
        let info = info.map_err(|error| CaptureError::new(name, What::Output(error)))?;
        Ok(Captured { info, summary })
    }

    /// Returns an error if the work was stopped.
    pub(crate) fn check_stop(&self, name: &Path) -> Result<(), CaptureError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(CaptureError::stopped(name));
        }
        Ok(())
    }

    /// Returns why the walk was stopped. `name` is what its entries were kept for.
    pub(crate) fn fatal_error(&self, fatal: Fatal, name: &Path) -> CaptureError {
        match fatal {
            Fatal::Keeping(error) => CaptureError::new(name, What::Stage(error)),
            Fatal::RootAgain(root, within) => {
                CaptureError::new(&self.roots[root], What::Within(self.roots[within].clone()))
            }
        }
    }

    /// Returns what the visitors of a walk share. `own` is left out.
    pub(crate) fn shared(&self, own: OwnOutput) -> Result<Shared<'_>, CaptureError> {
        self.options.progress.begin(0);
        let mut roots = Vec::new();
        if self.roots.len() > 1 {
            for root in &self.roots {
                let found = Metadata::of_path(None, root, false, Fields::INO);
                let found =
                    found.map_err(|errno| CaptureError::new(root, What::Root(errno.into())))?;
                roots.extend(found.identity());
            }
        }
        Ok(Shared {
            rule: self.rule(),
            mounts: SharedMounts::below(&self.roots),
            contents: self.contents(),
            hashes: self.hashes.as_deref(),
            progress: &self.options.progress,
            failures: FailureLog::new(&self.roots),
            file_systems: FileSystems::default(),
            own,
            roots,
            fatal: Mutex::default(),
            report: self.report.as_ref().map(|reporter| &*reporter.0),
            listener: None,
            stop: &self.stop,
            resumed: Resumed::default(),
            vanished: None,
        })
    }
}

/// Adds the names of the owners that the rows refer to. If one cannot be looked up, its number
/// stays, and the snapshot says that names are missing.
pub(crate) fn name_owners(referred: &Referred, info: &mut Info) {
    for &uid in &referred.users {
        match ringwalk_sys::user_name(uid) {
            Ok(Some(name)) => drop(info.users.insert(uid, Text(name))),
            Ok(None) => {}
            Err(_) => info.run.names_missing = true,
        }
    }
    for &gid in &referred.groups {
        match ringwalk_sys::group_name(gid) {
            Ok(Some(name)) => drop(info.groups.insert(gid, Text(name))),
            Ok(None) => {}
            Err(_) => info.run.names_missing = true,
        }
    }
}

/// Returns the time of the clock. Linux does not let the clock be set to a time before 1970.
pub(crate) fn now() -> crate::info::Moment {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    crate::info::Moment {
        seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: since.subsec_nanos(),
    }
}

#[cfg(test)]
mod tests;
