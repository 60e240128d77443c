use super::listing::ListingNumber;
use super::*;
use crate::{
    Attributes, Entry, FailedOperation, Failure, Info, Skipped, TreeBuilder, WriteOptions,
};
use ringwalk::{Batch, Error, FileType, Flow, Metadata, Operation, Visitor, Walk};
use std::num::NonZeroUsize;

/// Gathers paths and errors.
#[derive(Debug, Default)]
struct Gathered {
    paths: Vec<String>,
    bytes: u64,
    errors: Vec<(Operation, String, Errno)>,
}

impl Visitor for Gathered {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            self.paths.push(String::from_utf8(entry.path()).unwrap());
            let size = entry.metadata().and_then(Metadata::size);
            self.bytes += size.unwrap_or(0);
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        let path = error.path().to_str().unwrap().to_owned();
        self.errors.push((error.operation(), path, error.errno()));
    }
}

fn entry(name: &str, kind: FileType, size: Option<u64>) -> Entry<'_> {
    let mut entry = Entry::new(name.as_bytes(), kind);
    entry.attributes = Attributes {
        size,
        ..Attributes::default()
    };
    entry
}

fn directory(name: &str) -> Entry<'_> {
    entry(name, FileType::Directory, Some(0))
}

fn file(name: &str) -> Entry<'_> {
    entry(name, FileType::Regular, Some(1))
}

/// Writes a snapshot of a tree at `/r`, whose contents `fill` adds.
fn tree(fill: impl FnOnce(&mut TreeBuilder)) -> (tempfile::TempDir, Arc<SnapshotTree>) {
    tree_at("/r", fill)
}

fn tree_at(
    root: &str,
    fill: impl FnOnce(&mut TreeBuilder),
) -> (tempfile::TempDir, Arc<SnapshotTree>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(root.as_bytes(), &directory("")).unwrap();
    fill(&mut tree);
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    (folder, Arc::new(SnapshotTree::new(snapshot)))
}

fn walk(tree: &Arc<SnapshotTree>, root: &str) -> Walk {
    let saved: Arc<dyn SavedTree> = Arc::<SnapshotTree>::clone(tree);
    Walk::new(root).saved_tree(saved)
}

fn gather(walk: Walk) -> Gathered {
    let mut all = Gathered::default();
    for one in walk.run(|_| Gathered::default()).visitors {
        all.paths.extend(one.paths);
        all.bytes += one.bytes;
        all.errors.extend(one.errors);
    }
    all.paths.sort_unstable();
    all.errors.sort_by(|a, b| a.1.cmp(&b.1));
    all
}

#[test]
fn a_root_may_be_any_text() {
    for root in [
        "s3://bucket",
        ".",
        "..",
        "a/b",
        "/r/../s",
        "C:\\x",
        "//x",
        "/t/",
        "/",
    ] {
        let (_folder, tree) = tree_at(root, |tree| {
            tree.begin_directory(&directory("d")).unwrap();
            tree.file(&file("f")).unwrap();
            tree.end_directory().unwrap();
        });
        let slash = if root.ends_with('/') { "" } else { "/" };
        let inner = format!("{root}{slash}d");
        let found = gather(walk(&tree, root));
        assert_eq!(found.paths, [root, &inner, &format!("{inner}/f")]);
        let found = gather(walk(&tree, &inner));
        assert_eq!(found.paths, [inner.clone(), format!("{inner}/f")]);
        assert!(tree.find(format!("{inner}/f/").as_bytes(), false).is_err());
        assert!(tree.find(format!("{inner}/").as_bytes(), false).is_ok());
        assert!(tree.find(format!("{inner}x").as_bytes(), false).is_err());
    }
}

#[test]
fn listing_numbers_keep_everything() {
    for last in [None, Some(0), Some(1), Some((1 << 40) - 1)] {
        for failure in [
            None,
            Some((Operation::Open, Errno::ACCESS)),
            Some((Operation::Read, Errno::IO)),
            Some((Operation::Read, Errno::from_raw_os_error(4095))),
        ] {
            let number = ListingNumber { last, failure };
            assert_eq!(ListingNumber::unpack(number.pack()), number);
        }
    }
}

/// A directory whose listing takes three pages, with directories before, in and behind it.
fn large() -> (tempfile::TempDir, Arc<SnapshotTree>) {
    tree(|tree| {
        for name in ["a", "large", "z"] {
            tree.begin_directory(&directory(name)).unwrap();
            for number in 0..if name == "large" { 20_000 } else { 10 } {
                tree.file(&file(&format!("f{number:05}"))).unwrap();
            }
            for inner in ["inner", "other"] {
                tree.begin_directory(&directory(inner)).unwrap();
                tree.file(&file("x")).unwrap();
                tree.end_directory().unwrap();
            }
            tree.end_directory().unwrap();
        }
    })
}

#[test]
fn every_row_comes_once_for_any_number_of_workers_and_order() {
    let (_folder, tree) = large();
    let rows = tree.snapshot().rows();
    for workers in [1, 2, 8] {
        for preorder in [false, true] {
            let walk = walk(&tree, "/r")
                .fields(Fields::SIZE)
                .workers(NonZeroUsize::new(workers))
                .preorder(preorder);
            let mut all = gather(walk);
            assert_eq!(all.errors, []);
            assert_eq!(all.bytes, 20_000 + 20 + 6);
            all.paths.dedup();
            assert_eq!(all.paths.len() as u64, rows);
        }
    }
    let below = gather(walk(&tree, "/r/large/inner"));
    assert_eq!(below.paths, ["/r/large/inner", "/r/large/inner/x"]);
    assert_eq!(tree.failure(), None);
}

