//! A walk gives the answer of the standard library, whatever its options are.

mod support;

use ringwalk::{Batch, Fields, FileType, Flow, Order, OwnedEntry, Visitor};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use support::{Random, as_set, collect, expected, grow};

#[test]
fn every_number_of_workers_sees_every_entry_once() {
    for seed in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        grow(dir.path(), &mut Random::new(seed), 1500);
        let expected = expected(dir.path());
        for workers in 1..=8 {
            let walk = support::walk(dir.path()).workers(NonZeroUsize::new(workers));
            let (all, summary) = collect(walk);
            assert!(
                as_set(all.seen) == expected,
                "{workers} workers, seed {seed}"
            );
            assert_eq!(summary.entries, expected.len() as u64);
            assert_eq!(all.left.len() as u64, summary.directories);
            let root = dir.path().as_os_str().as_bytes();
            assert_eq!(all.left.iter().filter(|path| *path == root).count(), 1);
            if workers == 1 {
                assert_eq!(all.left.last().map(Vec::as_slice), Some(root));
            }
            assert!(summary.is_complete());
        }
    }
}

#[test]
fn a_directory_of_many_buffers_is_read_by_all_workers() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..5000 {
        std::fs::write(dir.path().join(format!("file-{i}")), b"x").unwrap();
    }
    let expected = expected(dir.path());
    for buffer_size in [None, Some(1), Some(1024), Some(1 << 20)] {
        for workers in [1, 2, 5] {
            let walk = support::walk(dir.path())
                .buffer_size(buffer_size)
                .workers(NonZeroUsize::new(workers));
            let (all, _) = collect(walk);
            assert!(
                as_set(all.seen) == expected,
                "{workers} workers, {buffer_size:?}"
            );
        }
    }
}

#[test]
fn names_alone_need_no_metadata() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(7), 500);
    let names: BTreeSet<_> = support::walk(dir.path())
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            // No directory lists the type of a root.
            assert!(entry.metadata().is_none() || entry.depth() == 0);
            assert_ne!(entry.file_type(), FileType::Unknown);
            entry.into_path().into_os_string().as_bytes().to_vec()
        })
        .collect();
    let expected: BTreeSet<_> = expected(dir.path()).into_iter().map(|e| e.0).collect();
    assert!(names == expected);
}

#[test]
fn sorted_entries_come_depth_first() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(9), 2000);
    let entries: Vec<_> = support::walk(dir.path())
        .fields(Fields::SIZE)
        .depth_first()
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .collect();
    // Compared component by component, a directory comes before its entries, and those before its
    // next sibling.
    let mut sorted = entries.clone();
    sorted.sort_by(|a, b| a.components().cmp(b.components()));
    assert!(entries == sorted);
    assert_eq!(entries.len(), expected(dir.path()).len());
}

#[test]
fn an_iterator_that_is_dropped_ends_the_walk() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(11), 3000);
    for taken in [0, 1, 100] {
        let walk = support::walk(dir.path());
        assert_eq!(walk.into_iter().take(taken).count(), taken);
        let walk = support::walk(dir.path()).depth_first();
        assert_eq!(walk.into_iter().take(taken).count(), taken);
    }
}

#[test]
fn roots_may_be_paths_and_descriptors() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(13), 100);
    let fd: OwnedFd = std::fs::File::open(dir.path()).unwrap().into();
    let (by_path, _) = collect(support::walk(dir.path()));
    let root = ringwalk::Root::from_fd(fd, dir.path());
    let (by_fd, _) = collect(support::walk(root));
    assert!(as_set(by_path.seen.clone()) == as_set(by_fd.seen));
    let many = support::walks((0..200).map(|_| dir.path()));
    let (all, _) = collect(many);
    assert_eq!(all.seen.len(), 200 * by_path.seen.len());
}

#[test]
fn a_sorted_directory_is_one_batch_in_the_smallest_buffer_too() {
    struct Batches(Vec<Vec<Vec<u8>>>);
    impl Visitor for Batches {
        type State = ();
        fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
            if batch.dir().is_some() {
                let names = batch.entries().map(|entry| entry.name().to_vec());
                self.0.push(names.collect());
            }
            Flow::Continue
        }
    }
    let dir = tempfile::tempdir().unwrap();
    for number in 0..100 {
        // Records of up to 272 bytes: some do not fit into the rest of the buffer.
        let width = 180 + number * 13 % 70;
        std::fs::write(dir.path().join(format!("{number:0>width$}")), b"").unwrap();
    }
    let outcome = support::walk(dir.path())
        .order(Order::Name)
        .buffer_size(Some(1024))
        .workers(NonZeroUsize::new(1))
        .run(|_| Batches(Vec::new()));
    let batches = &outcome.visitors[0].0;
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].len(), 100);
    assert!(batches[0].is_sorted());
}

#[test]
fn sorted_entries_keep_their_order_below_a_least_depth() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(9), 2000);
    let entries = |least| {
        let roots = [dir.path().join("."), dir.path().to_path_buf()];
        let walk = support::walks(roots).min_depth(least).depth_first();
        walk.into_iter().map(Result::unwrap)
    };
    for least in 1..5 {
        let deep = entries(0).filter(|entry| entry.depth() >= least);
        let expected: Vec<_> = deep.map(OwnedEntry::into_path).collect();
        let found: Vec<_> = entries(least).map(OwnedEntry::into_path).collect();
        assert!(found == expected, "from depth {least}");
    }
}
