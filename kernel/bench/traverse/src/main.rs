// SPDX-License-Identifier: GPL-2.0-only
//! Adds up the entries and the bytes below a directory with tokio, as the published measurement of
//! a directory opcode describes its peer: one task a directory, at most 256 directories at a time,
//! metadata awaited entry by entry.
//!
//! ```text
//! traverse current-thread|multi-thread DIR
//! 83675 files, 1320102018 bytes
//! ```
//!
//! tokio reads directories and metadata in threads: it asks for the entries of a directory a few at
//! a time, and for each metadata once, and the task waits for the thread. That is what is measured,
//! so nothing here avoids it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, io};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc};

/// Directories that are read at a time.
const AT_A_TIME: usize = 256;

/// What the tasks share.
struct Walk {
    /// One for each directory that is read.
    permits: Semaphore,
    files: AtomicU64,
    bytes: AtomicU64,
}

/// Where a task says why it stopped; the walk is over when every task has let go of its own.
type Errors = mpsc::UnboundedSender<(PathBuf, io::Error)>;

/// Starts the task of a directory.
fn start(walk: Arc<Walk>, errors: Errors, path: PathBuf) {
    tokio::spawn(async move {
        if let Err(error) = read(&walk, &errors, path.clone()).await {
            // Nobody listens any more once the first error was reported.
            let _ = errors.send((path, error));
        }
    });
}

/// Reads a directory and starts a task for each directory in it.
async fn read(walk: &Arc<Walk>, errors: &Errors, path: PathBuf) -> io::Result<()> {
    let _permit = walk.permits.acquire().await.map_err(io::Error::other)?;
    let mut entries = tokio::fs::read_dir(path).await?;
    while let Some(entry) = entries.next_entry().await? {
        let metadata = entry.metadata().await?;
        walk.files.fetch_add(1, Ordering::Relaxed);
        walk.bytes.fetch_add(metadata.len(), Ordering::Relaxed);
        if metadata.is_dir() {
            start(Arc::clone(walk), errors.clone(), entry.path());
        }
    }
    Ok(())
}

/// Walks everything below `root`; returns files and bytes.
async fn traverse(root: PathBuf) -> Result<(u64, u64), (PathBuf, io::Error)> {
    let walk = Arc::new(Walk {
        permits: Semaphore::new(AT_A_TIME),
        files: 0.into(),
        bytes: 0.into(),
    });
    let (errors, mut failed) = mpsc::unbounded_channel();
    start(Arc::clone(&walk), errors, root);
    match failed.recv().await {
        Some(error) => Err(error),
        None => Ok((
            walk.files.load(Ordering::Relaxed),
            walk.bytes.load(Ordering::Relaxed),
        )),
    }
}

/// The runtime of that name.
fn runtime(name: &str) -> Option<io::Result<Runtime>> {
    match name {
        "current-thread" => Some(Builder::new_current_thread().build()),
        "multi-thread" => Some(Builder::new_multi_thread().build()),
        _ => None,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [kind, root] = arguments.as_slice() else {
        return usage();
    };
    let Some(runtime) = kind.to_str().and_then(runtime) else {
        return usage();
    };
    let walked = match runtime {
        Ok(runtime) => runtime.block_on(traverse(root.into())),
        Err(error) => Err((root.into(), error)),
    };
    match walked {
        Ok((files, bytes)) => {
            println!("{files} files, {bytes} bytes");
            ExitCode::SUCCESS
        }
        Err((path, error)) => {
            eprintln!("traverse: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: traverse current-thread|multi-thread DIR");
    ExitCode::from(2)
}
