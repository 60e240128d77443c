//! Trees on disk, read and compared with sums that are made by other means.

use super::*;
use crate::tree::{GroupKey, Item, Order, ReadState, SortKey, Tree, Weight};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, hard_link};
use std::os::unix::fs::MetadataExt as _;
use tempfile::TempDir;

fn read(path: &Path) -> Arc<LiveTree> {
    let (tree, reading) = LiveTree::start(path, false, Box::new(|walk| walk)).unwrap();
    reading.wait();
    assert!(tree.progress().finished);
    tree
}

fn by_name() -> Order {
    Order {
        key: SortKey::Name,
        ..Order::default()
    }
}

fn children(tree: &LiveTree, directory: Id) -> Vec<Item> {
    let ids = tree.listing(directory, by_name()).unwrap();
    tree.items(&ids).unwrap()
}

fn at(tree: &LiveTree, path: &str) -> Item {
    let index = fill::lookup(&lock(&tree.arena), path.as_bytes());
    let id = Id(u64::from(index.expect(path)));
    tree.items(&[id]).unwrap().remove(0)
}

/// Writes a file of so many blocks of 4 KiB.
fn write(path: &Path, blocks: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, vec![1; 4096 * blocks]).unwrap();
}

/// Returns entries, apparent and allocated bytes below a path; each inode counts once.
fn brute_force(path: &Path, seen: &mut HashSet<u64>) -> (u64, u64, u64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let mut sums = (1, 0, 0);
    if metadata.nlink() == 1 || metadata.is_dir() || seen.insert(metadata.ino()) {
        sums = (1, metadata.size(), metadata.blocks() * 512);
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let below = brute_force(&entry.unwrap().path(), seen);
            sums = (sums.0 + below.0, sums.1 + below.1, sums.2 + below.2);
        }
    }
    sums
}

/// Checks each total against the sum of what is listed, and the top against the disk.
fn check(tree: &LiveTree, root: &Path) {
    let mut names: BTreeMap<Id, Vec<u8>> = BTreeMap::new();
    check_below(tree, tree.top(), &mut names);
    let top = at(tree, "");
    let expected = brute_force(root, &mut HashSet::new());
    assert_eq!((top.entries, top.size, top.alloc), expected);
    assert_eq!(tree.progress().entries, top.entries);
}

fn check_below(tree: &LiveTree, id: Id, names: &mut BTreeMap<Id, Vec<u8>>) {
    let item = tree.items(&[id]).unwrap().remove(0);
    assert_eq!(names.insert(id, item.name.clone()), None);
    if !item.is_directory() {
        return;
    }
    let path = tree.path(id).unwrap();
    let metadata = fs::symlink_metadata(tree.path.join(OsStr::from_bytes(&path))).unwrap();
    let mut sums = (1, metadata.size(), metadata.blocks() * 512);
    let mut latest = Some(metadata.mtime());
    for child in children(tree, id) {
        let counts = u64::from(child.charged || child.is_directory());
        sums.0 += child.entries;
        sums.1 += child.size * counts;
        sums.2 += child.alloc * counts;
        latest = latest.max(child.mtime);
        assert_eq!(tree.parent(child.id).unwrap(), Some(id));
        check_below(tree, child.id, names);
    }
    assert_eq!((item.entries, item.size, item.alloc), sums, "{path:?}");
    assert_eq!(item.mtime, latest, "{path:?}");
}

#[test]
fn totals_are_those_of_the_files() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("a/b/c/large"), 20);
    write(&folder.path().join("a/small"), 1);
    write(&folder.path().join("z"), 3);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let tree = read(folder.path());
    check(&tree, folder.path());
    let names: Vec<_> = children(&tree, tree.top())
        .into_iter()
        .map(|item| item.name)
        .collect();
    assert_eq!(names, [&b"a"[..], b"empty", b"z"]);
    let largest = tree.largest_files(tree.top(), Weight::Alloc, 2).unwrap();
    let largest = tree.items(&largest).unwrap();
    assert_eq!(largest[0].name, b"large");
    assert_eq!(largest[1].name, b"z");
}

#[test]
fn an_inode_counts_for_its_first_name_in_the_order_of_rows() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(&root.join("b/deep/file"), 10);
    fs::create_dir(root.join("a")).unwrap();
    for name in ["a/x", "0", "b/deep/a"] {
        hard_link(root.join("b/deep/file"), root.join(name)).unwrap();
    }
    let tree = read(root);
    check(&tree, root);
    // Entries below `a` come before entries beside `a`.
    let charged = ["a/x", "0", "b/deep/a", "b/deep/file"].map(|name| at(&tree, name).charged);
    assert_eq!(charged, [true, false, false, false]);
    assert_eq!(at(&tree, "0").links, 4);
}

