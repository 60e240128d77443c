//! Hashing many files at once, with the results in the order of the files.
//!
//! ```text
//!  files ── batches, sorted by inode number ──> Crew ── digest or fault ──> Sequence ──> done
//!    ^                                                                        │
//!    └──────────── no more than WINDOW files without a result <───────────────┘
//! ```

use crate::crew::Crew;
use crate::hasher::Hasher;
use crate::large::LargeFile;
use crate::read::{ReadBuffer, read_range};
use crate::{Algorithm, Digest, Fault, OpenFile, OpenRoot};
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

/// The most files whose results are awaited or held. A file takes some 200 bytes meanwhile.
const WINDOW: u64 = 16_384;

/// Files that are sorted by inode number before they are read. Most file systems have the inodes,
/// and the contents of files that were written together, in that order on the disk.
const BATCH: usize = 1024;

/// A file to hash.
#[derive(Debug)]
pub struct FileToHash<C> {
    /// The place that the path begins at.
    pub root: Arc<OpenRoot>,
    /// The path from there.
    pub path: PathBuf,
    /// The inode number, or 0 if it is not known. Files are read in its order.
    pub ino: u64,
    /// Device and inode number of the only file to hash. Another file that has the path by now gets
    /// no hash but [`Fault::Changed`]. `None` takes any file.
    pub only: Option<(u64, u64)>,
    /// What the caller knows the file by.
    pub context: C,
}

/// How files are hashed.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HashOptions {
    /// The hash function.
    pub algorithm: Algorithm,
    /// Number of workers. `None` lets it adapt: as many as CPUs while files are in memory, up to 64
    /// while reads wait.
    pub workers: Option<NonZeroUsize>,
}

impl HashOptions {
    /// Returns the options for this function, with a number of workers that adapts.
    pub fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            workers: None,
        }
    }
}

/// What a worker keeps from file to file.
struct Scratch {
    buffer: ReadBuffer,
    hasher: Hasher,
}

enum Task<C> {
    File(u64, FileToHash<C>),
    Piece(Arc<Shared<C>>),
}

/// A large file, on which several workers are.
struct Shared<C> {
    number: u64,
    large: LargeFile,
    /// Taken by the worker that has the result.
    context: Mutex<Option<C>>,
}

/// A file by what its caller knows it by, and its digest, or why it has none.
pub type Hashed<C> = (C, Result<Digest, Fault>);

/// Hashes files, and gives all results to `done`, in the order of `files`, as many at a time as
/// have come. `files` is asked on the calling thread, `done` is called on any thread, and never by
/// two at a time. If `done` breaks, it is not called again, and no more files are opened.
///
/// A file that is changed while it is read has no hash but [`Fault::Changed`]. Changes through a
/// shared mapping of the file (mmap(2)) can stay unseen: the kernel may set the times later.
///
/// Each worker has a buffer of 256 KiB. A worker that reads a large file past the page cache has 8
/// MiB more; there are at most as many of these as CPUs.
///
/// # Errors
///
/// If no thread can be started. Nothing has been done then.
pub fn hash_files<C: Send + Sync>(
    files: impl Iterator<Item = FileToHash<C>>,
    options: &HashOptions,
    done: impl FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()> + Send,
) -> io::Result<()> {
    let crew = Crew::default();
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let sequence = Sequence {
        state: Mutex::new(SequenceState {
            next: 0,
            later: BTreeMap::new(),
            ready: Vec::new(),
            is_over: false,
            done,
        }),
        moved: Condvar::new(),
    };
    let work = |task: Task<C>, scratch: &mut Scratch| match task {
        Task::File(number, file) => {
            if sequence.is_over() {
                return;
            }
            match begin(number, file, options.algorithm, scratch) {
                Begun::Done(context, result) => sequence.give(number, context, result),
                Begun::Large(shared) => {
                    for _ in 1..options.workers.map_or(cpus, NonZeroUsize::get).min(cpus) {
                        crew.push_first(Task::Piece(Arc::clone(&shared)));
                    }
                    share(&shared, &sequence, scratch);
                }
            }
        }
        Task::Piece(shared) => share(&shared, &sequence, scratch),
    };
    let scratch = || Scratch {
        buffer: ReadBuffer::default(),
        hasher: Hasher::new(options.algorithm),
    };
    crew.run(options.workers, scratch, work, || {
        produce(files, &sequence, &crew);
    })
}

