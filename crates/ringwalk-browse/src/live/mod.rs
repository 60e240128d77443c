//! A tree that a walk fills while somebody looks at it.
//!
//! ```text
//!  workers of the walk ── one batch ──> fill.rs ── lock ──> Arena ── lock ──> answers.rs ──> view
//! ```
//!
//! A worker holds the lock for one batch of entries, a reader for single entries or for a slice of
//! a longer job. The screen gets the lock before workers that wait for it.
//!
//! An entry takes 32 bytes and its name, a directory 104 more. An inode with several names takes
//! about 80 bytes and four for each name.
//!
//! | file | contents |
//! |---|---|
//! | `arena.rs` | entries, directories and their totals |
//! | `entries.rs`, `column.rs`, `names.rs` | what is kept of an entry, in columns |
//! | `directories.rs` | what is kept of a directory |
//! | `links.rs` | files with several names: which one counts, what deletion frees |
//! | `fill.rs` | the visitor that puts what a walk finds into the tree |
//! | `answers.rs` | the answers to a view |
//! | `groups.rs` | totals by extension, owner and age; the largest files |
//! | `doomed.rs` | what a deletion needs to know |

mod answers;
mod arena;
mod column;
mod directories;
mod doomed;
mod entries;
mod fill;
mod groups;
mod links;
mod names;
#[cfg(test)]
mod tests;

use crate::tree::{Id, Unreadable};
use arena::{Arena, TOP};
use entries::DirIndex;
use fill::Filler;
use ringwalk::identity::TrustOfDevices;
use ringwalk::{Errno, Follow, Stay, Walk};
use ringwalk_gnu::no_thread;
use ringwalk_sys::sync::lock;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};

/// Entries that are looked at with the lock held, which takes less than a millisecond.
const SLICE: usize = 4096;

/// Errors that are kept.
const MOST_ERRORS: usize = 1000;

/// A function that gives a walk the options of the user: source, workers.
pub type SetUp = Box<dyn Fn(Walk) -> Walk + Send + Sync>;

/// A tree that a walk fills.
pub struct LiveTree {
    path: PathBuf,
    set_up: SetUp,
    stays_on_device: bool,
    arena: Mutex<Arena>,
    /// Threads that want to look at single entries now: the screen.
    looking: AtomicUsize,
    errors: Mutex<Vec<Unreadable>>,
    /// Increases with every change.
    generation: AtomicU64,
    trust: TrustOfDevices,
    /// A walk is running.
    reading: AtomicBool,
    /// Walks shall end.
    stop: AtomicBool,
}

impl std::fmt::Debug for LiveTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveTree")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A running walk. Dropping it ends the walk, and waits for the calls that it is in.
#[derive(Debug)]
pub struct Reading {
    tree: Arc<LiveTree>,
    thread: Option<JoinHandle<()>>,
}

impl Reading {
    /// Returns true if the walk is complete.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the walk is complete.
    pub fn wait(mut self) {
        self.join();
    }

    fn join(&mut self) {
        // A panic of the thread has been reported, and what it has read so far is right.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if !self.is_finished() {
            self.tree.stop.store(true, Ordering::Relaxed);
        }
        self.join();
    }
}

impl LiveTree {
    /// Begins to read the directory `path`, in the background. With `stays_on_device` directories
    /// of other file systems are listed and not read.
    ///
    /// # Errors
    ///
    /// The errors of statx(2); `ENOTDIR` for other files; `EAGAIN` if no thread can be started.
    pub fn start(
        path: &Path,
        stays_on_device: bool,
        set_up: SetUp,
    ) -> io::Result<(Arc<Self>, Reading)> {
        let (tree, root) = Self::create(path, stays_on_device, set_up)?;
        let tree = Arc::new(tree);
        let reading = tree.read(path.to_owned(), root, true)?;
        Ok((tree, reading))
    }

    /// Creates a tree of the directory `path` that has no entries yet:
    /// [`read_path`](Self::read_path) reads some.
    ///
    /// # Errors
    ///
    /// The errors of statx(2); `ENOTDIR` for other files.
    pub fn unread(path: &Path, stays_on_device: bool, set_up: SetUp) -> io::Result<Arc<Self>> {
        let (tree, _) = Self::create(path, stays_on_device, set_up)?;
        Ok(Arc::new(tree))
    }

    fn create(path: &Path, stays_on_device: bool, set_up: SetUp) -> io::Result<(Self, DirIndex)> {
        let mut arena = Arena::default();
        let name = path.as_os_str().as_bytes();
        let found = fill::root(path, cut_to_name(name), true)?;
        if found.kind != crate::tree::Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        let added = arena.add_one(None, &found, true);
        let Some((TOP, Some(root))) = added else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let tree = Self {
            path: path.to_owned(),
            set_up,
            stays_on_device,
            arena: Mutex::new(arena),
            looking: AtomicUsize::new(0),
            errors: Mutex::default(),
            generation: AtomicU64::new(1),
            trust: TrustOfDevices::default(),
            reading: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        };
        Ok((tree, root))
    }