#[test]
fn deletion_frees_an_inode_only_with_all_of_its_names() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(&root.join("a/one/file"), 10);
    write(&root.join("a/two/other"), 2);
    hard_link(root.join("a/one/file"), root.join("a/two/file")).unwrap();
    write(&root.join("b/file"), 5);
    let outside = TempDir::new_in(root.parent().unwrap()).unwrap();
    hard_link(root.join("b/file"), outside.path().join("name")).unwrap();
    let tree = read(root);
    let bytes = |name| at(&tree, name).freeable.unwrap();
    let own = |name: &str| fs::metadata(root.join(name)).unwrap().blocks() * 512;
    let file = 10 * 4096;
    assert_eq!(bytes("a/one"), own("a/one"));
    assert_eq!(bytes("a/two"), own("a/two") + 2 * 4096);
    assert_eq!(
        bytes("a"),
        own("a") + bytes("a/one") + bytes("a/two") + file
    );
    // Its other name lies outside of the tree.
    assert_eq!(bytes("b"), own("b"));
    let ids = |names: &[&str]| {
        names
            .iter()
            .map(|name| at(&tree, name).id)
            .collect::<Vec<_>>()
    };
    let freed = |names: &[&str]| tree.freeable(&ids(names)).unwrap().unwrap();
    assert_eq!(freed(&["a/one/file"]), 0);
    assert_eq!(freed(&["a/one/file", "a/two/file"]), file);
    assert_eq!(
        freed(&["a/one", "a/two"]),
        bytes("a/one") + bytes("a/two") + file
    );
    // Nothing counts twice.
    assert_eq!(
        freed(&["a", "a/one", "a/one/file", "a/two/other"]),
        bytes("a")
    );
}

#[test]
fn what_is_deleted_leaves_the_totals() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(&root.join("keep/file"), 4);
    write(&root.join("drop/sub/file"), 7);
    hard_link(root.join("drop/sub/file"), root.join("keep/link")).unwrap();
    let tree = read(root);
    assert!(at(&tree, "drop/sub/file").charged);
    let id = at(&tree, "drop").id;
    fs::remove_dir_all(root.join("drop")).unwrap();
    tree.remove(id, false);
    assert_eq!(tree.items(&[id]).unwrap(), []);
    let link = at(&tree, "keep/link");
    assert!(link.charged);
    assert_eq!(link.links, 1);
    let totals = |tree: &LiveTree| {
        let top = at(tree, "");
        (top.entries, top.alloc, top.freeable, top.errors)
    };
    // The directory at the top has changed on disk, so only sums that do not depend on it are
    // compared.
    assert_eq!(totals(&tree), totals(&read(root)));
}

#[test]
fn a_subtree_is_read_again() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(&root.join("a/old"), 4);
    write(&root.join("b/file"), 1);
    let tree = read(root);
    fs::remove_file(root.join("a/old")).unwrap();
    write(&root.join("a/new/file"), 9);
    let before = at(&tree, "a").id;
    let (id, reading) = tree.read_again(before).unwrap();
    reading.unwrap().wait();
    // A cursor on it stays there.
    assert_eq!(id, before);
    assert_eq!(tree.items(&[id]).unwrap()[0].name, b"a");
    check(&tree, root);
    // The top as well.
    write(&root.join("c"), 2);
    let (id, reading) = tree.read_again(tree.top()).unwrap();
    reading.unwrap().wait();
    assert_eq!(id, tree.top());
    check(&tree, root);
    // A directory that is gone.
    let gone = at(&tree, "b").id;
    fs::remove_dir_all(root.join("b")).unwrap();
    let (id, reading) = tree.read_again(gone).unwrap();
    assert!(reading.is_none());
    assert_eq!(id, tree.top());
    // A directory that is a file now.
    let file = at(&tree, "a").id;
    fs::remove_dir_all(root.join("a")).unwrap();
    write(&root.join("a"), 3);
    let (_, reading) = tree.read_again(file).unwrap();
    assert!(reading.is_none());
    let (_, reading) = tree.read_again(tree.top()).unwrap();
    reading.unwrap().wait();
    check(&tree, root);
}

#[test]
fn what_is_no_directory_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let start = |path: &Path| LiveTree::start(path, false, Box::new(|walk| walk)).map(|_| ());
    let errno = |path| start(path).unwrap_err().raw_os_error();
    assert_eq!(errno(file.path()), Some(Errno::NOTDIR.raw_os_error()));
    let missing = file.path().with_extension("missing");
    assert_eq!(errno(&missing), Some(Errno::NOENT.raw_os_error()));
}

