//! Inode sweeps: all files of a whole file system, without their names.
//!
//! Sums over a file system need no directories: its inodes, read in the order of the disk, hold all
//! the data. An [`InodeSweep`] passes on the metadata of each file once, however many names the
//! file has, in any order, on several threads. A sweep declines, at its beginning or later, if it
//! cannot return exactly what a walk returns. Then its caller walks.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | options of a sweep, and running it |
//! | `inventory.rs` | the interface of a file system for a sweep |
//! | `handle.rs` | files of which the sweep is not certain |

pub(super) mod handle;
pub(super) mod inventory;

pub(crate) use inventory::{Inventory, Turns};

use crate::sources::choose::rules;
use crate::sources::registry::SourceChoice;
use crate::sources::volume::{Covered, OpenMount, Refused, open_root};
use crate::system::mounts::is_mount_root;
use crate::system::privilege;
use crate::visit::metadata::{Fields, Metadata};
use crate::visit::summary::{Outcome, Summary};
use crate::walk::concurrency::warm_workers;
use crate::walk::monitor::Monitor;
use crate::walk::root::Root;
use crate::walk::settings::Stay;
use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Why a sweep reads files without their names, for people.
const WHOLE: &str = "the whole file system, so its files are read without their names";

/// An inode sweep of a whole file system. Set its options, then [run](Self::run) it.
#[derive(Debug)]
pub struct InodeSweep {
    root: Root,
    fields: Fields,
    follow: bool,
    stay: Stay,
    source: SourceChoice,
    sync: bool,
    workers: Option<NonZeroUsize>,
    monitor: Arc<Monitor>,
}

/// Receives the files of a sweep: one visitor for each thread.
pub trait SweepVisitor: Send {
    /// Called with the root directory, before any file.
    fn root(&mut self, root: &Metadata) {
        let _ = root;
    }

    /// Called with some files; one of these calls includes the root directory. Besides the fields
    /// that were asked for, type, device, inode number and number of links are always known.
    fn files(&mut self, files: &[Metadata]);

    /// Called after each call of [`files`](Self::files). If it returns true, the sweep ends and
    /// declines.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Why a sweep was declined, as text for people. Nothing is wrong; a walk gives the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined(String);

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Refused> for Declined {
    fn from(why: Refused) -> Self {
        Self(why.to_string())
    }
}

impl InodeSweep {
    /// Creates a sweep of the file system that is mounted at `root`.
    pub fn new(root: impl Into<Root>) -> Self {
        Self {
            root: root.into(),
            fields: Fields::empty(),
            follow: false,
            stay: Stay::default(),
            source: SourceChoice::default(),
            sync: false,
            workers: None,
            monitor: Arc::default(),
        }
    }

    /// Sets the metadata wanted of every file.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.fields = fields;
        self
    }

