//! An ordered walk gives the same as recursion over `read_dir`, with any number of threads.

use ringwalk::{Chosen, Operation, OrderedWalk};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Tree = BTreeMap<PathBuf, Vec<Vec<u8>>>;

fn expected(path: &Path, tree: &mut Tree) {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        names.push(entry.file_name().as_bytes().to_vec());
        if entry.file_type().unwrap().is_dir() {
            expected(&entry.path(), tree);
        }
    }
    names.sort();
    tree.insert(path.to_path_buf(), names);
}

fn walked(mut walk: OrderedWalk) -> Tree {
    let mut tree = Tree::new();
    let mut depths = Vec::new();
    loop {
        let depth = walk.next_depth();
        let Some(turn) = walk.next_directory() else {
            return tree;
        };
        let listing = turn.unwrap().listing();
        // Links that the walk skips are deeper.
        assert!(depth >= Some(listing.depth()));
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(listing.path()));
        // The walk is depth first, so the parent is the last directory that is less deep.
        depths.truncate(listing.depth());
        assert_eq!(
            path.parent(),
            depths
                .last()
                .map_or(path.parent(), |last: &PathBuf| Some(last))
        );
        depths.push(path.clone());
        let mut names: Vec<_> = (0..listing.len())
            .map(|index| listing.name(index).to_vec())
            .collect();
        names.sort();
        assert!(tree.insert(path, names).is_none(), "given twice");
    }
}

/// Makes three levels of six directories, files in each, and links.
fn make(top: &Path) {
    for number in 0..216 {
        let path = top.join(format!("{}/{}/{}", number % 6, number / 6 % 6, number / 36));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(format!("file{number}")), b"").unwrap();
        std::os::unix::fs::symlink("..", path.join("up")).unwrap();
    }
    // Directories that are read ahead are then old enough to be kept.
    std::thread::sleep(Duration::from_millis(50));
}

#[test]
fn every_number_of_threads_gives_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let mut tree = Tree::new();
    expected(dir.path(), &mut tree);
    for threads in 0..4 {
        for _ in 0..5 {
            assert_eq!(walked(OrderedWalk::new(dir.path()).threads(threads)), tree);
        }
    }
}

#[test]
fn only_what_was_chosen_comes_and_in_that_order() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let mut walk = OrderedWalk::new(dir.path()).threads(2);
    let mut given = Vec::new();
    while let Some(turn) = walk.next_directory() {
        let turn = turn.unwrap();
        let listing = turn.listing();
        given.push(String::from_utf8(listing.path().to_vec()).unwrap());
        // From the last to the first, and only some of them.
        let mut chosen: Vec<usize> = (0..listing.len())
            .filter(|&index| turn.is_directory(index) && listing.name(index) < &b"3"[..])
            .collect();
        chosen.sort_by_key(|&index| std::cmp::Reverse(listing.name(index).to_vec()));
        std::thread::sleep(Duration::from_micros(200));
        walk.choose(chosen.into_iter().map(Chosen::Entry).collect());
    }
    let below = |path: &String| {
        path.strip_prefix(dir.path().to_str().unwrap())
            .unwrap()
            .to_owned()
    };
    let given: Vec<_> = given.iter().map(below).collect();
    assert_eq!(given.len(), 1 + 3 + 9 + 27);
    assert_eq!(given[..6], ["", "/2", "/2/2", "/2/2/2", "/2/2/1", "/2/2/0"]);
    assert!(given[1..].is_sorted_by_key(|path| std::cmp::Reverse(format!("{path}~"))));
}

#[test]
fn errors_have_their_paths_and_the_walk_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let mut walk = OrderedWalk::new(dir.path());
    walk.next_directory().unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::remove_dir_all(dir.path().join("3")).unwrap();
    let mut errors = Vec::new();
    let mut given = 0;
    while let Some(turn) = walk.next_directory() {
        match turn {
            Ok(_) => given += 1,
            Err(error) => errors.push(error),
        }
    }
    assert_eq!(given, 5 * (1 + 6 + 36));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path(), dir.path().join("3"));
    assert!(errors[0].is_vanished() && errors[0].operation() == Operation::Open);
    assert!(walk.next_directory().is_none());
    let mut nothing = OrderedWalk::new(dir.path().join("nothing"));
    assert!(!nothing.next_directory().unwrap().unwrap_err().is_vanished());
    assert!(nothing.next_directory().is_none());
}

#[test]
fn links_are_told_and_followed_only_if_asked() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("top/directory")).unwrap();
    fs::create_dir_all(dir.path().join("elsewhere/below")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", dir.path().join("top/link")).unwrap();
    for follow in [false, true] {
        let mut walk = OrderedWalk::new(dir.path().join("top")).follow_links(follow);
        let turn = walk.next_directory().unwrap().unwrap();
        assert_eq!(turn.directories(), 2);
        let mut given = 1;
        while let Some(turn) = walk.next_directory() {
            turn.unwrap();
            given += 1;
        }
        assert_eq!(given, if follow { 4 } else { 2 });
    }
}
