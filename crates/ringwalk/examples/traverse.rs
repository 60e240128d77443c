//! Adds up the entries and the bytes below a directory: a task a directory, on tokio's runtime.
//!
//! ```text
//! $ cargo run --release -p ringwalk --features async --example traverse -- /usr
//! 83730 entries, 1320102018 bytes
//! ```
//!
//! What could not be read is named on standard error, and the exit status is 1 then. `bench/run async` measures this beside
//! the same program written with `tokio::fs`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, ffi::OsStr, io};

use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, EntryRef, Fields, FileType};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{AcquireError, Semaphore};

/// Directories that are open at a time: far from what a process may have, and more than a disk works on at once.
const AT_A_TIME: usize = 256;

/// What the tasks share.
struct Totals {
    /// One for each open directory.
    permits: Semaphore,
    entries: AtomicU64,
    bytes: AtomicU64,
}

/// A task's share. The walk is over when every task has let go of its own.
#[derive(Clone)]
struct Walk {
    totals: Arc<Totals>,
    /// What could not be read.
    errors: UnboundedSender<io::Error>,
}

impl Walk {
    /// Starts the task of a directory.
    fn start(&self, path: PathBuf) {
        let walk = self.clone();
        tokio::spawn(async move {
            if let Err(error) = walk.read(&path).await {
                walk.failed(error);
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
            let sizes = batch.iter().map(|entry| self.size(path, &entry));
            let bytes = sizes.sum();
            let entries = batch.len() as u64;
            self.totals.entries.fetch_add(entries, Ordering::Relaxed);
            self.totals.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The size of an entry; if it is a directory, it is read as well.
    fn size(&self, path: &Path, entry: &EntryRef<'_>) -> u64 {
        let place = || path.join(OsStr::from_bytes(entry.name()));
        if let Some(errno) = entry.stat_error() {
            let message = format!("{}: {errno}", place().display());
            self.failed(io::Error::new(errno.kind(), message));
        }
        if entry.file_type() == FileType::Directory {
            self.start(place());
        }
        entry.metadata().map_or(0, |metadata| metadata.size)
    }

    fn failed(&self, error: io::Error) {
        // Whoever has ended listening has ended the runtime, too.
        let _ = self.errors.send(error);
    }
}

/// Walks everything below `root`, and prints what could not be read as it is found; returns entries, bytes, and how many errors.
async fn traverse(root: PathBuf) -> (u64, u64, u64) {
    let totals = Arc::new(Totals {
        permits: Semaphore::new(AT_A_TIME),
        entries: 0.into(),
        bytes: 0.into(),
    });
    let (errors, mut failed) = unbounded_channel();
    let walk = Walk {
        totals: Arc::clone(&totals),
        errors,
    };
    walk.start(root);
    drop(walk);
    let mut count = 0;
    while let Some(error) = failed.recv().await {
        eprintln!("traverse: {error}");
        count += 1;
    }
    let read = |total: &AtomicU64| total.load(Ordering::Relaxed);
    (read(&totals.entries), read(&totals.bytes), count)
}

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(root), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: traverse DIR");
        return ExitCode::from(2);
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("traverse: the runtime could not be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (entries, bytes, errors) = runtime.block_on(traverse(root.into()));
    println!("{entries} entries, {bytes} bytes");
    if errors == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
