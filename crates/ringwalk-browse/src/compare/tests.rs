//! Comparisons of synthetic trees.

use super::*;
use crate::saved::tests::made::{File, Made, made, snapshot};
use crate::tree::{Order, Tree};
use proptest::prelude::*;
use std::collections::HashSet;

fn comparison(old: &Made, top: &str) -> Comparison {
    Comparison::new(snapshot(&[("/top", old)]), top.as_bytes()).unwrap()
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap()
}

/// Checks that the growth of the entries of each directory adds up to that of the directory.
fn check(old: &Made, new: &Made) {
    let view = SnapshotView::new(snapshot(&[("/top", new)])).unwrap();
    let comparison = comparison(old, "/top");
    let counts = |item: &crate::tree::Item| if item.charged { item.alloc } else { 0 };
    let mut at = vec![view.top()];
    while let Some(id) = at.pop() {
        let path = view.path(id).unwrap();
        let item = view.items(&[id]).unwrap().remove(0);
        let growth = comparison.growth_of(&path, counts(&item)).unwrap().unwrap();
        let was_directory = old.files.get(&path).is_some_and(|file| file.is_directory);
        let blocks = old.files.get(&path).map_or(0, |file| file.blocks);
        let mut sum = signed(new.files[&path].blocks * 512) - signed(blocks * 512);
        let listing = view.listing(id, Order::default()).unwrap();
        let mut names = HashSet::new();
        for child in view.items(&listing).unwrap() {
            let growth = comparison
                .growth(&path, &child.name, counts(&child))
                .unwrap();
            sum += growth.unwrap();
            let is_in_old = old.files.contains_key(&join(&path, &child.name));
            assert!(is_in_old || growth == Some(signed(counts(&child))));
            names.insert(child.name.clone());
            if child.is_directory() {
                at.push(child.id);
            }
        }
        let mut is_there = |name: &[u8]| names.contains(name);
        for departed in comparison.departed(&path, &mut is_there).unwrap() {
            let file = &old.files[&join(&path, &departed.name)];
            assert!(was_directory && departed.is_directory == file.is_directory);
            sum -= signed(departed.alloc);
        }
        assert_eq!(growth, sum, "{path:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn growth_adds_up(old in made(), mut new in made()) {
        // A directory that was a file has no listing in the older tree.
        let is_file = |file: &&Vec<u8>| !old.files[*file].is_directory;
        let old_files: HashSet<_> = old.files.keys().filter(is_file).cloned().collect();
        new.files.retain(|path, _| {
            !old_files.iter().any(|file| path.starts_with(file) && path != file)
        });
        for path in &old_files {
            if let Some(file) = new.files.get_mut(path) && file.is_directory {
                file.is_directory = false;
            }
        }
        check(&old, &new);
        check(&new, &new);
    }
}

#[test]
fn new_and_departed_directories() {
    let (mut old, mut new) = (Made::new(), Made::new());
    old.directory("gone");
    old.file("gone/x", 7, 3);
    old.file("same", 8, 5);
    new.file("same", 8, 6);
    new.directory("new");
    new.directory("new/deep");
    new.file("new/deep/y", 9, 2);
    check(&old, &new);
    let comparison = comparison(&old, "/top");
    let growth = |directory: &str, name: &str, now| {
        comparison
            .growth(directory.as_bytes(), name.as_bytes(), now)
            .unwrap()
    };
    assert_eq!(growth("", "same", 6 * 512), Some(512));
    assert_eq!(growth("new/deep", "y", 1024), Some(1024));
    assert_eq!(growth("same", "now a directory", 7), Some(7));
    let departed = comparison
        .departed(b"", &mut |name| name == b"same")
        .unwrap();
    let gone = Departed {
        name: b"gone".to_vec(),
        alloc: 4 * 512,
        is_directory: true,
    };
    assert_eq!(departed, [gone]);
    assert!(
        comparison
            .departed(b"new", &mut |_| false)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn what_the_older_snapshot_does_not_know_has_no_growth() {
    let mut old = Made::new();
    let closed = File {
        is_directory: true,
        ino: 5,
        blocks: 1,
        failed: true,
        ..File::default()
    };
    old.add(
        b"mounted",
        File {
            failed: false,
            skipped: true,
            ..closed.clone()
        },
    );
    old.add(b"closed", closed);
    let comparison = comparison(&old, "/top");
    for (directory, name) in [
        ("", "closed"),
        ("closed", "x"),
        ("closed/x", "y"),
        ("mounted", "x"),
    ] {
        let growth = comparison
            .growth(directory.as_bytes(), name.as_bytes(), 9)
            .unwrap();
        assert_eq!(growth, None, "{directory} {name}");
    }
    assert_eq!(comparison.growth_of(b"closed/x", 9).unwrap(), None);
    assert_eq!(comparison.growth(b"", b"x", 9).unwrap(), Some(9));
}

#[test]
fn trees_at_other_places() {
    let mut old = Made::new();
    old.directory("d");
    old.file("d/x", 7, 3);
    // The tree is a part of the older one.
    let part = comparison(&old, "/top/d");
    assert_eq!(part.growth(b"", b"x", 512).unwrap(), Some(-1024));
    assert_eq!(part.growth_of(b"", 512).unwrap(), Some(512 - 4 * 512));
    // The older tree is a part of it.
    let whole = comparison(&old, "/");
    assert_eq!(whole.growth(b"", b"top", 12 * 512).unwrap(), Some(0));
    assert_eq!(whole.growth(b"top/d", b"x", 512).unwrap(), Some(-1024));
    assert_eq!(whole.growth(b"", b"home", 512).unwrap(), None);
    assert_eq!(whole.growth_of(b"", 512).unwrap(), None);
    // The tree has several roots.
    let several = comparison(&old, "");
    assert_eq!(several.growth(b"", b"/top", 13 * 512).unwrap(), Some(512));
    assert_eq!(several.growth(b"/top", b"d", 0).unwrap(), Some(-4 * 512));
    assert_eq!(several.growth(b"/srv", b"d", 0).unwrap(), None);
    let error = Comparison::new(snapshot(&[("/top", &old)]), b"/elsewhere").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("snapshot of '/top' does not have '/elsewhere'"),
        "{error}"
    );
}

#[test]
fn a_link_to_the_tree_is_the_same_place() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap().join("top");
    std::fs::create_dir(&top).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("top", &link).unwrap();
    let mut old = Made::new();
    old.file("x", 7, 3);
    let old = snapshot(&[(top.to_str().unwrap(), &old)]);
    let comparison = Comparison::new(old, link.as_os_str().as_encoded_bytes()).unwrap();
    assert_eq!(comparison.growth(b"", b"x", 2048).unwrap(), Some(512));
}

#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    let mut old = Made::new();
    for number in 0..200 {
        old.file(&format!("f{number}"), 50 + number, number);
    }
    crate::saved::tests::made::write(&path, &[("/top", &old)]);
    let whole = std::fs::read(&path).unwrap();
    let mut failed = 0;
    for at in (0..whole.len() / 2).step_by(7) {
        let mut data = whole.clone();
        data[at] ^= 0x10;
        std::fs::write(&path, &data).unwrap();
        let Ok(comparison) = Comparison::open(&path, b"/top") else {
            continue;
        };
        match comparison.growth(b"", b"f7", 8 * 512) {
            Ok(growth) => assert_eq!(growth, Some(512)),
            Err(error) => {
                assert!(
                    error.to_string().contains("old': the snapshot is damaged"),
                    "{error}"
                );
                failed += 1;
            }
        }
    }
    assert!(failed > 0);
}
