//! Deep trees, large directories.

use super::super::testing::{Place, Results, Tree, found_at};
use super::super::{Doomed, delete};
use super::run;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use std::fs;

/// Creates a chain of directories by descriptors, as its path is too long for a call.
fn deep(place: &Place, levels: usize) -> Tree {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at: OwnedFd = open(place.root(), flags, Mode::empty()).unwrap();
    let mut entries = Vec::new();
    for id in 0..levels {
        let name = String::from("d");
        mkdirat(&at, &name, Mode::RWXU).unwrap();
        at = openat(&at, &name, flags, Mode::empty()).unwrap();
        entries.push(Doomed {
            id,
            name: name.into_bytes(),
            identity: found_at(&at),
            is_directory: true,
        });
    }
    Tree::chain(&place.root(), entries)
}

#[test]
fn five_thousand_levels_are_deleted() {
    let place = Place::new();
    let tree = deep(&place, 5000);
    let (outcome, results) = run(&place, &tree, &["d"]);
    assert_eq!(
        (outcome.deleted, outcome.kept),
        (5000, 0),
        "{:?}",
        results.kept
    );
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
}

#[test]
fn fifty_thousand_files_of_one_directory_are_deleted() {
    let place = Place::with(&["top/file"]);
    for number in 0..50_000 {
        fs::File::create(place.at(&format!("top/{number}"))).unwrap();
    }
    let tree = Tree::read(&place.root());
    let mut results = Results::default();
    let selections = [tree.select("top")];
    delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
    assert_eq!((results.deleted.len(), results.kept.len()), (50_002, 0));
    let lines = fs::read_to_string(place.log_path()).unwrap();
    assert_eq!(lines.lines().count(), 50_003);
}