#[test]
fn a_walk_of_a_subtree_reads_its_pages_only() {
    let (_folder, tree) = tree(|tree| {
        for number in 0..60 {
            let name = format!("d{number:02}");
            tree.begin_directory(&directory(&name)).unwrap();
            for number in 0..5000 {
                tree.file(&file(&format!("{name}-{number}"))).unwrap();
            }
            tree.end_directory().unwrap();
        }
    });
    assert_eq!(tree.snapshot().row_groups().len(), 3);
    assert_eq!(tree.snapshot().row_groups_read(), 0);
    let opened = tree.snapshot().bytes_read();
    assert_eq!(gather(walk(&tree, "/r/d30")).paths.len(), 5001);
    let part = tree.snapshot().bytes_read() - opened;
    // The row group of the subtree, and the row group with the row of its top.
    assert_eq!(tree.snapshot().row_groups_read(), 2);
    assert_eq!(gather(walk(&tree, "/r")).paths.len(), 300_061);
    assert_eq!(tree.snapshot().row_groups_read(), 3);
    let whole = tree.snapshot().bytes_read() - opened - part;
    // The subtree lies in at most two pages of 37, and its path is looked for in a few more. The
    // files are so much alike that half of the bytes are the indexes of two row groups.
    assert!(part * 3 < whole, "{part} of {whole}");
}

#[test]
fn paths_are_compared_by_their_text() {
    let (_folder, tree) = tree(|tree| {
        tree.begin_directory(&directory("d")).unwrap();
        tree.file(&file("f")).unwrap();
        let mut link = entry("link", FileType::Symlink, Some(1));
        link.target = Some(b"../d/./f");
        tree.file(&link).unwrap();
        link.name = b"loop";
        link.target = Some(b"loop");
        tree.file(&link).unwrap();
        link.name = b"out";
        link.target = Some(b"/etc");
        tree.file(&link).unwrap();
        tree.end_directory().unwrap();
    });
    let kind = |path: &str, follow| tree.find(path.as_bytes(), follow).map(|m| m.file_type());
    for path in ["/r", "/r/", "//r/.", "/r/d/..", "/x/../r/d", "/r/d/"] {
        assert_eq!(kind(path, false), Ok(FileType::Directory), "{path}");
    }
    assert_eq!(kind("/r/d/f", false), Ok(FileType::Regular));
    assert_eq!(kind("/r/d/link", false), Ok(FileType::Symlink));
    assert_eq!(kind("/r/d/link", true), Ok(FileType::Regular));
    assert_eq!(kind("/r/d/link/", false), Err(Errno::NOTDIR));
    assert_eq!(kind("/r/d/f/", false), Err(Errno::NOTDIR));
    assert_eq!(kind("/r/d/loop", true), Err(Errno::LOOP));
    assert_eq!(kind("/r/d/out", true), Err(Errno::NOENT));
    for path in ["", "/", "/rr", "/r/dd", "/r/d/f/x", "/r/d/f\0"] {
        assert_eq!(kind(path, true), Err(Errno::NOENT), "{path}");
    }
}

#[test]
fn saved_failures_and_unknown_values() {
    let (_folder, tree) = tree(|tree| {
        let fail = |mut entry: Entry<'static>, operation, errno| {
            entry.failure = Some(Failure { operation, errno });
            entry
        };
        let closed = fail(directory("closed"), FailedOperation::Open, Errno::ACCESS);
        tree.begin_directory(&closed).unwrap();
        tree.end_directory().unwrap();
        let torn = fail(directory("torn"), FailedOperation::Read, Errno::IO);
        tree.begin_directory(&torn).unwrap();
        tree.file(&file("seen")).unwrap();
        tree.end_directory().unwrap();
        let gone = entry("gone", FileType::Regular, None);
        tree.file(&fail(gone, FailedOperation::Stat, Errno::NOMEM))
            .unwrap();
        tree.file(&entry("unknown", FileType::Regular, None))
            .unwrap();
        let mut skipped = entry("skipped", FileType::Directory, None);
        skipped.skipped = Some(Skipped::Pattern);
        tree.begin_directory(&skipped).unwrap();
        tree.end_directory().unwrap();
    });
    let opened = [
        (Operation::Open, "/r/closed".to_owned(), Errno::ACCESS),
        (Operation::Read, "/r/torn".to_owned(), Errno::IO),
    ];
    let all = gather(walk(&tree, "/r"));
    assert_eq!(all.errors, opened);
    assert_eq!(all.paths.len(), 7);
    let all = gather(walk(&tree, "/r").fields(Fields::SIZE));
    let mut expected = opened.to_vec();
    expected.push((Operation::Stat, "/r/gone".to_owned(), Errno::NOMEM));
    expected.push((Operation::Stat, "/r/unknown".to_owned(), Errno::NODATA));
    expected.sort_by(|a, b| a.1.cmp(&b.1));
    assert_eq!(all.errors, expected);
}

#[test]
fn entries_that_come_again_and_again_are_damage() {
    let (_folder, tree) = large();
    tree.allow_root();
    let rows = tree.snapshot().rows();
    assert_eq!(tree.take_allowed(rows), Ok(()));
    assert_eq!(tree.take_allowed(1), Err(Errno::IO));
    assert!(tree.failure().unwrap().contains("same entries"));
}