    /// Sets whether a root that is a symbolic link is followed; the default is false.
    pub fn follow(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Sets the limits that a walk would stay within. They matter for file systems of several
    /// devices, such as btrfs with subvolumes.
    pub fn stay(mut self, stay: Stay) -> Self {
        self.stay = stay;
        self
    }

    /// Sets the source to read from.
    pub fn source(mut self, source: SourceChoice) -> Self {
        self.source = source;
        self
    }

    /// Sets whether to write the file system back first, as [`Walk::sync`](crate::Walk::sync) does.
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the number of threads. `None`, the default, means as many as the CPUs that this process
    /// may use.
    pub fn workers(mut self, workers: Option<NonZeroUsize>) -> Self {
        self.workers = workers;
        self
    }

    /// Returns counters that can be read while the sweep runs.
    pub fn monitor(&self) -> Arc<Monitor> {
        Arc::clone(&self.monitor)
    }

    /// Sweeps, and returns when all files have been passed to the visitors. `make` makes one
    /// visitor on each thread.
    ///
    /// # Errors
    ///
    /// If a sweep would not return what a walk returns:
    ///
    /// - the root is not the root of a whole file system;
    /// - a file system is mounted below the root;
    /// - no source can read its files;
    /// - the sweep finds later that it cannot read some file exactly.
    ///
    /// Files that visitors were given until then do not count.
    ///
    /// # Panics
    ///
    /// If a visitor panics.
    pub fn run<V: SweepVisitor>(
        self,
        make: impl Fn(usize) -> V + Sync,
    ) -> Result<Outcome<V>, Declined> {
        let begin = Instant::now();
        let mounted = self.look()?;
        let root = mounted.metadata;
        let (source, inventory) = self.open(&mounted)?;
        let pieces = inventory.pieces();
        let turns = Turns::new(pieces);
        let most = self.workers.map_or_else(warm_workers, NonZeroUsize::get);
        let threads = most.min(pieces).max(1);
        let all = self.run_threads(threads, |index| {
            let mut visitor = make(index);
            visitor.root(&root);
            sweep_with(&*inventory, &turns, &self.monitor, visitor)
        })?;
        let files = all.iter().map(|counted| counted.files).sum();
        let directories = all.iter().map(|counted| counted.directories).sum();
        let threads = all.len();
        Ok(Outcome {
            visitors: all.into_iter().map(|counted| counted.visitor).collect(),
            leftovers: Vec::new(),
            summary: Summary {
                entries: files,
                directories,
                workers: threads,
                elapsed: begin.elapsed(),
                source: source.as_str(),
                source_given: self.source != SourceChoice::Auto,
                source_reason: WHOLE.to_owned(),
                workers_given: self.workers.is_some(),
                fields: self.fields,
                ..Summary::default()
            },
        })
    }

    /// Runs `work` on so many threads, or as many as can be started, including this one. Returns
    /// the results of all threads, or why one of them failed.
    fn run_threads<T: Send>(
        &self,
        threads: usize,
        work: impl Fn(usize) -> Result<T, Refused> + Sync,
    ) -> Result<Vec<T>, Refused> {
        let done = Mutex::new(Ok(Vec::new()));
        let run = |index| {
            self.monitor.add_worker();
            let result = work(index);
            let mut done = lock(&done);
            match (result, &mut *done) {
                (Ok(result), Ok(all)) => all.push(result),
                (Err(why), Ok(_)) => *done = Err(why),
                (_, Err(_)) => {}
            }
        };
        std::thread::scope(|scope| {
            let run = &run;
            for index in 1..threads {
                let started = std::thread::Builder::new()
                    .name(format!("ringwalk-sweep-{index}"))
                    .spawn_scoped(scope, move || run(index));
                if started.is_err() {
                    break;
                }
            }
            run(0);
        });
        done.into_inner().ignore_poison()
    }

    /// Opens the mount, if the root is the root of the whole mount and no other mount lies below
    /// it.
    fn look(&self) -> Result<Arc<OpenMount>, Refused> {
        rules::check_sweep(self.source)?;
        if self.fields.contains(Fields::PROJECT_ID) {
            return Err(Refused::because("project ids are read by walks only"));
        }
        // Most roots are just directories, which one call shows.
        let looked = self
            .root
            .look(self.follow)
            .map_err(|errno| Refused::because(format!("it cannot be looked at: {errno}")))?;
        if !is_mount_root(&looked) {
            return Err(Refused::because("it is not the root of a mount"));
        }
        if !privilege::may_read_everything() {
            return Err(Refused::because("CAP_DAC_READ_SEARCH is missing"));
        }
        let directory = open_root(&self.root, self.follow)
            .map_err(|errno| Refused::because(format!("it cannot be opened: {errno}")))?;
        let mounted = OpenMount::new(&directory, self.sync)?;
        mounted.check()?;
        if !is_mount_root(&mounted.metadata) {
            return Err(Refused::because("it is not the root of a mount"));
        }
        if !Covered::of(&mounted)?.is_empty() {
            return Err(Refused::because("something is mounted below it"));
        }
        Ok(Arc::new(mounted))
    }

    /// Opens the file system, by the source that reads it.
    fn open(
        &self,
        mounted: &Arc<OpenMount>,
    ) -> Result<(SourceChoice, Box<dyn Inventory>), Refused> {
        let file_system = mounted.mount.file_system.to_string_lossy();
        let (source, open) = rules::for_sweep(self.source, &file_system)?;
        Ok((source, open(Arc::clone(mounted), self.fields, self.stay)?))
    }
}

/// A visitor, with counts of the files that it was given.
struct CountingVisitor<V> {
    visitor: V,
    files: u64,
    directories: u64,
}

fn sweep_with<V: SweepVisitor>(
    inventory: &dyn Inventory,
    turns: &Turns,
    monitor: &Monitor,
    visitor: V,
) -> Result<CountingVisitor<V>, Refused> {
    let mut counted = CountingVisitor {
        visitor,
        files: 0,
        directories: 0,
    };
    let swept = inventory.sweep(turns, &mut |files| {
        counted.files += files.len() as u64;
        let is_directory = |file: &&Metadata| file.file_type() == FileType::Directory;
        let directories = files.iter().filter(is_directory).count() as u64;
        counted.directories += directories;
        monitor.add(files.len() as u64, directories, 0);
        counted.visitor.files(files);
        if counted.visitor.is_stopped() {
            turns.stop();
        }
    });
    if swept.is_err() {
        turns.stop();
    }
    swept?;
    if counted.visitor.is_stopped() {
        return Err(Refused::because("it was stopped"));
    }
    Ok(counted)
}
