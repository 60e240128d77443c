//! Runs the same program in each runtime. Only the way to start a task differs.

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use ringwalk::aio::{Dir, Open};
use ringwalk::{EntryBuffer, Fields, FileType, Walk};
use std::ffi::OsStr;
use std::fs;
use std::future::Future;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
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
                    bytes += entry.metadata().unwrap().size;
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
