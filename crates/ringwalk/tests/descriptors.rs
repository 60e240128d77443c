//! With almost no descriptors every entry is still seen. This is a process of its own, and its
//! tests run one at a time, because the limit belongs to the process.

mod support;

use ringwalk::{Batch, Flow, Left, Order, Visitor};
use ringwalk_sys::sync::lock;
use rustix::fs::{AtFlags, unlinkat};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use support::{Random, as_set, collect, expected, grow};

/// Held by a test while it changes the limit.
static LIMIT: Mutex<()> = Mutex::new(());

#[test]
fn descriptors_that_the_caller_has_taken_are_done_without() {
    let _limit = lock(&LIMIT);
    let dir = tempfile::tempdir().unwrap();
    // Directories of more than one buffer within each other: each is read in part when the next one
    // is opened.
    let mut path = dir.path().to_path_buf();
    for level in 0..12 {
        for number in 0..60 {
            let name = format!("a directory of level {level}, number {number}");
            std::fs::create_dir(path.join(name)).unwrap();
        }
        path.push(format!("a directory of level {level}, number 0"));
    }
    let expected = expected(dir.path());
    let limit = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(64),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    for free in [4, 8] {
        for workers in [1, 2] {
            let mut taken: Vec<_> =
                std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
            taken.truncate(taken.len() - free);
            let walk = support::walk(dir.path())
                .workers(NonZeroUsize::new(workers))
                .buffer_size(Some(1024));
            let (all, _) = collect(walk);
            drop(taken);
            assert_eq!(all.errors, [], "{free} free, {workers} workers");
            assert!(as_set(all.seen) == expected);
        }
    }
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[test]
fn sixteen_descriptors_are_enough() {
    let _limit = lock(&LIMIT);
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(1), 3000);
    // A chain in which every level has siblings to come back to, and more entries than a small
    // buffer holds.
    let mut path = dir.path().join("chain");
    for level in 0..60 {
        for sibling in 0..5 {
            std::fs::create_dir_all(path.join(format!("{sibling}/leaf"))).unwrap();
        }
        for file in 0..40 {
            std::fs::write(
                path.join(format!("a file of level {level}, number {file}")),
                b"",
            )
            .unwrap();
        }
        path.push("2");
    }
    let expected = expected(dir.path());
    let limit = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(16),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    for workers in [None, NonZeroUsize::new(1), NonZeroUsize::new(8)] {
        for order in [Order::Any, Order::Name] {
            let walk = support::walk(dir.path())
                .workers(workers)
                .order(order)
                .buffer_size(Some(1024));
            let (all, summary) = collect(walk);
            assert_eq!(all.errors, []);
            assert!(as_set(all.seen) == expected);
            assert!(summary.descriptor_limit < 16);
            assert!(summary.reopened > 0, "the allowance was never spent");
        }
    }
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Removes everything below the roots: files when they are visited, directories when they are left.
struct Remove;

impl Visitor for Remove {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        if let Some(fd) = batch.fd().unwrap() {
            for entry in batch.entries().filter(|entry| !entry.will_descend()) {
                unlinkat(fd, entry.c_name(), AtFlags::empty()).unwrap();
            }
        }
        Flow::Continue
    }

    fn leave(&mut self, left: &Left<'_, ()>) {
        let parent = left.parent_fd().unwrap();
        unlinkat(parent, left.c_name(), AtFlags::REMOVEDIR).unwrap();
    }
}

#[test]
fn parents_are_there_when_a_directory_is_left() {
    let _limit = lock(&LIMIT);
    let limit = getrlimit(Resource::Nofile);
    for workers in [1, 4] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("deep/".repeat(100))).unwrap();
        grow(&root, &mut Random::new(7), 2000);
        let few = Rlimit {
            current: Some(24),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, few).unwrap();
        let walk = support::walk(root.as_path())
            .parents_open(true)
            .workers(NonZeroUsize::new(workers));
        let summary = walk.run(|_| Remove).summary;
        setrlimit(Resource::Nofile, limit).unwrap();
        assert!(summary.reopened > 0, "the allowance was never spent");
        assert!(!root.exists());
    }
}

/// Collects names in the order of a recursive walk.
#[derive(Default)]
struct Paths(Vec<Vec<u8>>);

impl Visitor for Paths {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        self.0.extend(batch.entries().map(|entry| entry.path()));
        Flow::Continue
    }
}

/// A directory that is larger than a buffer cannot wait half read for everything below its first
/// entries.
#[test]
fn preorder_stays_preorder_with_few_descriptors() {
    let _limit = lock(&LIMIT);
    let dir = tempfile::tempdir().unwrap();
    let mut path = dir.path().to_path_buf();
    for level in 0..30 {
        for number in 0..60 {
            let name = format!("entry {number} of level {level}");
            std::fs::create_dir(path.join(name)).unwrap();
        }
        path.push(format!("entry 30 of level {level}"));
    }
    let paths = || {
        let walk = support::walk(dir.path())
            .preorder(true)
            .buffer_size(Some(1024))
            .workers(NonZeroUsize::new(1));
        let mut outcome = walk.run(|_| Paths::default());
        assert_eq!(outcome.summary.errors, 0);
        outcome.visitors.remove(0).0
    };
    let limit = getrlimit(Resource::Nofile);
    let expected = paths();
    let few = Rlimit {
        current: Some(16),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let found = paths();
    setrlimit(Resource::Nofile, limit).unwrap();
    assert_eq!(found.len(), 1 + 30 * 60);
    assert!(found == expected);
}
