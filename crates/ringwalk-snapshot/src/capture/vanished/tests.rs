use super::*;
use std::fs;

fn tree(path: &str, directories: u64) -> VanishedTree {
    VanishedTree {
        root: 0,
        path: path.into(),
        directories,
    }
}

#[test]
fn directories_are_counted_by_the_highest_one_that_is_missing() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("stays/a")).unwrap();
    let trees = VanishedTrees::default();
    for path in ["stays/a/gone", "large/a/b", "large/a/c", "large/d", "gone"] {
        trees.add(0, root.path(), path.as_bytes());
    }
    let expected = [tree("large", 3), tree("gone", 1), tree("stays/a/gone", 1)];
    assert_eq!(trees.into_largest(9), expected);
}

#[test]
fn only_so_many_trees_are_kept() {
    let root = tempfile::tempdir().unwrap();
    let trees = VanishedTrees::default();
    for number in 0..MOST + 10 {
        trees.add(0, root.path(), format!("{number}").as_bytes());
    }
    // Those that are kept still count.
    trees.add(0, root.path(), b"7/below");
    assert_eq!(trees.into_largest(1), [tree("7", 2)]);
}
