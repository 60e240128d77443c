//! Hashing many files at once, with the results in the order of the files.
//!
//! ```text
//!  files ── batches, sorted by inode number ──> Crew ── digest or fault ──> Sequence ──> done
//!    ^                     parts of a batch, each for one worker              │
//!    └──────────── no more than WINDOW files without a result <───────────────┘
//! ```
//!
//! A file that was changed so short a time ago that another change could go unnoticed
//! ([`ringwalk::time_stamps`]) is put aside. One worker waits for all such files, two seconds at
//! most, while the others go on. Then the file becomes a task of its own.

use crate::crew::Crew;
use crate::file_permits::{FilePermits, Permits, file_permits, most_workers};
use crate::hasher::Hasher;
use crate::large::LargeFile;
use crate::multi_file::{MULTI_BYTES, MULTI_FILES, MultiFileReader, suits_multi_file_reads};
use crate::read::{ReadBuffer, read_range};
use crate::sequence::Sequence;
use crate::{Algorithm, Digest, Fault, FileVersion, OpenFile, OpenRoot};
use ringwalk::Errno;
use ringwalk::time_stamps::StampClocks;
use ringwalk_sys::sync::lock;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

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
    /// How many files all workers may have open beside one each, to read many by one call.
    pub file_permits: usize,
}

impl HashOptions {
    /// Returns the options for this function and number of workers, with the
    /// [`file_permits`] that the process has now.
    pub fn new(algorithm: Algorithm, workers: Option<NonZeroUsize>) -> Self {
        Self {
            algorithm,
            workers,
            file_permits: file_permits(workers, 0),
        }
    }

    /// Returns the most descriptors that [`hash_files`] has open at a time: a file and a ring for
    /// each worker, and the files of `file_permits`. A walk beside it must leave that many free.
    /// Returns `None` without permits: then each worker has one file open.
    pub fn descriptor_reserve(&self) -> Option<usize> {
        let of_workers = most_workers(self.workers).saturating_mul(2);
        let permits = self.file_permits;
        (permits > 0).then(|| permits.saturating_add(of_workers))
    }
}

/// What a worker keeps from file to file.
struct Scratch {
    buffer: ReadBuffer,
    hasher: Hasher,
    multi_file: MultiFileReader,
    /// Devices, and whether small files there are read many by one call.
    devices: Vec<(u64, bool)>,
}

impl Scratch {
    fn new(algorithm: Algorithm) -> Self {
        Self {
            buffer: ReadBuffer::default(),
            hasher: Hasher::new(algorithm),
            multi_file: MultiFileReader::default(),
            devices: Vec::new(),
        }
    }

    fn suits_multi_file_reads(&mut self, file: &OpenFile) -> bool {
        let dev = file.version().dev;
        let known = self.devices.iter().find(|(known, _)| *known == dev);
        if let Some((_, suits)) = known {
            return *suits;
        }
        let suits = suits_multi_file_reads(file.file().as_fd());
        self.devices.push((dev, suits));
        suits
    }
}

enum Task<C> {
    /// Files with their numbers. There is at least one.
    Files(Vec<(u64, FileToHash<C>)>),
    /// Wait for the young files that were put aside.
    Wait,
    Young(YoungFile<C>),
    Piece(Arc<Shared<C>>),
}

/// A file that was changed a moment ago.
struct YoungFile<C> {
    number: u64,
    file: FileToHash<C>,
    /// The version that was seen.
    seen: FileVersion,
    /// When it is sure, if it is still the same.
    sure_from: Instant,
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
/// A file that is changed while it is read, or while it is too young to be read, has no hash but
/// [`Fault::Changed`]. Changes through a
/// shared mapping of the file (mmap(2)) can stay unseen: the kernel may set the times later.
///
/// Each worker has a buffer of 256 KiB, and another one for small files that are read by one call.
/// A worker that reads a large file past the page cache has 8 MiB more; there are at most as many
/// of these as CPUs. [`HashOptions::descriptor_reserve`] has the number of open files.
///
/// # Errors
///
/// If no thread can be started. Nothing has been done then.
pub fn hash_files<C: Send + Sync>(
    files: impl Iterator<Item = FileToHash<C>>,
    options: &HashOptions,
    done: impl FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()> + Send,
) -> io::Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let job = Job {
        clocks: StampClocks::default(),
        young: Mutex::default(),
        algorithm: options.algorithm,
        sharers: options.workers.map_or(cpus, NonZeroUsize::get).min(cpus),
        crew: Crew::default(),
        permits: FilePermits::new(options.file_permits),
        sequence: Sequence::new(done),
    };
    let work = |task: Task<C>, scratch: &mut Scratch| match task {
        Task::Files(files) => job.hash_part(files, scratch),
        Task::Wait => job.wait_for_young(),
        Task::Young(young) => job.hash_young(young, scratch),
        Task::Piece(shared) => job.share(&shared, scratch),
    };
    let scratch = || Scratch::new(options.algorithm);
    job.crew.run(options.workers, scratch, work, || {
        produce(files, &job.sequence, &job.crew);
    })
}

