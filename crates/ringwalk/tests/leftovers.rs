//! Budgets of walks whose consumer pulls: iterators and streams give each entry once, and then what
//! is left over. A consumer that needs the whole tree refuses such walks.

mod support;

use futures_lite::StreamExt;
use futures_lite::future::block_on;
use ringwalk::{Budget, Leftover, Order, Walk};
use std::collections::BTreeMap;
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// How often each path was given.
type Seen = BTreeMap<PathBuf, u32>;

/// A directory of several buffers, and directories with a few files.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for directory in 0..10 {
        let path = folder.path().join(format!("d{directory}/below"));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
    }
    for file in 0..1000 {
        let name = format!("d0/a-file-with-a-long-name-{file}");
        fs::write(folder.path().join(name), "").unwrap();
    }
    folder
}

fn one_entry() -> Budget {
    Budget {
        entries: NonZeroU64::new(1),
        time: None,
    }
}

fn walk(root: &Path) -> Walk {
    support::walk(root)
        .workers(NonZeroUsize::new(2))
        .buffer_size(Some(8192))
        .budget(one_entry())
}

/// Runs walks of one entry each until nothing is left. Checks that each entry was given once.
fn assert_each_once(pull: impl Fn(Walk, &mut Seen) -> Vec<Leftover>) {
    let folder = tree();
    let mut seen = Seen::new();
    let mut left = pull(walk(folder.path()), &mut seen);
    let mut walks = 1;
    while !left.is_empty() {
        left = pull(walk(folder.path()).resume(left), &mut seen);
        walks += 1;
    }
    assert!(walks > 10);
    assert_eq!(seen.len(), 1 + 10 + 10 + 10 + 1000);
    assert!(seen.values().all(|times| *times == 1));
}

#[test]
fn batches_say_what_is_left() {
    assert_each_once(|walk, seen| {
        let mut batches = walk.batches().unwrap();
        assert!(batches.leftovers().is_none(), "before the end");
        for batch in batches.by_ref() {
            let batch = batch.unwrap();
            for index in 0..batch.entries().len() {
                let mut path = Vec::new();
                batch.path_into(index, &mut path);
                let path = PathBuf::from(String::from_utf8(path).unwrap());
                *seen.entry(path).or_default() += 1;
            }
        }
        let left = batches.leftovers().unwrap().to_vec();
        let summary = batches.summary().unwrap();
        assert_eq!(summary.leftovers, left.len());
        assert_eq!(summary.is_complete(), left.is_empty());
        left
    });
}

#[test]
fn entries_say_what_is_left() {
    assert_each_once(|walk, seen| {
        let mut entries = walk.into_iter();
        for entry in entries.by_ref() {
            *seen.entry(entry.unwrap().into_path()).or_default() += 1;
        }
        entries.leftovers().unwrap().to_vec()
    });
}

#[test]
fn streams_say_what_is_left() {
    assert_each_once(|walk, seen| {
        block_on(async {
            let mut entries = walk.stream().unwrap();
            while let Some(entry) = entries.next().await {
                *seen.entry(entry.unwrap().into_path()).or_default() += 1;
            }
            entries.leftovers().unwrap().to_vec()
        })
    });
}

/// Each directory is read whole for its order.
#[test]
fn batches_in_the_order_of_names_say_what_is_left() {
    let folder = tree();
    let mut seen = Seen::new();
    let mut left = None;
    while left.as_ref().is_none_or(|left: &Vec<_>| !left.is_empty()) {
        let walk = walk(folder.path()).order(Order::Name);
        let walk = match left {
            Some(left) => walk.resume(left),
            None => walk,
        };
        let mut batches = walk.batches().unwrap();
        for batch in batches.by_ref() {
            let batch = batch.unwrap();
            let names: Vec<_> = batch.entries().iter().map(|entry| entry.name()).collect();
            assert!(names.is_sorted());
            let directory = String::from_utf8_lossy(batch.directory().unwrap_or_default());
            let times = seen.entry(PathBuf::from(&*directory)).or_default();
            *times += 1;
            assert!(!directory.ends_with("/d0") || names.len() == 1001);
        }
        left = Some(batches.leftovers().unwrap().to_vec());
    }
    assert_eq!(
        seen.len(),
        1 + 1 + 10 + 10,
        "the roots, the root, and those below"
    );
    assert!(seen.values().all(|times| *times == 1));
}

/// Entries that were read, and were dropped with the walk, are in no leftover.
#[test]
fn a_walk_that_was_cancelled_does_not_say_what_is_left() {
    let folder = tree();
    let mut batches = walk(folder.path()).batches().unwrap();
    batches.canceller().cancel();
    while batches.next().is_some() {}
    assert!(batches.summary().is_some());
    assert!(batches.leftovers().is_none());
}

#[test]
#[should_panic(expected = "needs the whole tree")]
fn entries_in_depth_first_order_have_no_budget() {
    drop(walk(Path::new(".")).depth_first());
}

#[test]
#[should_panic(expected = "needs the whole tree")]
fn entries_in_depth_first_order_do_not_go_on() {
    drop(support::walk(".").resume(Vec::new()).depth_first());
}