#[test]
fn groups_add_up_to_the_total() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    for (name, blocks) in [("a.txt", 1), ("b.txt", 2), ("d/c.rs", 4), ("d/none", 8)] {
        write(&root.join(name), blocks);
    }
    hard_link(root.join("a.txt"), root.join("d/a.txt")).unwrap();
    let tree = read(root);
    let top = at(&tree, "");
    for key in [GroupKey::Extension, GroupKey::Owner, GroupKey::Age] {
        let groups = tree.groups(tree.top(), key).unwrap();
        let sum = |of: fn(&crate::tree::Group) -> u64| groups.iter().map(of).sum::<u64>();
        assert_eq!(sum(|group| group.entries), top.entries);
        assert_eq!(sum(|group| group.size), top.size);
        assert_eq!(sum(|group| group.alloc), top.alloc);
    }
    let extensions = tree.groups(tree.top(), GroupKey::Extension).unwrap();
    let text = extensions
        .iter()
        .find(|group| group.label == b".txt")
        .unwrap();
    assert_eq!((text.entries, text.alloc), (3, 3 * 4096));
}

#[test]
fn a_directory_that_cannot_be_read_has_an_error() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(&root.join("a/b/file"), 1);
    // A walk opens nothing below a directory that was moved away after it was listed. A directory
    // without permissions would be no obstacle for root.
    let (tree, reading) = LiveTree::start(root, false, Box::new(|walk| walk)).unwrap();
    reading.wait();
    let mut arena = lock(&tree.arena);
    let index = fill::lookup(&arena, b"a/b").unwrap();
    arena.fail(index);
    arena.fail(index);
    drop(arena);
    assert_eq!(at(&tree, "a/b").state, ReadState::Failed);
    let a = at(&tree, "a");
    assert_eq!((a.errors, a.freeable), (1, None));
    assert_eq!(tree.progress().errors, 1);
    assert_eq!(tree.freeable(&[a.id]).unwrap(), None);
}

#[test]
fn each_order_lists_all_entries() {
    let folder = TempDir::new().unwrap();
    for number in 0..50 {
        write(
            &folder.path().join(format!("d{}/f{number}", number % 7)),
            number % 5,
        );
    }
    let tree = read(folder.path());
    let keys = [
        SortKey::Alloc,
        SortKey::Size,
        SortKey::Freeable,
        SortKey::Entries,
        SortKey::Mtime,
        SortKey::Name,
        SortKey::Owner,
    ];
    for key in keys {
        let order = Order {
            key,
            ..Order::default()
        };
        let ids = tree.listing(tree.top(), order).unwrap();
        let items = tree.items(&ids).unwrap();
        assert_eq!(items.len(), 7);
        assert!(
            items
                .windows(2)
                .all(|pair| order.compare(&pair[0], &pair[1]).is_lt())
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Trees with links: any order of names, any number of workers.
    #[test]
    fn totals_do_not_depend_on_the_order_of_reading(
        files in prop::collection::vec((0..4_usize, 0..4_usize, 0..6_usize, 0..3_usize), 1..40),
        workers in 1..4_usize,
        removed in 0..4_usize,
    ) {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        let mut made: Vec<PathBuf> = Vec::new();
        for (number, (a, b, source, blocks)) in files.into_iter().enumerate() {
            let path = root.join(format!("{a}/{b}/{}", 97 * number % 41));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.exists() {
                continue;
            }
            match made.get(source) {
                Some(source) => hard_link(source, &path).unwrap(),
                None => write(&path, blocks),
            }
            made.push(path);
        }
        let workers = std::num::NonZeroUsize::new(workers);
        let set_up: SetUp = Box::new(move |walk| walk.workers(workers));
        let (tree, reading) = LiveTree::start(root, false, set_up).unwrap();
        reading.wait();
        check(&tree, root);
        let name = removed.to_string();
        if root.join(&name).exists() {
            let id = at(&tree, &name).id;
            fs::remove_dir_all(root.join(&name)).unwrap();
            tree.remove(id, false);
            let (now, anew) = (at(&tree, ""), at(&read(root), ""));
            prop_assert_eq!(now.alloc, anew.alloc);
            prop_assert_eq!(now.freeable, anew.freeable);
            prop_assert_eq!(now.entries, anew.entries);
        }
    }
}

#[test]
fn files_of_two_layers_with_one_inode_number_are_two_files() {
    let mut arena = Arena::default();
    let found = |name, kind, device| entries::Found {
        name,
        kind,
        device,
        inode: 5,
        links: 2,
        blocks: 8,
        ..entries::Found::default()
    };
    let kinds = [crate::tree::Kind::Directory, crate::tree::Kind::File];
    let (_, top) = arena
        .add_one(None, &found(b"top", kinds[0], 1), true)
        .unwrap();
    for (name, device) in [(b"a", 1), (b"b", 1), (b"c", 2)] {
        arena
            .add_one(top, &found(name, kinds[1], device), false)
            .unwrap();
    }
    let alloc = arena.totals(TOP).alloc;
    // The top, the file with two names, and the one of the other layer.
    assert_eq!(alloc, 3 * 8 * 512);
}
