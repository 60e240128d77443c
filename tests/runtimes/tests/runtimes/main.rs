//! Runs the same program in each runtime. Only the way to start a task differs.
//!
//! | file | contents |
//! |---|---|
//! | `own_loop.rs` | the event loop of a program without a runtime, on the `io-uring` crate |

mod own_loop;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, join};
use ringwalk::aio::{Dir, Open};
use ringwalk::{EntryBuffer, Fields, FileType, Walk};
use std::ffi::OsStr;
use std::fs;
use std::future::Future;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Number of entries, and bytes of files.
type Sums = (u64, u64);

/// Returns a tree and its sums.
fn tree() -> &'static (TempDir, Sums) {
    static TREE: OnceLock<(TempDir, Sums)> = OnceLock::new();
    TREE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut sums = (0, 0);
        for number in 0..60 {
            let below = dir.path().join(format!("{number}/below"));
            fs::create_dir_all(&below).unwrap();
            sums.0 += 2;
            for file in 0_u8..40 {
                fs::write(below.join(format!("file {file}")), vec![0; file.into()]).unwrap();
                sums.0 += 1;
                sums.1 += u64::from(file);
            }
        }
        for file in 0..3000 {
            fs::write(dir.path().join(format!("{file:0>20}")), "").unwrap();
            sums.0 += 1;
        }
        (dir, sums)
    })
}

/// Starts a task, and waits for its result.
trait Spawn: Clone + Send + Sync + 'static {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>>;
}

/// Returns the sums of a directory and everything below it, with one task for each directory.
fn sums<S: Spawn>(spawn: S, open: Open) -> BoxFuture<'static, io::Result<Sums>> {
    async move {
        let mut dir = open.read_plus(Fields::SIZE).await?;
        let (mut entries, mut bytes) = (0, 0);
        let mut batch = EntryBuffer::new();
        let mut below = Vec::new();
        while dir.next_batch(&mut batch).await? > 0 {
            for entry in batch.iter() {
                entries += 1;
                if entry.file_type() == FileType::Directory {
                    let open = dir.open_at(Path::new(OsStr::from_bytes(entry.name())));
                    below.push(spawn.spawn(sums(spawn.clone(), open)));
                } else {
                    bytes += entry.metadata().unwrap().size().unwrap();
                }
            }
        }
        for task in below {
            let (more, more_bytes) = task.await?;
            entries += more;
            bytes += more_bytes;
        }
        dir.close().await?;
        Ok((entries, bytes))
    }
    .boxed()
}

/// Reads in one task: single entries, metadata of some of them, and a stream of the whole tree.
async fn one_task() {
    let (tree, (entries, _)) = tree();
    let mut dir = Dir::open(tree.path()).await.unwrap();
    let mut seen = 0;
    while let Some(entry) = StreamExt::next(&mut dir).await {
        let entry = entry.unwrap();
        if seen % 100 == 0 {
            dir.metadata(&entry).await.unwrap();
        }
        seen += 1;
    }
    assert_eq!(seen, 3060);
    let walked = Walk::new(tree.path()).stream().unwrap();
    let walked = walked.map(Result::unwrap).count().await;
    // The walk shows the root too.
    assert_eq!(walked as u64, entries + 1);
}

/// Reads a directory, and asks for the size of each file in two ways at once: by Ringwalk, and by
/// `ask`, which is the runtime's own.
async fn beside<F: Future<Output = io::Result<u64>>>(ask: impl Fn(PathBuf) -> F) {
    let (tree, _) = tree();
    let mut dir = Dir::open(tree.path().join("0/below")).await.unwrap();
    let mut files = 0;
    while let Some(entry) = dir.next().await {
        let entry = entry.unwrap();
        let path = dir.path().unwrap().join(entry.file_name());
        let (theirs, ours) = join(ask(path), dir.metadata(&entry)).await;
        assert_eq!(Some(theirs.unwrap()), ours.unwrap().size());
        files += 1;
    }
    assert_eq!(files, 40);
    dir.close().await.unwrap();
}

#[derive(Clone)]
struct Tokio;

impl Spawn for Tokio {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        tokio::spawn(task).map(Result::unwrap).boxed()
    }
}