/// What all workers have in common.
struct Job<C: Send, D> {
    algorithm: Algorithm,
    clocks: StampClocks,
    /// Files that were put aside. While there are any, a worker has the task to wait for them.
    young: Mutex<Vec<YoungFile<C>>>,
    /// The workers that share a large file.
    sharers: usize,
    crew: Crew<Task<C>>,
    permits: FilePermits,
    sequence: Sequence<C, D>,
}

impl<C: Send, D> Job<C, D>
where
    D: FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()>,
{
    /// Hashes files up to the first that takes long, and gives the rest to other workers.
    fn hash_part(&self, files: Vec<(u64, FileToHash<C>)>, scratch: &mut Scratch) {
        let mut pending = PendingFiles::new(self.permits.take(files.len() - 1));
        if self.permits.is_closed() {
            scratch.multi_file.close();
        }
        let mut files = files.into_iter();
        while let Some((number, file)) = files.next() {
            if self.sequence.is_over() {
                return;
            }
            let opened = match self.open(&file, &mut pending, scratch) {
                Ok(opened) => opened,
                Err(fault) => {
                    self.sequence.give(number, file.context, Err(fault));
                    continue;
                }
            };
            if let Some(time) = opened.unsure_for() {
                self.put_aside(YoungFile {
                    number,
                    file,
                    seen: *opened.version(),
                    sure_from: Instant::now() + time,
                });
                continue;
            }
            let suits = scratch.suits_multi_file_reads(&opened);
            if suits && opened.version().size <= MULTI_BYTES {
                pending.push(number, file.context, opened);
                if pending.is_full() {
                    self.hash_pending(&mut pending, scratch);
                }
                continue;
            }
            // This file takes long. Other workers begin with the rest.
            push_rest(&self.crew, files, suits);
            self.hash_pending(&mut pending, scratch);
            drop(pending);
            self.hash_alone(number, file, opened, scratch);
            return;
        }
        self.hash_pending(&mut pending, scratch);
    }

    fn put_aside(&self, file: YoungFile<C>) {
        let mut young = lock(&self.young);
        young.push(file);
        if young.len() == 1 {
            self.crew.push(Task::Wait);
        }
    }

    /// Waits until a file that was put aside is sure, and makes tasks of those that are.
    fn wait_for_young(&self) {
        if self.sequence.is_over() {
            return;
        }
        let first = lock(&self.young).iter().map(|file| file.sure_from).min();
        let time = first.map(|first| first.saturating_duration_since(Instant::now()));
        thread::sleep(time.unwrap_or_default());
        let now = Instant::now();
        let mut young = lock(&self.young);
        let (sure, unsure) = young.drain(..).partition(|file| file.sure_from <= now);
        *young = unsure;
        if !young.is_empty() {
            self.crew.push(Task::Wait);
        }
        drop(young);
        for file in sure {
            self.crew.push(Task::Young(file));
        }
    }

    /// Hashes a file that is sure by now, if it is still the version that was seen.
    fn hash_young(&self, young: YoungFile<C>, scratch: &mut Scratch) {
        let YoungFile { number, file, .. } = young;
        let mut pending = PendingFiles::new(self.permits.take(0));
        match self.open(&file, &mut pending, scratch) {
            Ok(opened) if *opened.version() == young.seen => {
                self.hash_alone(number, file, opened, scratch);
            }
            Ok(_) => self
                .sequence
                .give(number, file.context, Err(Fault::Changed)),
            Err(fault) => self.sequence.give(number, file.context, Err(fault)),
        }
    }

    /// Opens a file, if it is the one that the caller means.
    fn open(
        &self,
        file: &FileToHash<C>,
        pending: &mut PendingFiles<'_, C>,
        scratch: &mut Scratch,
    ) -> Result<OpenFile, Fault> {
        let open = || OpenFile::open(&file.root, &file.path, &self.clocks);
        let mut opened = open();
        if let Err(Fault::Open(Errno::MFILE | Errno::NFILE)) = opened {
            // It is possible when the files of permits are closed.
            self.hash_pending(pending, scratch);
            scratch.multi_file.close();
            pending.permits.end_all();
            opened = open();
        }
        let opened = opened?;
        let found = opened.version();
        let is_wanted = file.only.is_none_or(|only| only == (found.dev, found.ino));
        is_wanted.then_some(opened).ok_or(Fault::Changed)
    }

    /// Hashes all files that are pending, and closes them.
    fn hash_pending(&self, pending: &mut PendingFiles<'_, C>, scratch: &mut Scratch) {
        let Scratch {
            buffer,
            hasher,
            multi_file,
            ..
        } = scratch;
        let mut results = Vec::with_capacity(pending.files.len());
        multi_file.read(&pending.files, |at, bytes| {
            let result = hash_read(&pending.files[at], bytes, hasher, buffer);
            results.push((at, result));
        });
        pending.files.clear();
        // In the order of the files, each of which has one result.
        results.sort_unstable_by_key(|(at, _)| *at);
        for ((number, context), (_, result)) in pending.callers.drain(..).zip(results) {
            self.sequence.give(number, context, result);
        }
    }

    /// Hashes a file that is read by itself, a large one together with other workers.
    fn hash_alone(
        &self,
        number: u64,
        file: FileToHash<C>,
        opened: OpenFile,
        scratch: &mut Scratch,
    ) {
        let is_large = LargeFile::is_large(opened.version().size);
        if self.algorithm != Algorithm::Blake3 || !is_large {
            let result = hash_open(&opened, &mut scratch.hasher, &mut scratch.buffer);
            self.sequence.give(number, file.context, result);
            return;
        }
        let shared = Arc::new(Shared {
            number,
            large: LargeFile::new(opened, &file.root, &file.path),
            context: Mutex::new(Some(file.context)),
        });
        for _ in 1..self.sharers {
            self.crew.push_first(Task::Piece(Arc::clone(&shared)));
        }
        self.share(&shared, scratch);
    }

    fn share(&self, shared: &Shared<C>, scratch: &mut Scratch) {
        if let Some(result) = shared.large.work(&mut scratch.buffer)
            && let Some(context) = lock(&shared.context).take()
        {
            self.sequence.give(shared.number, context, result);
        }
    }
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
    while !batch.is_empty() {
        let part = batch.drain(..batch.len().min(MULTI_FILES)).collect();
        crew.push(Task::Files(part));
    }
}

