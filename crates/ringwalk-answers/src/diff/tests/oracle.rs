//! Random edits: the changes must lead from the old tree to the new one, and each must be what the
//! files say that it is.

use super::model::{Row, Tree, compare, compare_on};
use crate::diff::version::ancestors;
use crate::diff::{By, Change, Diff, GroupKey, Kind, Renames};
use proptest::prelude::*;
use ringwalk::FileType;
use std::collections::{BTreeMap, HashMap, HashSet};

/// An edit. Numbers choose paths.
#[derive(Clone, Debug)]
enum Edit {
    Create(usize, u8, bool),
    Write(usize, i64),
    Chmod(usize, i64),
    Touch(usize),
    RestoreMtime(usize),
    Remove(usize),
    Rename(usize, usize, u8),
    Link(usize, usize, u8),
    /// An editor writes a new file and renames it over the old one.
    Replace(usize, i64),
    Retype(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0..1000_usize;
    let name = || 0..4_u8;
    prop_oneof![
        6 => (at(), name(), any::<bool>()).prop_map(|(at, name, is)| Edit::Create(at, name, is)),
        2 => (at(), 0..9_i64).prop_map(|(at, blocks)| Edit::Write(at, blocks)),
        1 => (at(), 0..512_i64).prop_map(|(at, mode)| Edit::Chmod(at, mode)),
        1 => at().prop_map(Edit::Touch),
        1 => at().prop_map(Edit::RestoreMtime),
        2 => at().prop_map(Edit::Remove),
        5 => (at(), at(), name()).prop_map(|(at, to, name)| Edit::Rename(at, to, name)),
        4 => (at(), at(), name()).prop_map(|(at, to, name)| Edit::Link(at, to, name)),
        2 => (at(), 0..9_i64).prop_map(|(at, blocks)| Edit::Replace(at, blocks)),
        1 => at().prop_map(Edit::Retype),
    ]
}

/// Returns the path that a number chooses.
fn choose(tree: &Tree, number: usize, is_wanted: impl Fn(FileType) -> bool) -> Option<Vec<u8>> {
    let names = tree.names.iter();
    let wanted = |at: &usize| is_wanted(tree.inodes[*at].file_type);
    let paths: Vec<_> = names
        .filter(|(_, at)| wanted(at))
        .map(|(path, _)| path)
        .collect();
    (!paths.is_empty()).then(|| paths[number % paths.len()].clone())
}

fn join(directory: &[u8], name: u8) -> Vec<u8> {
    let mut path = directory.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice([&b"a"[..], b"b", b"a.b", b"\xff"][usize::from(name)]);
    path
}

fn apply(tree: &mut Tree, edit: &Edit) {
    let is_directory = |of: FileType| of == FileType::Directory;
    let any = |tree: &Tree, at| choose(tree, at, |_| true).filter(|path| !path.is_empty());
    let file = |tree: &Tree, at| choose(tree, at, |of| !is_directory(of));
    let target = |tree: &Tree, at, name| {
        choose(tree, at, is_directory).map(|directory| join(&directory, name))
    };
    let is_free = |tree: &Tree, path: &Vec<u8>| !tree.names.contains_key(path);
    match *edit {
        Edit::Create(at, name, is_dir) => {
            let file_type = if is_dir {
                FileType::Directory
            } else {
                FileType::Regular
            };
            if let Some(path) = target(tree, at, name).filter(|path| is_free(tree, path)) {
                tree.create(&path, file_type, i64::from(name) + 1);
            }
        }
        Edit::Write(at, blocks) => {
            if let Some(path) = file(tree, at) {
                tree.write(&path, blocks);
            }
        }
        Edit::Chmod(at, mode) => {
            if let Some(path) = any(tree, at) {
                tree.inode(&path).mode = mode;
            }
        }
        Edit::Touch(at) => {
            if let Some(path) = any(tree, at) {
                let now = tree.now + 1;
                tree.inode(&path).mtime = now;
            }
        }
        Edit::RestoreMtime(at) => {
            if let Some(path) = file(tree, at) {
                tree.inode(&path);
            }
        }
        Edit::Remove(at) => {
            if let Some(path) = any(tree, at) {
                tree.remove(&path);
            }
        }
        Edit::Rename(at, to, name) => {
            let Some(from) = any(tree, at) else { return };
            let Some(to) = target(tree, to, name) else {
                return;
            };
            let within = to == from || to.starts_with(&[&from[..], b"/"].concat());
            let above = from.starts_with(&[&to[..], b"/"].concat());
            let number = tree.names.get(&to).copied();
            // rename(2) does nothing if both names are links to one file.
            if !within && !above && number != tree.names.get(&from).copied() {
                tree.rename(&from, &to);
            }
        }
        Edit::Link(at, to, name) => {
            let Some(from) = file(tree, at) else { return };
            if let Some(to) = target(tree, to, name).filter(|path| is_free(tree, path)) {
                tree.link(&from, &to);
            }
        }
        Edit::Replace(at, blocks) => {
            if let Some(path) = file(tree, at) {
                tree.create(&path, FileType::Regular, blocks);
            }
        }
        Edit::Retype(at) => {
            if let Some(path) = any(tree, at) {
                let number = tree.names[&path];
                let is_dir = is_directory(tree.inodes[number].file_type);
                tree.remove(&path);
                let other = if is_dir {
                    FileType::Regular
                } else {
                    FileType::Directory
                };
                tree.create(&path, other, 1);
            }
        }
    }
}

fn by_path(rows: &[Row]) -> BTreeMap<&[u8], &Row> {
    rows.iter().map(|row| (&row.path[..], row)).collect()
}

/// Where a file of the old tree is in the new one, if the changes are right.
fn destination(path: &[u8], moved: &HashMap<&[u8], Option<&[u8]>>) -> Option<Vec<u8>> {
    if let Some(moved) = moved.get(path) {
        return moved.map(<[u8]>::to_vec);
    }
    let Some(parent) = ancestors(path).next() else {
        return Some(Vec::new());
    };
    let mut to = destination(parent, moved)?;
    if !to.is_empty() {
        to.push(b'/');
    }
    let name = if parent.is_empty() {
        path
    } else {
        &path[parent.len() + 1..]
    };
    to.extend_from_slice(name);
    Some(to)
}

/// File, size, allocated bytes, modification time, mode, owner.
type RowFacts = (usize, i64, i64, i64, i64, i64);

/// Returns all that the change of a file must show, if nothing explains its change time.
fn facts(row: &Row) -> RowFacts {
    let inode = &row.inode;
    let is_directory = inode.file_type == FileType::Directory;
    let mtime = if is_directory { 0 } else { inode.mtime };
    (
        row.file,
        inode.size,
        inode.alloc,
        mtime,
        inode.mode,
        inode.uid,
    )
}

/// Applies the changes to the old tree, and compares the result with the new tree.
fn check_patch(diff: &Diff, old: &[Row], new: &[Row]) {
    let new_rows = by_path(new);
    let mut moved: HashMap<&[u8], Option<&[u8]>> = HashMap::new();
    let mut result: BTreeMap<Vec<u8>, RowFacts> = BTreeMap::new();
    for change in &diff.changes {
        let keeps = matches!(change.kind, Kind::Modified | Kind::Renamed);
        if let Some(version) = &change.old {
            let to = change.new.as_ref().filter(|_| keeps).map(|new| &*new.path);
            assert_eq!(
                moved.insert(&version.path, to),
                None,
                "two changes of one file"
            );
        }
        if let Some(version) = &change.new {
            let row = new_rows[&*version.path];
            assert_eq!(result.insert(version.path.to_vec(), facts(row)), None);
        }
    }
    for row in old.iter().filter(|row| !moved.contains_key(&row.path[..])) {
        if let Some(path) = destination(&row.path, &moved) {
            assert_eq!(result.insert(path, facts(row)), None);
        } else {
            // The directory is gone or replaced. Files below it are changes of their own, or are
            // still there.
            assert!(
                new_rows.contains_key(&row.path[..]),
                "{:?} is lost",
                row.path
            );
            assert_eq!(result.insert(row.path.clone(), facts(row)), None);
        }
    }
    let expected: BTreeMap<_, _> = new
        .iter()
        .map(|row| (row.path.clone(), facts(row)))
        .collect();
    assert_eq!(result, expected);
}

/// Checks each change against the files that it is about.
fn check_kinds(diff: &Diff, old: &[Row], new: &[Row]) {
    let (old_rows, new_rows) = (by_path(old), by_path(new));
    let files = |rows: &[Row]| rows.iter().map(|row| row.file).collect::<HashSet<_>>();
    let (old_files, new_files) = (files(old), files(new));
    let moved: HashMap<&[u8], Option<&[u8]>> = diff
        .changes
        .iter()
        .filter(|change| change.new.is_some() || change.kind == Kind::Removed)
        .filter_map(|change| {
            let new = change.new.as_ref().map(|new| &*new.path);
            Some((&*change.old.as_ref()?.path, new))
        })
        .collect();
    for change in &diff.changes {
        let before = change.old.as_ref().map(|version| old_rows[&*version.path]);
        let after = change.new.as_ref().map(|version| new_rows[&*version.path]);
        let context = || format!("{:?} of {:?}", change.kind, change.version().path);
        match (change.kind, before, after) {
            (Kind::Added, None, Some(row)) => {
                assert!(!old_files.contains(&row.file), "{}", context());
            }
            (Kind::LinkAdded, None, Some(row)) => {
                assert!(old_files.contains(&row.file), "{}", context());
                check_link(change, row, &old_rows, &new_rows);
            }
            (Kind::Removed, Some(row), None) => {
                assert!(!new_files.contains(&row.file), "{}", context());
            }
            (Kind::LinkRemoved, Some(row), None) => {
                assert!(new_files.contains(&row.file), "{}", context());
                check_link(change, row, &old_rows, &new_rows);
            }
            (Kind::Modified, Some(before), Some(after)) => {
                assert_eq!(before.file, after.file, "{}", context());
                let ctime = before.inode.ctime != after.inode.ctime;
                assert!(facts(before) != facts(after) || ctime, "{}", context());
                assert!(!change.changed.is_empty(), "{}", context());
                let follows = follows(&before.path, &moved);
                let is_in_place = before.path == after.path;
                let is_right = is_in_place || follows.as_ref() == Some(&after.path);
                assert!(is_right, "{} is renamed", context());
            }
            (Kind::Renamed, Some(before), Some(after)) => {
                assert_eq!(before.file, after.file, "{}", context());
                let follows = follows(&before.path, &moved);
                assert_ne!(follows.as_ref(), Some(&after.path), "{}", context());
            }
            (Kind::Replaced | Kind::Retyped, Some(before), Some(after)) => {
                assert_eq!(before.path, after.path);
                assert_ne!(before.file, after.file, "{}", context());
                let is_same_type = before.inode.file_type == after.inode.file_type;
                assert_eq!(is_same_type, change.kind == Kind::Replaced, "{}", context());
            }
            _ => panic!("{} has the wrong sides", context()),
        }
    }
}

/// Returns where a file would be if no change was about itself.
fn follows(path: &[u8], moved: &HashMap<&[u8], Option<&[u8]>>) -> Option<Vec<u8>> {
    let mut others = moved.clone();
    others.remove(path);
    destination(path, &others)
}

/// Checks that the other name is one that the file has.
fn check_link(
    change: &Change,
    row: &Row,
    old: &BTreeMap<&[u8], &Row>,
    new: &BTreeMap<&[u8], &Row>,
) {
    let name = change.link_to.as_ref().expect("a link has another name");
    let has = |rows: &BTreeMap<&[u8], &Row>| {
        rows.get(&*name.path)
            .is_some_and(|other| other.file == row.file)
    };
    assert!(has(new), "{:?} is no name of the file", name.path);
    let _ = old;
}

/// Checks sums against the sums of both trees.
fn check_growth(diff: &Diff, old: &[Row], new: &[Row]) {
    let total = |rows: &[Row]| rows.iter().map(Row::bytes).sum::<i64>();
    assert_eq!(diff.growth(), total(new) - total(old));
    let lines: i64 = diff.lines().iter().map(|line| line.growth).sum();
    assert_eq!(lines, diff.growth());
    let below = |rows: &[Row], directory: &[u8]| {
        let prefix = [directory, b"/"].concat();
        let is_below = |row: &&Row| {
            directory.is_empty() || row.path.starts_with(&prefix) || row.path == directory
        };
        let rows = rows.iter().filter(is_below);
        rows.fold((0, 0), |sum, row| (sum.0 + row.bytes(), sum.1 + 1))
    };
    let groups = diff.groups(By::Directory { depth: 2 });
    let mut paths: HashSet<&[u8]> = HashSet::new();
    for rows in [old, new] {
        let is_directory = |row: &&Row| row.inode.file_type == FileType::Directory;
        let depth = |row: &&Row| row.path.split(|byte| *byte == b'/').skip(1).count();
        let shallow = rows
            .iter()
            .filter(|row| is_directory(row) && depth(row) < 2);
        paths.extend(shallow.map(|row| &row.path[..]));
    }
    for path in paths {
        let is_directory = |rows: &[Row]| {
            let row = rows.iter().find(|row| row.path == path);
            row.is_none_or(|row| row.inode.file_type == FileType::Directory)
        };
        if !is_directory(old) || !is_directory(new) {
            continue;
        }
        let (before, after) = (below(old, path), below(new, path));
        let expected = (after.0 - before.0, after.1 - before.1);
        let found = groups.iter().find(|group| match &group.key {
            GroupKey::Directory(location) => *location.path == *path,
            _ => false,
        });
        let found = found.map_or((0, 0), |group| (group.growth, group.entries));
        assert_eq!(found, expected, "growth of {path:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn changes_lead_from_the_old_tree_to_the_new_one(
        before in prop::collection::vec(edit(), 0..40),
        after in prop::collection::vec(edit(), 0..30),
        length in 1..6_usize,
    ) {
        let mut tree = Tree::default();
        for edit in &before {
            apply(&mut tree, edit);
        }
        let old = tree.rows(true);
        for edit in &after {
            apply(&mut tree, edit);
        }
        let new = tree.rows(true);
        let diff = compare(&old, &new, Renames::Inode, length);
        check_patch(&diff, &old, &new);
        check_kinds(&diff, &old, &new);
        check_growth(&diff, &old, &new);
        prop_assert!(compare(&new, &new, Renames::Inode, length).is_same());
        let flat = compare(&old, &new, Renames::Off, length);
        check_flat(&flat, &old, &new);
        check_growth(&flat, &old, &new);
        for kind in ["overlay", "fuse"] {
            let diff = compare_on(kind, &old, &new, Renames::Inode, length);
            check_growth(&diff, &old, &new);
            tree.remount();
            let later = tree.rows(true);
            prop_assert!(compare_on(kind, &new, &later, Renames::Inode, length).is_same());
            let diff = compare_on(kind, &old, &later, Renames::Inode, length);
            check_growth(&diff, &old, &later);
        }
    }
}

/// Without renames a path is in one of the trees, or in both.
fn check_flat(diff: &Diff, old: &[Row], new: &[Row]) {
    let (old_rows, new_rows) = (by_path(old), by_path(new));
    let changes: HashMap<&[u8], &Change> = diff
        .changes
        .iter()
        .map(|change| (&*change.version().path, change))
        .collect();
    assert_eq!(
        changes.len(),
        diff.changes.len(),
        "one change for each path"
    );
    let paths: HashSet<_> = old_rows.keys().chain(new_rows.keys()).collect();
    for path in paths {
        let kind = changes.get(*path).map(|change| change.kind);
        match (old_rows.get(*path), new_rows.get(*path)) {
            (Some(_), None) => assert_eq!(kind, Some(Kind::Removed), "{path:?}"),
            (None, Some(_)) => assert_eq!(kind, Some(Kind::Added), "{path:?}"),
            (Some(before), Some(after)) if before.file == after.file => {
                assert!(
                    matches!(kind, None | Some(Kind::Modified)),
                    "{path:?} {kind:?}"
                );
                let is_modified = kind.is_some();
                assert!(is_modified || facts(before) == facts(after), "{path:?}");
            }
            _ => assert!(
                matches!(kind, Some(Kind::Replaced | Kind::Retyped)),
                "{path:?} {kind:?}"
            ),
        }
    }
}
