//! Adds up the entries and the bytes below a directory on tokio's runtime: with one task for each
//! directory, or with `--stream` with one task that takes the batches of a walk.
//!
//! ```text
//! $ cargo run --release -p ringwalk --features async --example traverse -- /usr
//! 83730 entries, 1320102018 bytes
//! ```
//!
//! The first way is for programs that do something for each directory and decide themselves which
//! directories are read. The second way is faster: the engine knows which directory comes next, and
//! may read from the block device.
//!
//! Errors go to standard error, and the exit status is 1 then. `bench/run async` compares this with
//! the same program written with `tokio::fs`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, ffi::OsStr, io};

use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, EntryRef, Fields, FileType, Walk};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{AcquireError, Semaphore};

/// Directories that are open at a time: far fewer than a process may open, and more than a disk
/// works on at once.
const AT_A_TIME: usize = 256;

/// The counts that the tasks share.
struct Totals {
    /// One for each open directory.
    permits: Semaphore,
    entries: AtomicU64,
    bytes: AtomicU64,
}

/// A task's share of the walk, which is over when every task has dropped its own.
#[derive(Clone)]
struct Tasks {
    totals: Arc<Totals>,
    /// Errors, to be printed.
    errors: UnboundedSender<io::Error>,
}

impl Tasks {
    /// Starts the task of a directory.
    fn start(&self, path: PathBuf) {
        let tasks = self.clone();
        tokio::spawn(async move {
            if let Err(error) = tasks.read(&path).await {
                tasks.failed(error);
            }
        });
    }

    /// Reads a directory, and starts a task for each directory in it.
    async fn read(&self, path: &Path) -> io::Result<()> {
        let permit = self.totals.permits.acquire().await;
        let _permit = permit.map_err(|closed: AcquireError| io::Error::other(closed))?;
        let mut dir = Dir::open(path).read_plus(Fields::SIZE).await?;
        let mut batch = EntryBuffer::new();
        while dir.next_batch(&mut batch).await? > 0 {
            let sizes = batch.iter().filter_map(|entry| self.size(path, &entry));
            let bytes = sizes.sum();
            let entries = batch.len() as u64;
            self.totals.entries.fetch_add(entries, Ordering::Relaxed);
            self.totals.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the size of an entry, if it is known. If the entry is a directory, starts reading
    /// that as well.
    fn size(&self, path: &Path, entry: &EntryRef<'_>) -> Option<u64> {
        let place = || path.join(OsStr::from_bytes(entry.name()));
        if let Some(errno) = entry.stat_error() {
            let message = format!("{}: {errno}", place().display());
            self.failed(io::Error::new(errno.kind(), message));
        }
        if entry.file_type() == FileType::Directory {
            self.start(place());
        }
        entry.metadata()?.size()
    }

    fn failed(&self, error: io::Error) {
        // If the receiver was dropped, the runtime has ended, too.
        let _ = self.errors.send(error);
    }
}

/// Walks everything below `root`, and prints errors as they come. Returns entries, bytes, and the
/// number of errors.
async fn traverse(root: PathBuf) -> (u64, u64, u64) {
    let totals = Arc::new(Totals {
        permits: Semaphore::new(AT_A_TIME),
        entries: 0.into(),
        bytes: 0.into(),
    });
    let (errors, mut failed) = unbounded_channel();
    let tasks = Tasks {
        totals: Arc::clone(&totals),
        errors,
    };
    tasks.start(root);
    drop(tasks);
    let mut count = 0;
    while let Some(error) = failed.recv().await {
        eprintln!("traverse: {error}");
        count += 1;
    }
    let read = |total: &AtomicU64| total.load(Ordering::Relaxed);
    (read(&totals.entries), read(&totals.bytes), count)
}

/// Does the same with one task. The walk runs on threads of its own, and waits while this task is
/// too slow for it.
async fn stream(root: PathBuf) -> io::Result<(u64, u64, u64)> {
    let mut walk = Walk::new(root).fields(Fields::SIZE).stream()?;
    let (mut entries, mut bytes, mut errors) = (0, 0, 0);
    while let Some(batch) = walk.next_batch().await {
        match batch {
            // The root itself is not counted.
            Ok(batch) if batch.directory().is_none() => {}
            Ok(batch) => {
                let sizes = batch.entries().iter().filter_map(|e| e.metadata()?.size());
                bytes += sizes.sum::<u64>();
                entries += batch.entries().len() as u64;
            }
            Err(error) => {
                eprintln!("traverse: {error}");
                errors += 1;
            }
        }
    }
    Ok((entries, bytes, errors))
}

fn main() -> ExitCode {
    let mut arguments: Vec<_> = env::args_os().skip(1).collect();
    let streamed = arguments.first().is_some_and(|word| word == "--stream");
    if streamed {
        arguments.remove(0);
    }
    let [root] = arguments.as_slice() else {
        eprintln!("usage: traverse [--stream] DIR");
        return ExitCode::from(2);
    };
    let root = PathBuf::from(root);
    let runtime = tokio::runtime::Builder::new_multi_thread().build();
    let found = runtime.and_then(|runtime| {
        runtime.block_on(async {
            if streamed {
                stream(root).await
            } else {
                Ok(traverse(root).await)
            }
        })
    });
    match found {
        Ok((entries, bytes, errors)) => {
            println!("{entries} entries, {bytes} bytes");
            if errors == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("traverse: no thread could be started: {error}");
            ExitCode::FAILURE
        }
    }
}