/// Gives files back to the crew, before all others: as one task if small ones are read many by one
/// call, otherwise each by itself, because opening one may take long.
fn push_rest<C: Send>(
    crew: &Crew<Task<C>>,
    files: impl DoubleEndedIterator<Item = (u64, FileToHash<C>)>,
    suits_multi_file_reads: bool,
) {
    if suits_multi_file_reads {
        let rest: Vec<_> = files.collect();
        if !rest.is_empty() {
            crew.push_first(Task::Files(rest));
        }
    } else {
        // The task that is pushed last is taken first.
        for file in files.rev() {
            crew.push_first(Task::Files(vec![file]));
        }
    }
}

/// Open files that are to be read by one call.
struct PendingFiles<'p, C> {
    files: Vec<OpenFile>,
    /// The numbers of the files, and what the caller knows them by.
    callers: Vec<(u64, C)>,
    /// Given back after the files are closed.
    permits: Permits<'p>,
}

impl<'p, C> PendingFiles<'p, C> {
    fn new(permits: Permits<'p>) -> Self {
        Self {
            files: Vec::new(),
            callers: Vec::new(),
            permits,
        }
    }

    fn push(&mut self, number: u64, context: C, file: OpenFile) {
        self.files.push(file);
        self.callers.push((number, context));
    }

    fn is_full(&self) -> bool {
        self.files.len() == 1 + self.permits.count()
    }
}

