//! Directories that were swapped between display and deletion.

use super::super::testing::{Place, Results, Tree};
use super::super::{Reason, delete};
use super::run;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What takes the place of a directory.
#[derive(Clone, Copy, Debug)]
enum Swap {
    LinkOutside,
    LinkToItself,
    Directory,
    File,
    Nothing,
}

impl Swap {
    const ALL: [Self; 5] = [
        Self::LinkOutside,
        Self::LinkToItself,
        Self::Directory,
        Self::File,
        Self::Nothing,
    ];

    fn apply(self, place: &Place, path: &Path) {
        let aside = place.directory.path().join("aside");
        fs::rename(path, &aside).unwrap();
        match self {
            Self::LinkOutside => symlink(place.outside(), path).unwrap(),
            Self::LinkToItself => symlink(&aside, path).unwrap(),
            Self::Directory => {
                fs::create_dir_all(path.join("sub/deep")).unwrap();
                for file in ["file", "sub/file", "sub/deep/file"] {
                    fs::write(path.join(file), "new").unwrap();
                }
            }
            Self::File => fs::write(path, "new").unwrap(),
            Self::Nothing => {}
        }
    }

    /// Returns the reason for the directory itself.
    fn reason(self) -> Reason {
        match self {
            Self::Nothing => Reason::Missing,
            _ => Reason::Replaced,
        }
    }
}

/// Returns the number of entries of all kinds below a directory.
fn count(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let below = entries.map(|entry| {
        let is_directory = entry.file_type().unwrap().is_dir();
        1 + if is_directory {
            count(&entry.path())
        } else {
            0
        }
    });
    below.sum()
}

const FILES: [&str; 4] = [
    "top/file",
    "top/sub/file",
    "top/sub/deep/file",
    "top/sub/deep/other",
];

#[test]
fn a_swapped_directory_at_or_below_the_selected_one_is_kept() {
    for swap in Swap::ALL {
        for (swapped, above) in [
            ("top", &[][..]),
            ("top/sub", &["top"]),
            ("top/sub/deep", &["top/sub", "top"]),
        ] {
            let place = Place::with(&FILES);
            let tree = Tree::read(&place.root());
            swap.apply(&place, &place.at(swapped));
            let before = count(place.directory.path());
            let (_, results) = run(&place, &tree, &["top"]);
            let mut kept = vec![(swapped.to_owned(), swap.reason())];
            kept.extend(
                above
                    .iter()
                    .map(|path| ((*path).to_owned(), Reason::HoldsKept)),
            );
            assert_eq!(results.kept(&tree), kept, "{swap:?} {swapped}");
            // Deleted: the files beside the swapped directory, and nothing of the two swapped ones.
            let after = count(place.directory.path()) - 2;
            assert_eq!(before - after, above.len(), "{swap:?} {swapped}");
        }
    }
}

#[test]
fn a_swapped_directory_above_the_selected_entry_keeps_it() {
    for swap in Swap::ALL {
        for swapped in ["top", "top/sub", "top/sub/deep"] {
            for selected in ["top/sub/deep/file", "top/sub/deep"] {
                let place = Place::with(&FILES);
                let tree = Tree::read(&place.root());
                swap.apply(&place, &place.at(swapped));
                let (_, results) = run(&place, &tree, &[selected]);
                let reason = if swapped == selected {
                    swap.reason()
                } else {
                    Reason::PathChanged
                };
                let kept = [(selected.to_owned(), reason)];
                assert_eq!(results.kept(&tree), kept, "{swap:?} {swapped}");
                assert!(results.deleted.is_empty());
            }
        }
    }
}

#[test]
fn a_swapped_root_does_not_matter_once_it_is_open() {
    let place = Place::with(&["file", "sub/file"]);
    let tree = Tree::read(&place.root());
    let root = tree.root();
    let aside = place.directory.path().join("aside");
    fs::rename(place.root(), &aside).unwrap();
    symlink(place.outside(), place.root()).unwrap();
    let selections = [tree.select("file"), tree.select("sub")];
    let mut results = Results::default();
    delete(&root, &selections, &tree, &place.log(), &mut results).unwrap();
    place.check_outside();
    assert_eq!(results.kept, []);
    assert_eq!(count(&aside), 0);
}

/// The descriptor of the directory is held, and its entries are the ones that were shown. When the
/// deletion reaches the name, it belongs to another directory.
#[test]
fn a_directory_swapped_while_it_is_emptied_is_kept() {
    let place = Place::with(&["top/sub/a", "top/sub/b"]);
    let tree = Tree::read(&place.root());
    let mut results = Results {
        // Asked: for the selection, top, sub, a.
        cancel: Some(Box::new(|before| {
            if before == 3 {
                Swap::LinkOutside.apply(&place, &place.at("top/sub"));
            }
            false
        })),
        ..Results::default()
    };
    let selections = [tree.select("top")];
    delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
    assert_eq!(results.deleted(&tree), ["top/sub/a", "top/sub/b"]);
    let kept = [
        ("top/sub".into(), Reason::Replaced),
        ("top".into(), Reason::HoldsKept),
    ];
    assert_eq!(results.kept(&tree), kept);
    place.check_outside();
}

/// So deep that the directories at the top are closed, and have to be opened again.
#[test]
fn a_directory_swapped_while_the_deletion_is_far_below_is_kept() {
    let names: Vec<String> = (0..200).map(|level| level.to_string()).collect();
    let path = names.join("/");
    let place = Place::with(&[&format!("top/{path}/file"), "top/0/1/2/last"]);
    let tree = Tree::read(&place.root());
    let mut is_done = false;
    let mut results = Results {
        cancel: Some(Box::new(|before| {
            // The file and some of the lowest directories are gone then.
            if before > 210 && !is_done && !place.at(&format!("top/{path}")).exists() {
                is_done = true;
                Swap::LinkOutside.apply(&place, &place.at("top/0/1"));
            }
            false
        })),
        ..Results::default()
    };
    let selections = [tree.select("top")];
    delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
    let kept = results.kept(&tree);
    drop(results);
    assert!(is_done);
    place.check_outside();
    let reason = |path: &str| kept.iter().find(|(kept, _)| kept == path).unwrap().1;
    assert_eq!(reason("top/0/1"), Reason::Replaced);
    assert_eq!(reason("top/0/1/2"), Reason::PathChanged);
    assert_eq!(reason("top/0"), Reason::HoldsKept);
    assert_eq!(reason("top"), Reason::HoldsKept);
}
