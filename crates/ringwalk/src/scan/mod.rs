//! All files of a whole file system, without their names.
//!
//! Sums over a file system need no directory to be read: its inodes, in the order in which they lie on the disk, are all
//! there is to know. A [`Scan`] gives the metadata of each file once, however many names it has, in any order, on several
//! threads. What it cannot do exactly as a walk would, it declines before it begins or on the way, and then its caller
//! walks.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | what is asked for, and running it |
//! | `inventory.rs` | what a file system must offer |
//! | `handle.rs` | files that it is not sure of |
//! | `ext4.rs` | inode tables from the block device |
//! | `xfs/` | BULKSTAT over allocation groups |
//! | `btrfs/` | TREE_SEARCH_V2 over ranges of inode numbers |

mod btrfs;
mod ext4;
mod handle;
mod inventory;
mod xfs;

pub(crate) use inventory::{Inventory, Turns};

use crate::metadata::{Fields, Metadata};
use crate::monitor::Monitor;
use crate::options::{SourceChoice, Stay};
use crate::privilege;
use crate::regime::warm_workers;
use crate::root::Root;
use crate::summary::{Outcome, Summary};
use crate::volume::{Covered, Mounted, Refused, open_root};
use ringwalk_sys::RawFileType as FileType;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// `STATX_ATTR_MOUNT_ROOT` of statx(2): the directory is the root of its mount.
const MOUNT_ROOT: u64 = 0x2000;

/// A scan of a whole file system, to be set up and then [run](Self::run).
#[derive(Debug)]
pub struct Scan {
    root: Root,
    fields: Fields,
    follow: bool,
    stay: Stay,
    source: SourceChoice,
    sync: bool,
    workers: Option<NonZeroUsize>,
    monitor: Arc<Monitor>,
}

/// What a user of a scan writes: one for each thread.
pub trait ScanVisitor: Send {
    /// The root directory, before any file.
    fn root(&mut self, root: &Metadata) {
        let _ = root;
    }

    /// Some files, the root directory among them in one call.
    fn files(&mut self, files: &[Metadata]);

    /// Asked after each call of [`files`](Self::files): true ends the scan, which declines then.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Why there was no scan: words for people. Nothing is wrong; a walk gives the answer.
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

impl Scan {
    /// Of the file system that is mounted at `root`.
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

    /// The metadata wanted of every file.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.fields = fields;
        self
    }

