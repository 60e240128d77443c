//! Drops runtimes while requests are in progress.

use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, Fields, Walk};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..3000 {
        fs::write(dir.path().join(format!("{number:0>20}")), "").unwrap();
    }
    dir
}

/// Returns the number of open descriptors of this process below a path.
fn open_below(path: &Path) -> usize {
    let all = fs::read_dir("/proc/self/fd").unwrap().map(Result::unwrap);
    let links = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.starts_with(path)).count()
}

/// Reads again and again, and never ends.
async fn read_for_ever(path: PathBuf) {
    let mut batch = EntryBuffer::new();
    loop {
        let mut dir = Dir::open(&path).read_plus(Fields::SIZE).await.unwrap();
        while dir.next_batch(&mut batch).await.unwrap() > 0 {}
        dir.rewind();
        let entry = dir.next().await.unwrap().unwrap();
        dir.metadata(&entry).await.unwrap();
        let mut walk = Walk::new(&*path).stream().unwrap();
        walk.next_batch().await.unwrap().unwrap();
        dir.close().await.unwrap();
    }
}

#[test]
fn tokio_ends_with_requests_under_way() {
    let tree = tree();
    for round in 0..30 {
        let runtime = if round % 2 == 0 {
            tokio::runtime::Builder::new_multi_thread().build()
        } else {
            tokio::runtime::Builder::new_current_thread().build()
        };
        let runtime = runtime.unwrap();
        for _ in 0..8 {
            runtime.spawn(read_for_ever(tree.path().to_owned()));
        }
        // Lets the tasks run, also in the runtime with one thread.
        runtime.block_on(async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
        });
        std::thread::sleep(Duration::from_micros(300 * round));
        let begin = Instant::now();
        drop(runtime);
        assert!(
            begin.elapsed() < Duration::from_secs(5),
            "it waits for nothing"
        );
    }
    let begin = Instant::now();
    while open_below(tree.path()) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(20), "all is closed");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn smol_ends_with_requests_under_way() {
    let tree = tree();
    for round in 0..30 {
        let executor = smol::Executor::new();
        for _ in 0..8 {
            executor
                .spawn(read_for_ever(tree.path().to_owned()))
                .detach();
        }
        for _ in 0..round * 5 {
            executor.try_tick();
            std::thread::yield_now();
        }
        drop(executor);
    }
}

#[test]
fn tokio_uring_ends_with_requests_under_way() {
    let tree = tree();
    for round in 0..30 {
        let runtime = match tokio_uring::Runtime::new(&tokio_uring::builder()) {
            Ok(runtime) => runtime,
            // The system refuses rings.
            Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
        };
        runtime.block_on(async {
            for _ in 0..8 {
                tokio_uring::spawn(read_for_ever(tree.path().to_owned()));
            }
            for _ in 0..round * 5 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
    }
}