#[test]
fn tokio_of_both_kinds() {
    let (tree, expected) = tree();
    for runtime in [
        tokio::runtime::Builder::new_current_thread().build(),
        tokio::runtime::Builder::new_multi_thread().build(),
    ] {
        let runtime = runtime.unwrap();
        let found = runtime.block_on(sums(Tokio, Dir::open(tree.path())));
        assert_eq!(found.unwrap(), *expected);
        runtime.block_on(one_task());
    }
}

#[derive(Clone)]
struct Smol(Arc<smol::Executor<'static>>);

impl Spawn for Smol {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        self.0.spawn(task).boxed()
    }
}

#[test]
fn smol() {
    let (tree, expected) = tree();
    let executor = Arc::new(smol::Executor::new());
    let spawn = Smol(Arc::clone(&executor));
    let found = smol::block_on(executor.run(sums(spawn, Dir::open(tree.path()))));
    assert_eq!(found.unwrap(), *expected);
    smol::block_on(one_task());
}

#[derive(Clone)]
struct Pool(futures::executor::ThreadPool);

impl Spawn for Pool {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        use futures::task::SpawnExt;
        self.0.spawn_with_handle(task).unwrap().boxed()
    }
}

#[test]
fn executors_of_futures() {
    let (tree, expected) = tree();
    let pool = futures::executor::ThreadPool::builder()
        .pool_size(3)
        .create()
        .unwrap();
    let found = futures::executor::block_on(sums(Pool(pool), Dir::open(tree.path())));
    assert_eq!(found.unwrap(), *expected);
    futures::executor::block_on(one_task());
    let mut local = futures::executor::LocalPool::new();
    local.run_until(one_task());
}

#[derive(Clone)]
struct Compio;

impl Spawn for Compio {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        // Compio's handles stay on their thread, so a channel passes the result on.
        let (sender, receiver) = futures::channel::oneshot::channel();
        compio::runtime::spawn(async move {
            let _ = sender.send(task.await);
        })
        .detach();
        receiver.map(Result::unwrap).boxed()
    }
}

#[derive(Clone)]
struct TokioUring;

impl Spawn for TokioUring {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        tokio_uring::spawn(task).map(Result::unwrap).boxed()
    }
}

/// Returns the size of a file of less than 100 bytes, by reading it on the ring of tokio-uring.
async fn read_by_tokio_uring(path: PathBuf) -> io::Result<u64> {
    let file = tokio_uring::fs::File::open(path).await?;
    let (read, _) = file.read_at(vec![0; 100], 0).await;
    file.close().await?;
    Ok(read?.try_into().unwrap())
}

/// The runtime waits in tokio for its ring and for wake-ups.
#[test]
fn tokio_uring() {
    let (tree, expected) = tree();
    let runtime = match tokio_uring::Runtime::new(&tokio_uring::builder()) {
        Ok(runtime) => runtime,
        // The system refuses rings.
        Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
    };
    let found = runtime.block_on(sums(TokioUring, Dir::open(tree.path())));
    assert_eq!(found.unwrap(), *expected);
    runtime.block_on(one_task());
    runtime.block_on(beside(read_by_tokio_uring));
}

impl Spawn for own_loop::Spawner {
    fn spawn(
        &self,
        task: impl Future<Output = io::Result<Sums>> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<Sums>> {
        let (task, result) = task.remote_handle();
        self.start(task.boxed());
        result.boxed()
    }
}

/// A program that has only a ring of the `io-uring` crate, with requests of its own on it.
#[test]
fn own_loop_of_io_uring() {
    let (tree, expected) = tree();
    let own = match own_loop::EventLoop::new() {
        Ok(own) => own,
        // The system refuses rings.
        Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
    };
    let found = own.block_on(sums(own.spawner(), Dir::open(tree.path())));
    assert_eq!(found.unwrap(), *expected);
    own.block_on(one_task());
    own.block_on(beside(async |path: PathBuf| {
        Ok(own.statx(&path).await?.stx_size)
    }));
}

/// Compio polls on its own ring, and other threads wake it.
#[test]
fn compio() {
    let (tree, expected) = tree();
    let runtime = match compio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        // The system refuses rings.
        Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
    };
    let found = runtime.block_on(sums(Compio, Dir::open(tree.path())));
    assert_eq!(found.unwrap(), *expected);
    runtime.block_on(one_task());
}