/// Gives the files to the crew, sorted within batches.
fn produce<C: Send, D>(
    files: impl Iterator<Item = FileToHash<C>>,
    sequence: &Sequence<C, D>,
    crew: &Crew<Task<C>>,
) where
    D: FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()>,
{
    let mut batch = Vec::with_capacity(BATCH);
    for (number, file) in (0..).zip(files) {
        batch.push((number, file));
        // Idle workers get what there is.
        if batch.len() == BATCH || crew.waiting() == 0 {
            hand_over(&mut batch, crew);
        }
        if !sequence.wait_for_room(number, || hand_over(&mut batch, crew)) {
            return;
        }
    }
    hand_over(&mut batch, crew);
}

fn hand_over<C: Send>(batch: &mut Vec<(u64, FileToHash<C>)>, crew: &Crew<Task<C>>) {
    batch.sort_by_key(|(_, file)| file.ino);
    for (number, file) in batch.drain(..) {
        crew.push(Task::File(number, file));
    }
}

fn share<C: Send, D>(shared: &Shared<C>, sequence: &Sequence<C, D>, scratch: &mut Scratch)
where
    D: FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()>,
{
    if let Some(result) = shared.large.work(&mut scratch.buffer)
        && let Some(context) = lock(&shared.context).take()
    {
        sequence.give(shared.number, context, result);
    }
}

enum Begun<C> {
    Done(C, Result<Digest, Fault>),
    Large(Arc<Shared<C>>),
}

fn begin<C>(
    number: u64,
    file: FileToHash<C>,
    algorithm: Algorithm,
    scratch: &mut Scratch,
) -> Begun<C> {
    let FileToHash {
        root,
        path,
        only,
        context,
        ..
    } = file;
    let open = match OpenFile::open(&root, &path) {
        Ok(open) => open,
        Err(fault) => return Begun::Done(context, Err(fault)),
    };
    let found = open.version();
    if only.is_some_and(|only| only != (found.dev, found.ino)) {
        return Begun::Done(context, Err(Fault::Changed));
    }
    if algorithm == Algorithm::Blake3 && LargeFile::is_large(open.version().size) {
        return Begun::Large(Arc::new(Shared {
            number,
            large: LargeFile::new(open, &root, &path),
            context: Mutex::new(Some(context)),
        }));
    }
    let Scratch { buffer, hasher } = scratch;
    Begun::Done(context, hash_open(&open, hasher, buffer))
}

/// Hashes a file from its beginning to its end.
fn hash_open(file: &OpenFile, hasher: &mut Hasher, buffer: &mut [u8]) -> Result<Digest, Fault> {
    let size = file.version().size;
    let read = if size == 0 {
        // The files of procfs have no size, but contents.
        crate::read::read_to_end(file, buffer, |bytes| hasher.update(bytes))
    } else {
        crate::read::expect_whole(file);
        read_range(file, 0..size, buffer, |bytes| hasher.update(bytes))
    };
    let digest = hasher.finish();
    read?;
    file.check_unchanged()?;
    Ok(digest)
}

/// Hashes one file on the calling thread.
///
/// # Errors
///
/// Why the file has no hash.
pub fn hash_file(root: &OpenRoot, path: &Path, algorithm: Algorithm) -> Result<Digest, Fault> {
    let open = OpenFile::open(root, path)?;
    hash_open(
        &open,
        &mut Hasher::new(algorithm),
        &mut ReadBuffer::default(),
    )
}

/// Brings results into the order of the files.
struct Sequence<C, D> {
    state: Mutex<SequenceState<C, D>>,
    moved: Condvar,
}

struct SequenceState<C, D> {
    /// The number of results that were given to `done`.
    next: u64,
    later: BTreeMap<u64, Hashed<C>>,
    /// Those that are given to `done` next.
    ready: Vec<Hashed<C>>,
    is_over: bool,
    done: D,
}

impl<C, D: FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()>> Sequence<C, D> {
    fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    fn give(&self, number: u64, context: C, result: Result<Digest, Fault>) {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        state.later.insert(number, (context, result));
        while let Some(hashed) = state.later.remove(&state.next) {
            state.next += 1;
            state.ready.push(hashed);
        }
        if state.ready.is_empty() {
            return;
        }
        if !state.is_over && (state.done)(&mut state.ready).is_break() {
            state.is_over = true;
        }
        state.ready.clear();
        drop(guard);
        self.moved.notify_one();
    }

    /// Waits until the file behind `number` may be begun; `before_waiting` is called first, if it
    /// has to wait. Returns false if there is nothing more to do.
    fn wait_for_room(&self, number: u64, mut before_waiting: impl FnMut()) -> bool {
        let mut state = lock(&self.state);
        if !state.is_over && number >= state.next + WINDOW {
            drop(state);
            before_waiting();
            state = lock(&self.state);
        }
        while !state.is_over && number >= state.next + WINDOW {
            state = self.moved.wait(state).ignore_poison();
        }
        !state.is_over
    }
}

#[cfg(test)]
mod tests;