    /// Whether a root that is a symbolic link is followed; not by default.
    pub fn follow(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Where a walk would not go on: matters where a file system is several devices, as btrfs with its subvolumes is.
    pub fn stay(mut self, stay: Stay) -> Self {
        self.stay = stay;
        self
    }

    /// Where the files are read from.
    pub fn source(mut self, source: SourceChoice) -> Self {
        self.source = source;
        self
    }

    /// As [`Walk::sync`](crate::Walk::sync).
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// The number of threads. `None`, the default: as many as CPUs this process may use.
    pub fn workers(mut self, workers: Option<NonZeroUsize>) -> Self {
        self.workers = workers;
        self
    }

    /// Counters to look at while the scan runs.
    pub fn monitor(&self) -> Arc<Monitor> {
        Arc::clone(&self.monitor)
    }

    /// Scans, and returns when all files have been given to the visitors that `make` made, one on each thread.
    ///
    /// # Errors
    ///
    /// If a scan would not give what a walk gives: the root is not that of a whole file system, something is mounted below it, its
    /// files cannot be read past the VFS, or something came up on the way. What visitors have been given until then does not count.
    ///
    /// # Panics
    ///
    /// If a visitor panics.
    pub fn run<V: ScanVisitor>(
        self,
        make: impl Fn(usize) -> V + Sync,
    ) -> Result<Outcome<V>, Declined> {
        let begin = Instant::now();
        let mounted = self.look()?;
        let root = mounted.metadata;
        let inventory = self.open(mounted)?;
        let pieces = inventory.pieces();
        let turns = Turns::new(pieces);
        let most = self.workers.map_or_else(warm_workers, NonZeroUsize::get);
        let threads = most.min(pieces).max(1);
        let done = Mutex::new(Ok(Vec::new()));
        std::thread::scope(|scope| {
            let work = |index| {
                let mut visitor = make(index);
                visitor.root(&root);
                let counted = Counted {
                    visitor,
                    files: 0,
                    directories: 0,
                };
                self.monitor.add_worker();
                let scanned = scan_with(&*inventory, &turns, &self.monitor, counted);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                match (scanned, &mut *done) {
                    (Ok(counted), Ok(all)) => all.push(counted),
                    (Err(why), Ok(_)) => *done = Err(why),
                    (_, Err(_)) => {}
                }
            };
            for index in 1..threads {
                let started = std::thread::Builder::new()
                    .name(format!("ringwalk-scan-{index}"))
                    .spawn_scoped(scope, move || work(index));
                if started.is_err() {
                    break;
                }
            }
            work(0);
        });
        let all = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        let files = all.iter().map(|counted| counted.files).sum();
        let directories = all.iter().map(|counted| counted.directories).sum();
        let threads = all.len();
        Ok(Outcome {
            visitors: all.into_iter().map(|counted| counted.visitor).collect(),
            summary: Summary {
                entries: files,
                directories,
                workers: threads,
                elapsed: begin.elapsed(),
                ..Summary::of_scan(inventory.name(), &self)
            },
        })
    }

    /// The mount, if all of it and nothing else lies below the root.
    fn look(&self) -> Result<Arc<Mounted>, Refused> {
        if self.source == SourceChoice::Syscall {
            return Err(Refused::because("system calls were asked for"));
        }
        // Mostly it is just a directory, which one call tells.
        let attributes = self
            .root
            .look(self.follow)
            .map_err(|errno| Refused::because(format!("it cannot be looked at: {errno}")))?
            .attributes;
        if attributes & MOUNT_ROOT == 0 {
            return Err(Refused::because("it is not the root of a mount"));
        }
        if !privilege::may_read_everything() {
            return Err(Refused::because("CAP_DAC_READ_SEARCH is missing"));
        }
        let directory = open_root(&self.root, self.follow)
            .map_err(|errno| Refused::because(format!("it cannot be opened: {errno}")))?;
        let mounted = Mounted::new(&directory, self.sync)?;
        mounted.check()?;
        if mounted.metadata.attributes & MOUNT_ROOT == 0 {
            return Err(Refused::because("it is not the root of a mount"));
        }
        if !Covered::of(&mounted)?.is_empty() {
            return Err(Refused::because("something is mounted below it"));
        }
        Ok(Arc::new(mounted))
    }

    fn open(&self, mounted: Arc<Mounted>) -> Result<Box<dyn Inventory>, Refused> {
        let file_system = mounted.mount.file_system.clone();
        match (self.source, &*file_system.to_string_lossy()) {
            (SourceChoice::Auto | SourceChoice::Ext4, "ext2" | "ext3" | "ext4") => {
                ext4::open(mounted, self.fields)
            }
            (SourceChoice::Auto | SourceChoice::Xfs, "xfs") => xfs::open(mounted),
            (SourceChoice::Auto | SourceChoice::Btrfs, "btrfs") => {
                btrfs::open(mounted, self.stay == Stay::Device)
            }
            (_, other) => Err(Refused::because(format!("it is on {other}"))),
        }
    }

    pub(crate) fn is_source_given(&self) -> bool {
        self.source != SourceChoice::Auto
    }

    pub(crate) fn fields_wanted(&self) -> Fields {
        self.fields
    }

    pub(crate) fn are_workers_given(&self) -> bool {
        self.workers.is_some()
    }
}

/// A visitor, and how many files it has been given.
struct Counted<V> {
    visitor: V,
    files: u64,
    directories: u64,
}

fn scan_with<V: ScanVisitor>(
    inventory: &dyn Inventory,
    turns: &Turns,
    monitor: &Monitor,
    mut counted: Counted<V>,
) -> Result<Counted<V>, Refused> {
    let scanned = inventory.scan(turns, &mut |files| {
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
    if scanned.is_err() {
        turns.stop();
    }
    scanned?;
    if counted.visitor.is_stopped() {
        return Err(Refused::because("it was stopped"));
    }
    Ok(counted)
}
