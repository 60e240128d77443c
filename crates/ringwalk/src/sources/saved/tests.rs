use super::SavedTree;
use super::memory::{MemoryFile, MemoryTree};
use crate::visit::error::{Error, Operation};
use crate::walk::settings::{Follow, Order, Stay};
use crate::{Batch, Dir, Fields, Flow, Left, Visitor, Walk};
use rustix::io::Errno;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Gathers paths, errors, and the order of calls.
#[derive(Debug, Default)]
struct Gathered {
    paths: Vec<Vec<u8>>,
    sizes: u64,
    entered: usize,
    left: usize,
    errors: Vec<(Operation, Vec<u8>, Errno)>,
    targets: Vec<Vec<u8>>,
}

impl Visitor for Gathered {
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        self.entered += 1;
        Flow::Continue
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        assert_eq!(batch.fd().unwrap_err().errno(), Errno::OPNOTSUPP);
        for entry in batch.entries() {
            self.paths.push(entry.path());
            self.sizes += entry
                .metadata()
                .and_then(crate::Metadata::size)
                .unwrap_or(0);
            let file = entry.saved();
            if let Some(file) = file.filter(|_| entry.stat_error().is_none()) {
                assert!(file.metadata(Fields::SIZE).is_ok());
                self.targets.extend(file.target());
            }
        }
        Flow::Continue
    }

    fn leave(&mut self, left: &Left<'_, ()>) {
        assert_eq!(left.parent_fd().unwrap_err().errno(), Errno::OPNOTSUPP);
        self.left += 1;
    }

    fn error(&mut self, error: &Error) {
        let path = error.path().as_os_str().as_encoded_bytes().to_vec();
        self.errors.push((error.operation(), path, error.errno()));
    }
}

fn file(size: u64) -> MemoryFile {
    MemoryFile {
        size: Some(size),
        ..MemoryFile::default()
    }
}

fn directory() -> MemoryFile {
    MemoryFile {
        children: Some(Vec::new()),
        size: Some(1),
        ..MemoryFile::default()
    }
}

/// A tree with a directory of 200 directories, each with 100 files of one byte.
fn wide() -> Arc<MemoryTree> {
    let mut tree = MemoryTree::new();
    for d in 0..200 {
        let at = tree.add(0, &format!("d{d:03}"), directory());
        for f in 0..100 {
            tree.add(at, &format!("f{f:03}"), file(1));
        }
    }
    Arc::new(tree)
}

fn walk(tree: &Arc<MemoryTree>, workers: usize) -> Walk {
    let tree: Arc<dyn SavedTree> = Arc::<MemoryTree>::clone(tree);
    Walk::new("/top")
        .saved_tree(tree)
        .workers(NonZeroUsize::new(workers))
}

fn gather(walk: Walk) -> (Gathered, crate::Summary) {
    let outcome = walk.run(|_| Gathered::default());
    let mut all = Gathered::default();
    for one in outcome.visitors {
        all.paths.extend(one.paths);
        all.sizes += one.sizes;
        all.entered += one.entered;
        all.left += one.left;
        all.errors.extend(one.errors);
        all.targets.extend(one.targets);
    }
    (all, outcome.summary)
}

#[test]
fn every_entry_comes_once_for_any_number_of_workers() {
    let tree = wide();
    for workers in [1, 2, 8] {
        for order in [Order::Any, Order::Listed, Order::Name] {
            let walk = walk(&tree, workers).fields(Fields::SIZE).order(order);
            let (mut all, summary) = gather(walk);
            assert_eq!(all.paths.len(), 1 + 200 + 200 * 100);
            all.paths.sort_unstable();
            all.paths.dedup();
            assert_eq!(all.paths.len(), 1 + 200 + 200 * 100);
            assert_eq!(all.sizes, 1 + 200 + 200 * 100);
            assert_eq!((all.entered, all.left), (201, 201));
            assert!(summary.is_complete());
            assert_eq!(summary.source, "snapshot");
            assert_eq!(summary.source_reason, "a tree in memory");
        }
    }
}

#[test]
fn preorder_is_that_of_a_recursive_walk() {
    let (all, _) = gather(walk(&wide(), 1).preorder(true));
    let mut sorted = all.paths.clone();
    sorted.sort_unstable();
    assert_eq!(all.paths, sorted);
}

#[test]
fn without_an_order_the_last_directory_of_a_batch_comes_first() {
    let (all, _) = gather(walk(&wide(), 1));
    let first = all.paths.iter().find(|path| path.ends_with(b"f000"));
    assert_eq!(first.unwrap(), b"/top/d049/f000");
}

#[test]
fn a_root_that_the_tree_lacks_is_an_error() {
    let tree: Arc<dyn SavedTree> = wide();
    // The root directory exists, but must not be looked at.
    let (all, summary) = gather(Walk::new("/").saved_tree(tree));
    assert_eq!(all.errors, [(Operation::Stat, b"/".to_vec(), Errno::NOENT)]);
    assert_eq!((all.entered, summary.errors), (0, 1));
}

