//! The walk as batches: everything comes once, any thread can end the walk, and nothing is lost.

mod support;

use ringwalk::{Fields, Next, OwnedBatch};
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

fn tree(directories: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..directories {
        let below = dir.path().join(number.to_string());
        fs::create_dir(&below).unwrap();
        for file in 0..20 {
            fs::write(below.join(file.to_string()), vec![b'x'; file]).unwrap();
        }
    }
    dir
}

fn paths(batch: &OwnedBatch) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for index in 0..batch.entries().len() {
        let mut path = Vec::new();
        batch.path_into(index, &mut path);
        paths.push(path);
    }
    paths
}

#[test]
fn batches_have_what_entries_have() {
    let (first, second) = (tree(100), tree(3));
    let walk = || support::walks([first.path(), second.path()]).fields(Fields::SIZE);
    let mut expected = BTreeSet::new();
    for entry in walk() {
        let entry = entry.unwrap();
        let path = entry.path().as_os_str().as_encoded_bytes().to_vec();
        expected.insert((
            path,
            entry.depth(),
            entry.metadata().unwrap().size().unwrap(),
        ));
    }
    let mut found = BTreeSet::new();
    let mut batches = walk().batches().unwrap();
    assert!(batches.summary().is_none());
    for batch in batches.by_ref() {
        let batch = batch.unwrap();
        for (index, (path, entry)) in paths(&batch)
            .into_iter()
            .zip(batch.entries().iter())
            .enumerate()
        {
            let below = second.path().as_os_str().as_encoded_bytes();
            let root = usize::from(path.starts_with(below));
            assert_eq!(batch.root_index(index), root);
            assert_eq!(batch.directory().is_none(), batch.depth() == 0);
            let size = entry.metadata().unwrap().size().unwrap();
            assert!(found.insert((path, batch.depth(), size)));
        }
    }
    assert_eq!(found, expected);
    assert_eq!(batches.summary().unwrap().entries, found.len() as u64);
    assert!(batches.next().is_none(), "and it stays at its end");
}

#[test]
fn what_cannot_be_read_is_among_the_batches() {
    let tree = tree(2);
    let missing = tree.path().join("missing");
    let mut batches = support::walks([missing.as_path(), tree.path()])
        .batches()
        .unwrap();
    let (batches_seen, errors): (Vec<_>, Vec<_>) = batches.by_ref().partition(Result::is_ok);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].as_ref().unwrap_err().path(), missing);
    let entries: usize = batches_seen
        .into_iter()
        .map(|b| b.unwrap().entries().len())
        .sum();
    assert!(entries > 2 * 21, "the rest goes on");
    assert_eq!(batches.summary().unwrap().errors, 1);
}

#[test]
fn it_ends_soon_when_another_thread_says_so() {
    let tree = tree(3000);
    let mut batches = support::walk(tree.path()).batches().unwrap();
    assert!(batches.next().is_some());
    let canceller = batches.canceller();
    std::thread::scope(|scope| {
        scope.spawn(move || canceller.cancel());
        // Batches that the iterator has fetched already still come.
        let seen = batches.by_ref().take(100_000).count();
        assert!(seen < 3000 + 1);
    });
    assert!(batches.next().is_none());
    assert!(batches.summary().unwrap().stopped);
}

#[test]
fn waiting_ends_in_time() {
    // A filter that keeps the walk from going on.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let tree = tree(1);
    let mut batches = support::walk(tree.path())
        .filter(move |candidate| {
            if candidate.depth() == 1 {
                let _ = wait.lock().unwrap().recv();
            }
            true
        })
        .batches()
        .unwrap();
    let mut entries = 0;
    let begin = Instant::now();
    let time = Duration::from_millis(50);
    while let Next::Item(batch) = batches.next_within(time) {
        entries += batch.unwrap().entries().len();
    }
    assert!(begin.elapsed() >= time);
    assert!(entries < 22, "{entries} of 22 before it may go on");
    drop(go);
    entries += batches
        .map(|batch| batch.unwrap().entries().len())
        .sum::<usize>();
    assert_eq!(entries, 22);
}

#[test]
fn dropped_early_it_leaves_no_thread() {
    let threads = || {
        fs::read_dir("/proc/self/task")
            .unwrap()
            .flatten()
            .filter(|task| {
                let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
                name.starts_with("ringwalk-batch")
            })
    };
    let tree = tree(300);
    let mut batches = support::walk(tree.path()).batches().unwrap();
    assert!(batches.next().is_some());
    let own = threads().count();
    assert!(own >= 1);
    drop(batches);
    // Other threads may belong to tests that run beside this one.
    let deadline = Instant::now() + Duration::from_secs(10);
    while threads().count() >= own && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Instant::now() < deadline);
}

#[test]
fn a_sorted_walk_of_which_nothing_is_shown_ends() {
    let dir = tempfile::tempdir().unwrap();
    // More entries than the walk may be ahead of the iterator.
    for number in 0..5000 {
        fs::create_dir(dir.path().join(number.to_string())).unwrap();
    }
    let entries = support::walk(dir.path())
        .order(ringwalk::Order::Name)
        .min_depth(2);
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(entries.into_iter().count()));
    assert_eq!(ended.recv_timeout(Duration::from_secs(30)), Ok(0));
}