    /// Adds the entry with a path below the top, if the tree does not have it, and the directories
    /// above it. Begins to read everything below it, in the background. Returns its number.
    ///
    /// No symbolic link on the path is followed.
    ///
    /// # Errors
    ///
    /// `EBUSY` while the tree is being read; `ENOTDIR` if something above it is no directory; the
    /// errors of statx(2); `EAGAIN` if no thread can be started.
    pub fn read_path(self: &Arc<Self>, path: &[u8]) -> io::Result<(Id, Option<Reading>)> {
        if self.reading.load(Ordering::Relaxed) {
            return Err(Errno::BUSY.into());
        }
        let mut arena = self.work();
        let mut at = TOP;
        let mut whole = self.path.clone();
        let mut is_new = false;
        let names = path.split(|byte| *byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            let directory = arena.entries.directory(at).ok_or(Errno::NOTDIR)?;
            whole.push(OsStr::from_bytes(name));
            is_new = false;
            at = if let Some(known) = arena.child(directory, name) {
                known
            } else {
                is_new = true;
                let found = fill::root(&whole, name, false)?;
                let is_read = found.kind == crate::tree::Kind::Directory;
                let added = arena.add_one(Some(directory), &found, is_read);
                added.ok_or(io::ErrorKind::OutOfMemory)?.0
            };
        }
        let directory = arena.entries.directory(at).filter(|_| is_new);
        drop(arena);
        self.changed();
        let reading = directory.map(|directory| self.read(whole, directory, false));
        Ok((Id(u64::from(at)), reading.transpose()?))
    }

    /// Reads an entry and everything below it again, in the background. Returns its number, which
    /// is a new one unless it is a directory as before; or the number of the directory above if
    /// the entry is gone.
    ///
    /// # Errors
    ///
    /// `EBUSY` while the tree is being read; `ENOENT` if the tree does not have the entry;
    /// `ENOTDIR` if the top is no directory any more; the errors of statx(2) except `ENOENT`.
    pub fn read_again(self: &Arc<Self>, id: Id) -> io::Result<(Id, Option<Reading>)> {
        if self.reading.load(Ordering::Relaxed) {
            return Err(Errno::BUSY.into());
        }
        let mut arena = self.work();
        let index = arena.index(id).ok_or(Errno::NOENT)?;
        let relative = arena.path(index);
        let path = if relative.is_empty() {
            self.path.clone()
        } else {
            self.path.join(OsStr::from_bytes(&relative))
        };
        let is_top = index == TOP;
        let name = arena.entries.name(index).to_vec();
        let found = match fill::root(&path, &name, is_top) {
            Err(Errno::NOENT) if !is_top => None,
            found => Some(found?),
        };
        lock(&self.errors).retain(|error| !is_below(&error.path, &path));
        let is_read = found.is_some_and(|found| found.kind == crate::tree::Kind::Directory);
        let (id, root) = match (found, arena.entries.directory(index)) {
            (Some(found), Some(directory)) if is_read => {
                arena.renew(index, &found);
                (id, Some(directory))
            }
            _ if is_top => return Err(Errno::NOTDIR.into()),
            (found, _) => {
                let parent = arena.entries.parent(index);
                arena.remove(index, false);
                match found.and_then(|found| arena.add_one(Some(parent), &found, is_read)) {
                    Some((index, root)) => (Id(u64::from(index)), root),
                    None => (Id(u64::from(arena.directories.get(parent).entry)), None),
                }
            }
        };
        drop(arena);
        self.changed();
        let reading = root.map(|root| self.read(path, root, is_top)).transpose()?;
        Ok((id, reading))
    }

    /// Starts a walk that fills the directory `root`.
    fn read(self: &Arc<Self>, path: PathBuf, root: DirIndex, is_top: bool) -> io::Result<Reading> {
        self.reading.store(true, Ordering::Relaxed);
        let tree = Arc::clone(self);
        let run = move || {
            tree.fill(&path, root, is_top);
            tree.reading.store(false, Ordering::Release);
            tree.changed();
        };
        let thread = Builder::new()
            .name("walk".to_owned())
            .spawn(run)
            .map_err(no_thread)?;
        Ok(Reading {
            tree: Arc::clone(self),
            thread: Some(thread),
        })
    }

    fn fill(&self, path: &Path, root: DirIndex, is_top: bool) {
        let follow = if is_top {
            Follow::CommandLine
        } else {
            Follow::Never
        };
        let mut walk = Walk::new(path).fields(fill::FIELDS).follow(follow);
        if self.stays_on_device {
            walk = walk.stay(Stay::Device);
        }
        let outcome = (self.set_up)(walk).run(|_| Filler::new(self, root));
        drop(outcome);
        let mut arena = self.work();
        if arena.is_full {
            let why = "the tree has more entries or longer names than fit".to_owned();
            self.note_error(path.as_os_str().as_bytes(), why);
        }
        let directory = arena.directories.get_mut(root);
        if !directory.is_done && !self.stop.load(Ordering::Relaxed) {
            // The walk has not reached its root, or not the end of the root.
            directory.is_done = true;
            let entry = directory.entry;
            arena.fail(entry);
        }
    }

    /// Locks the tree for a short look.
    fn look(&self) -> MutexGuard<'_, Arena> {
        self.looking.fetch_add(1, Ordering::Relaxed);
        let arena = lock(&self.arena);
        self.looking.fetch_sub(1, Ordering::Relaxed);
        arena
    }

    /// Locks the tree for longer work. The screen goes first: the lock alone would be taken by one
    /// worker after the other, and a key waited up to 55 ms while two workers filled a tree.
    fn work(&self) -> MutexGuard<'_, Arena> {
        while self.looking.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
        lock(&self.arena)
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    fn note_error(&self, path: &[u8], reason: String) {
        let mut errors = lock(&self.errors);
        if errors.len() < MOST_ERRORS {
            errors.push(Unreadable {
                path: path.to_vec(),
                reason,
            });
        }
    }
}

/// Returns true if a path is `above` or below it.
fn is_below(path: &[u8], above: &Path) -> bool {
    Path::new(OsStr::from_bytes(path)).starts_with(above)
}

/// A name in the tree has at most 255 bytes, the path of the top may have more.
fn cut_to_name(path: &[u8]) -> &[u8] {
    &path[path.len().saturating_sub(255)..]
}