#[test]
fn saved_failures_are_reported_as_those_of_a_live_tree() {
    let mut tree = MemoryTree::new();
    for (name, failure) in [
        ("closed", (Operation::Open, Errno::ACCESS)),
        ("torn", (Operation::Read, Errno::IO)),
    ] {
        let failure = Some(failure);
        let at = tree.add(
            0,
            name,
            MemoryFile {
                failure,
                ..directory()
            },
        );
        if name == "torn" {
            tree.add(at, "seen", file(1));
        }
    }
    let failure = Some((Operation::Stat, Errno::NOMEM));
    tree.add(0, "unknown", MemoryFile { failure, ..file(1) });
    let (mut all, summary) = gather(walk(&Arc::new(tree), 1).fields(Fields::SIZE));
    all.errors.sort_by(|a, b| a.1.cmp(&b.1));
    let expected = [
        (Operation::Open, b"/top/closed".to_vec(), Errno::ACCESS),
        (Operation::Read, b"/top/torn".to_vec(), Errno::IO),
        (Operation::Stat, b"/top/unknown".to_vec(), Errno::NOMEM),
    ];
    assert_eq!(all.errors, expected);
    assert!(all.paths.contains(&b"/top/torn/seen".to_vec()));
    assert_eq!((summary.errors, all.entered, all.left), (3, 2, 3));
}

#[test]
fn an_unknown_field_is_an_error_unless_it_is_optional() {
    let mut tree = MemoryTree::new();
    let size = None;
    let at = tree.add(
        0,
        "d",
        MemoryFile {
            size,
            ..directory()
        },
    );
    tree.add(at, "f", file(1));
    let tree = Arc::new(tree);
    let (all, _) = gather(walk(&tree, 1).fields(Fields::SIZE));
    let error = (Operation::Stat, b"/top/d".to_vec(), Errno::NODATA);
    assert_eq!(all.errors, [error]);
    assert!(all.paths.contains(&b"/top/d/f".to_vec()));
    let optional = walk(&tree, 1)
        .fields(Fields::SIZE)
        .optional_fields(Fields::SIZE);
    assert_eq!(gather(optional).0.errors, []);
    assert_eq!(
        gather(walk(&tree, 1)).0.errors,
        [],
        "no field was asked for"
    );
}

#[test]
fn a_walk_stays_on_the_saved_device() {
    let mut tree = MemoryTree::new();
    let at = tree.add(
        0,
        "other",
        MemoryFile {
            device: 7,
            ..directory()
        },
    );
    tree.add(at, "below", file(1));
    for stay in [Stay::Device, Stay::Mount] {
        let (all, _) = gather(
            walk(
                &Arc::new(MemoryTree {
                    files: tree.files.clone(),
                }),
                1,
            )
            .stay(stay),
        );
        assert_eq!(all.paths, [b"/top".to_vec(), b"/top/other".to_vec()]);
    }
}

#[test]
fn links_have_targets_and_are_never_followed() {
    let mut tree = MemoryTree::new();
    let target = Some(b"/nowhere".to_vec());
    tree.add(0, "link", MemoryFile { target, ..file(1) });
    let tree = Arc::new(tree);
    let (all, _) = gather(walk(&tree, 1));
    assert_eq!(all.targets, [b"/nowhere"]);
    let (all, _) = gather(walk(&tree, 1).follow(Follow::Always));
    let error = (Operation::Stat, b"/top/link".to_vec(), Errno::OPNOTSUPP);
    assert_eq!(all.errors, [error]);
}

/// Paths of a depth-first walk, and the operations of errors with their paths and depths.
fn in_order(walk: Walk, skipped: &str) -> Vec<String> {
    let mut entries = walk.depth_first().into_iter();
    let mut all = Vec::new();
    while let Some(item) = entries.next() {
        all.push(match item {
            Ok(entry) => {
                if entry.file_name() == skipped {
                    entries.skip_current_dir();
                }
                entry.path().display().to_string()
            }
            Err(error) => format!(
                "{} {} {}",
                error.operation().as_str(),
                error.depth(),
                error.path().display()
            ),
        });
    }
    all
}

#[test]
fn errors_of_a_depth_first_walk_are_in_their_place_or_skipped() {
    let mut tree = MemoryTree::new();
    let failed = |operation| MemoryFile {
        failure: Some((operation, Errno::ACCESS)),
        ..directory()
    };
    tree.add(0, "a", failed(Operation::Open));
    let b = tree.add(0, "b", failed(Operation::Read));
    tree.add(b, "c", file(1));
    tree.add(0, "d", file(1));
    let tree = Arc::new(tree);
    let walk = || Walk::new("/top").saved_tree(Arc::clone(&tree) as _);
    let expected = [
        "/top",
        "/top/a",
        "open 1 /top/a",
        "/top/b",
        "/top/b/c",
        "read 1 /top/b",
        "/top/d",
    ];
    assert_eq!(in_order(walk(), ""), expected);
    let without_a = [&expected[..2], &expected[3..]].concat();
    assert_eq!(in_order(walk(), "a"), without_a);
    let without_b = [&expected[..4], &expected[6..]].concat();
    assert_eq!(in_order(walk(), "b"), without_b);
}

#[test]
fn large_directories_are_sorted_as_a_whole() {
    let reversed = Walk::new("/top")
        .saved_tree(wide())
        .max_depth(2)
        .depth_first()
        .sort_by(|a, b| b.file_name().cmp(a.file_name()));
    let paths: Vec<_> = reversed
        .into_iter()
        .map(|e| e.unwrap().into_path())
        .collect();
    assert_eq!(paths.len(), 1 + 200 * 101);
    assert_eq!(paths[1].as_os_str(), "/top/d199");
    assert_eq!(paths[2].as_os_str(), "/top/d199/f099");
    assert_eq!(paths[101].as_os_str(), "/top/d199/f000");
    assert_eq!(paths[102].as_os_str(), "/top/d198");
    let targets = Walk::new("/top").saved_tree(wide()).fields(Fields::SIZE);
    let sizes = targets
        .depth_first()
        .sort_by_key(|entry| std::cmp::Reverse(entry.ino()));
    assert!(
        sizes
            .into_iter()
            .all(|entry| entry.unwrap().metadata().is_some())
    );
}
