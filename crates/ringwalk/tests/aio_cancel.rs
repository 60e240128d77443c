//! Futures dropped at every point: no entry is lost, and no descriptor is left open.

use futures_lite::StreamExt;
use futures_lite::future::block_on;
use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, Fields, Walk};
use std::fs;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// This many entries take several buffers.
const FILES: usize = 3000;

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        fs::write(dir.path().join(format!("{number:0>20}")), "").unwrap();
    }
    fs::create_dir(dir.path().join("below")).unwrap();
    dir
}

/// Polls a future `times` times, and sleeps after each poll. Drops it then, unless it has finished
/// before.
fn poll_some<F: Future>(future: F, times: usize, apart: Duration) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
        std::thread::sleep(apart);
    }
    None
}

/// Returns the moments between polls: from none to long enough for the answer to have come.
fn moments() -> impl Iterator<Item = (usize, Duration)> {
    let apart = [0, 1, 20, 100, 3000].map(Duration::from_micros);
    (0..4).flat_map(move |times| apart.map(|apart| (times, apart)))
}

/// Returns how many descriptors of this process are open below a path.
fn open_below(path: &std::path::Path) -> usize {
    let all = fs::read_dir("/proc/self/fd").unwrap().map(Result::unwrap);
    let links = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.starts_with(path)).count()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_entry_is_lost_by_reads_that_are_dropped() {
    let tree = tree();
    for (times, apart) in moments() {
        for fields in [Fields::empty(), Fields::SIZE] {
            let mut dir = block_on(Dir::open(tree.path())).unwrap();
            dir.read_plus(fields);
            let mut batch = EntryBuffer::new();
            let (mut entries, mut round) = (0, 0);
            loop {
                round += 1;
                // Both ways, each given up half of the time.
                if round % 2 == 0 {
                    match poll_some(dir.next(), times, apart) {
                        None => {}
                        Some(None) => break,
                        Some(Some(entry)) => {
                            assert_eq!(entry.unwrap().metadata().is_some(), !fields.is_empty());
                            entries += 1;
                        }
                    }
                } else if round % 3 == 0 {
                    match poll_some(dir.next_batch(&mut batch), times, apart) {
                        None => {}
                        Some(count) => entries += count.unwrap(),
                    }
                } else if let Some(entry) = block_on(dir.next()) {
                    entry.unwrap();
                    entries += 1;
                } else {
                    break;
                }
            }
            assert_eq!(entries, FILES + 1, "{times} {apart:?}");
        }
    }
}

#[test]
fn nothing_is_left_open() {
    let tree = tree();
    for (times, apart) in moments() {
        let at = block_on(Dir::open(tree.path())).unwrap();
        drop(poll_some(Dir::open(tree.path()), times, apart));
        drop(poll_some(at.open_at("below").read_ahead(), times, apart));
        let mut dir = block_on(Dir::open(tree.path()).read_ahead()).unwrap();
        let entry = block_on(dir.next()).unwrap().unwrap();
        drop(poll_some(dir.metadata(&entry), times, apart));
        drop(poll_some(dir.next(), times, apart));
        dir.read_plus(Fields::SIZE);
        drop(poll_some(dir.next(), times, apart));
        dir.rewind();
        drop(poll_some(dir.next(), times, apart));
        drop(poll_some(dir.close(), times, apart));
        let mut dir = block_on(at.open_at(".")).unwrap();
        drop(poll_some(dir.next(), times, apart));
        // A read is under way.
        drop(dir);
        drop(at);
        wait_until("all is closed", || open_below(tree.path()) == 0);
    }
}

#[test]
fn a_rewind_with_a_read_under_way() {
    let tree = tree();
    for (times, apart) in moments() {
        let mut dir = block_on(Dir::open(tree.path())).unwrap();
        let mut batch = EntryBuffer::new();
        drop(poll_some(dir.next_batch(&mut batch), times, apart));
        dir.rewind();
        drop(poll_some(dir.next(), times, apart));
        dir.rewind();
        let mut entries = 0;
        block_on(async {
            loop {
                match dir.next_batch(&mut batch).await.unwrap() {
                    0 => break,
                    count => entries += count,
                }
            }
        });
        assert_eq!(entries, FILES + 1);
    }
}

#[test]
fn a_walk_is_dropped_at_any_point_and_blocks_nobody() {
    let tree = tree();
    for number in 0..200 {
        let below = tree.path().join(format!("below/{number}"));
        fs::create_dir(&below).unwrap();
        for file in 0..20 {
            fs::write(below.join(file.to_string()), "").unwrap();
        }
    }
    let all = block_on(Walk::new(tree.path()).stream().unwrap().count());
    assert_eq!(all, 1 + FILES + 1 + 200 * 21);
    for taken in [0, 1, 2, 100, all - 1, all] {
        let mut stream = Walk::new(tree.path()).stream().unwrap();
        for (times, apart) in moments() {
            drop(poll_some(stream.next_batch(), times.min(1), apart / 100));
        }
        drop(stream);
        let mut stream = Walk::new(tree.path()).stream().unwrap();
        block_on(async {
            for _ in 0..taken {
                stream.next().await.unwrap().unwrap();
            }
            // The other entries of a batch come once.
            let mut rest = 0;
            let mut path = Vec::new();
            while let Some(batch) = stream.next_batch().await {
                let batch = batch.unwrap();
                for index in 0..batch.entries().len() {
                    batch.path_into(index, &mut path);
                    assert_eq!(batch.root_index(index), 0);
                }
                rest += batch.entries().len();
            }
            assert_eq!(taken + rest, all);
            assert_eq!(stream.summary().unwrap().errors, 0);
        });
    }
    wait_until("all is closed", || open_below(tree.path()) == 0);
}