/// Hashes a file. `bytes` are its contents, if they were read.
fn hash_read(
    file: &OpenFile,
    bytes: Option<&[u8]>,
    hasher: &mut Hasher,
    buffer: &mut [u8],
) -> Result<Digest, Fault> {
    let Some(bytes) = bytes else {
        return hash_open(file, hasher, buffer);
    };
    hasher.update(bytes);
    let digest = hasher.finish();
    file.check_unchanged()?;
    Ok(digest)
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
    let clocks = StampClocks::default();
    let mut open = OpenFile::open(root, path, &clocks)?;
    if let Some(time) = open.unsure_for() {
        let seen = *open.version();
        thread::sleep(time);
        open = OpenFile::open(root, path, &clocks)?;
        if *open.version() != seen {
            return Err(Fault::Changed);
        }
    }
    hash_open(
        &open,
        &mut Hasher::new(algorithm),
        &mut ReadBuffer::default(),
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

    use super::*;
    use crate::sequence::WINDOW;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let contents = |at: usize| {
            vec![at as u8; (at * 37) % 5000 + if at.is_multiple_of(500) { 5 << 20 } else { 0 }]
        };
        let files = 2000;
        for at in (0..files).filter(|at| at % 7 != 3) {
            fs::write(folder.path().join(at.to_string()), contents(at)).unwrap();
        }
        let root = Arc::new(OpenRoot::open(folder.path()).unwrap());
        for algorithm in [Algorithm::Blake3, Algorithm::Sha256] {
            let list = (0..files).map(|at| FileToHash {
                root: Arc::clone(&root),
                path: at.to_string().into(),
                // Not the order of the files.
                ino: (at * 7919 % files) as u64,
                only: None,
                context: at,
            });
            let mut results = Vec::new();
            hash_files(list, &HashOptions::new(algorithm, None), |hashed| {
                results.append(hashed);
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(results.len(), files);
            for (at, (context, result)) in results.into_iter().enumerate() {
                assert_eq!(context, at);
                if at % 7 == 3 {
                    assert_eq!(result.unwrap_err(), Fault::Open(ringwalk::Errno::NOENT));
                    continue;
                }
                let mut hasher = Hasher::new(algorithm);
                hasher.update(&contents(at));
                assert_eq!(result, Ok(hasher.finish()), "{at}");
            }
        }
    }

    #[test]
    fn it_ends_when_the_caller_has_enough() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let asked = AtomicUsize::new(0);
        let endless = std::iter::repeat_with(|| {
            asked.fetch_add(1, Ordering::Relaxed);
            FileToHash {
                root: Arc::new(OpenRoot::Working),
                path: file.path().to_owned(),
                ino: 0,
                only: None,
                context: (),
            }
        });
        let mut calls = 0;
        let mut given = 0;
        hash_files(endless, &HashOptions::default(), |hashed| {
            assert!(hashed.iter().all(|((), result)| result.is_ok()));
            calls += 1;
            given += hashed.len() as u64;
            if calls == 10 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
        assert_eq!(calls, 10);
        // Files that workers were at when it ended may still make room for as many.
        let most = given + WINDOW + 2 * crate::MOST as u64;
        assert!(asked.into_inner() as u64 <= most);
    }

    #[test]
    fn another_file_at_the_path_has_no_hash() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open =
            OpenFile::open(&OpenRoot::Working, file.path(), &StampClocks::default()).unwrap();
        let (dev, ino) = (open.version().dev, open.version().ino);
        let of = |only| FileToHash {
            root: Arc::new(OpenRoot::Working),
            path: file.path().to_owned(),
            ino,
            only: Some(only),
            context: (),
        };
        let list = [(dev, ino), (dev, ino + 1), (dev + 1, ino)].map(of);
        let mut results = Vec::new();
        hash_files(list.into_iter(), &HashOptions::default(), |hashed| {
            results.extend(hashed.drain(..).map(|((), result)| result));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(results[0].is_ok());
        assert_eq!(results[1..], [Err(Fault::Changed); 2]);
    }

    #[test]
    fn files_of_procfs_have_contents() {
        let digest = hash_file(
            &OpenRoot::Working,
            Path::new("/proc/version"),
            Algorithm::Sha256,
        );
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(&fs::read("/proc/version").unwrap());
        assert_eq!(digest, Ok(hasher.finish()));
    }
}
