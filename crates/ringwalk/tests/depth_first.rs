//! Walks in depth-first order, against the standard library.

mod support;

use ringwalk::{Errno, Operation, OwnedEntry};
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Adds the paths from `path` on, in the order of a recursive walk.
fn recursive(
    path: &Path,
    contents_first: bool,
    compare: &dyn Fn(&OsStr, &OsStr) -> Ordering,
    all: &mut Vec<PathBuf>,
) {
    if !contents_first {
        all.push(path.to_owned());
    }
    if path.symlink_metadata().unwrap().is_dir() {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort_by(|a, b| compare(a, b));
        for name in names {
            recursive(&path.join(name), contents_first, compare, all);
        }
    }
    if contents_first {
        all.push(path.to_owned());
    }
}

fn paths(entries: impl IntoIterator<Item = Result<OwnedEntry, ringwalk::Error>>) -> Vec<PathBuf> {
    let entries = entries.into_iter();
    entries.map(|entry| entry.unwrap().into_path()).collect()
}

/// Creates directories, and files for the names without a slash at the end.
fn make(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::write(path, name).unwrap();
        }
    }
    dir
}

/// Returns the paths relative to the root, errors as their operation, depth and path.
fn lines<I>(root: &Path, mut entries: I, mut each: impl FnMut(&mut I, &OwnedEntry)) -> Vec<String>
where
    I: Iterator<Item = Result<OwnedEntry, ringwalk::Error>>,
{
    let relative = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    let mut all = Vec::new();
    while let Some(item) = entries.next() {
        all.push(match item {
            Ok(entry) => {
                each(&mut entries, &entry);
                relative(entry.path())
            }
            Err(error) => format!(
                "{} {} {}",
                error.operation().as_str(),
                error.depth(),
                relative(error.path())
            ),
        });
    }
    all
}

#[test]
fn every_order_is_the_order_of_a_recursive_walk() {
    let dir = tempfile::tempdir().unwrap();
    support::grow(dir.path(), &mut support::Random::new(5), 2000);
    let by_name = |a: &OsStr, b: &OsStr| a.cmp(b);
    let reversed = |a: &OsStr, b: &OsStr| b.cmp(a);
    for contents_first in [false, true] {
        for workers in [1, 4] {
            let walk = || {
                let workers = std::num::NonZeroUsize::new(workers);
                let walk = support::walk(dir.path()).workers(workers);
                walk.depth_first().contents_first(contents_first)
            };
            let mut expected = Vec::new();
            recursive(dir.path(), contents_first, &by_name, &mut expected);
            assert!(paths(walk()) == expected);
            let mut expected = Vec::new();
            recursive(dir.path(), contents_first, &reversed, &mut expected);
            let sorted = walk().sort_by(move |a, b| reversed(a.file_name(), b.file_name()));
            assert!(paths(sorted) == expected);
            let key = |name: &OsStr| std::cmp::Reverse(name.as_bytes().to_vec());
            let sorted = walk().sort_by_key(move |entry| key(entry.file_name()));
            assert!(paths(sorted) == expected);
        }
    }
}

#[test]
fn directories_can_come_before_files() {
    let dir = make(&["a", "b/c", "d", "e/"]);
    let sorted = support::walk(dir.path())
        .depth_first()
        .sort_by_key(|entry| (!entry.file_type().is_dir(), entry.file_name().to_owned()));
    let found = lines(dir.path(), sorted.into_iter(), |_, _| ());
    assert_eq!(found, ["", "b", "b/c", "e", "a", "d"]);
}

#[test]
fn a_directory_is_skipped_with_all_below_it() {
    let dir = make(&["a/b/c", "a/d", "e/f", "g"]);
    let skip = |contents_first, name: &'static str| {
        let walk = support::walk(dir.path()).depth_first();
        let entries = walk.contents_first(contents_first).into_iter();
        lines(dir.path(), entries, |entries, entry| {
            if entry.path() == dir.path().join(name) {
                entries.skip_current_dir();
            }
        })
    };
    assert_eq!(skip(false, "a"), ["", "a", "e", "e/f", "g"]);
    assert_eq!(skip(false, "a/b"), ["", "a", "a/b", "a/d", "e", "e/f", "g"]);
    // The rest of the directory that holds a file.
    assert_eq!(
        skip(false, "a/b/c"),
        ["", "a", "a/b", "a/b/c", "a/d", "e", "e/f", "g"]
    );
    assert_eq!(
        skip(false, "a/d"),
        ["", "a", "a/b", "a/b/c", "a/d", "e", "e/f", "g"]
    );
    assert_eq!(skip(false, ""), [""]);
    assert_eq!(
        skip(true, "a/b"),
        ["a/b/c", "a/b", "a", "e/f", "e", "g", ""]
    );
    let files = make(&["a", "b", "c/d", "e"]);
    let entries = support::walk(files.path()).depth_first().into_iter();
    let found = lines(files.path(), entries, |entries, entry| {
        if entry.file_name() == "b" {
            entries.skip_current_dir();
        }
    });
    assert_eq!(found, ["", "a", "b"]);
}

#[test]
fn a_skip_stays_within_its_root() {
    let [one, two] = ["1", "2"].map(|name| make(&[name, "sub/x"]));
    let mut entries = support::walks([one.path(), two.path()])
        .depth_first()
        .into_iter();
    assert_eq!(entries.next().unwrap().unwrap().path(), one.path());
    entries.skip_current_dir();
    entries.skip_current_dir();
    let rest = paths(entries);
    assert_eq!(rest.len(), 4);
    assert_eq!(rest[0], two.path());
    // A root that is a file holds nothing, and no other root.
    let file = one.path().join("1");
    let mut entries = support::walks([file.as_path(), two.path()])
        .depth_first()
        .into_iter();
    assert_eq!(entries.next().unwrap().unwrap().path(), file);
    entries.skip_current_dir();
    assert_eq!(paths(entries).len(), 4);
}

#[test]
fn a_skip_stays_within_a_directory_that_is_not_shown() {
    let [one, two] = ["1", "2"].map(|name| make(&["a/x", "a/y", name, "sub/x"]));
    let names = |min_depth, contents_first, skipped: &str| {
        let walk = support::walks([one.path(), two.path()]).min_depth(min_depth);
        let walk = walk.depth_first().contents_first(contents_first);
        let mut entries = walk.into_iter();
        let mut names = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            names.push(entry.file_name().to_str().unwrap().to_owned());
            if entry.file_name() == skipped {
                entries.skip_current_dir();
            }
        }
        names.join(" ")
    };
    // The directories `a`, `sub` and the roots are not shown.
    assert_eq!(names(2, false, "x"), "x x x x");
    assert_eq!(names(2, true, "x"), "x x x x");
    // The roots are not shown.
    assert_eq!(names(1, false, "1"), "1 2 a x y sub x");
    assert_eq!(names(1, false, "a"), "1 a sub x 2 a sub x");
    assert_eq!(names(1, true, "1"), "1 2 x y a x sub");
}

#[test]
fn the_walk_opens_nothing_more_where_the_caller_skips() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..600 {
        let path = dir.path().join(format!("many/{number:03}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..20 {
            fs::write(path.join(file.to_string()), b"").unwrap();
        }
    }
    fs::write(dir.path().join("next"), b"").unwrap();
    let mut entries = support::walk(dir.path()).depth_first().into_iter();
    let mut found = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry.unwrap();
        if entry.file_name() == "many" {
            entries.skip_current_dir();
        }
        found.push(entry.into_path());
    }
    let expected = ["", "many", "next"].map(|name| dir.path().join(name));
    assert_eq!(found, [dir.path(), &expected[1], &expected[2]]);
    // The walk is about 8000 entries ahead at most, and each directory has 20.
    let directories = entries.summary().unwrap().directories;
    assert!(directories < 500, "{directories}");
}

#[test]
fn a_loop_is_an_error_behind_its_link_and_has_a_depth() {
    let dir = make(&["a/x", "b/c/d", "e"]);
    symlink("..", dir.path().join("a/up")).unwrap();
    symlink("../b", dir.path().join("a/side")).unwrap();
    let walk = || support::walk(dir.path()).follow_links(true).depth_first();
    let all = [
        "",
        "a",
        "a/side",
        "a/side/c",
        "a/side/c/d",
        "a/up",
        "loop 2 a/up",
        "a/x",
        "b",
        "b/c",
        "b/c/d",
        "e",
    ];
    assert_eq!(lines(dir.path(), walk().into_iter(), |_, _| ()), all);
    let without_up = walk().into_iter();
    let without_up = without_up.filter_entry(|entry| entry.file_name() != "up");
    let kept: Vec<_> = all.iter().filter(|line| !line.ends_with("up")).collect();
    assert_eq!(
        &lines(dir.path(), without_up, |_, _| ())
            .iter()
            .collect::<Vec<_>>(),
        &kept
    );
    let skipped = lines(dir.path(), walk().into_iter(), |entries, entry| {
        if entry.file_name() == "up" {
            entries.skip_current_dir();
        }
    });
    assert!(skipped.contains(&"a/up".to_owned()) && !skipped.contains(&"loop 2 a/up".to_owned()));
    let found = lines(
        dir.path(),
        walk().contents_first(true).into_iter(),
        |_, _| (),
    );
    let expected = [
        "a/side/c/d",
        "a/side/c",
        "a/side",
        "loop 2 a/up",
        "a/up",
        "a/x",
        "a",
        "b/c/d",
        "b/c",
        "b",
        "e",
        "",
    ];
    assert_eq!(found, expected);
    // Without links there is no loop.
    let entries = support::walk(dir.path()).follow_links(false).depth_first();
    let links = entries.into_iter().map(Result::unwrap);
    assert_eq!(
        links.filter(|entry| entry.file_type().is_symlink()).count(),
        2
    );
}

#[test]
fn depths_are_limited() {
    let dir = make(&["a/b/c", "d/e", "f"]);
    let walk = || support::walk(dir.path()).min_depth(1).max_depth(2);
    let found = lines(dir.path(), walk().depth_first().into_iter(), |_, _| ());
    assert_eq!(found, ["a", "a/b", "d", "d/e", "f"]);
    let entries = walk().depth_first().contents_first(true).into_iter();
    let found = lines(dir.path(), entries, |_, _| ());
    assert_eq!(found, ["a/b", "a", "d/e", "d", "f"]);
    // A directory at the last depth holds nothing that could be skipped.
    let entries = walk().depth_first().into_iter();
    let found = lines(dir.path(), entries, |entries, entry| {
        if entry.file_name() == "b" {
            entries.skip_current_dir();
        }
    });
    assert_eq!(found, ["a", "a/b", "d", "d/e", "f"]);
}

#[test]
fn a_root_that_is_missing_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let mut entries = support::walk(&missing).depth_first().into_iter();
    let error = entries.next().unwrap().unwrap_err();
    assert_eq!((error.operation(), error.depth()), (Operation::Stat, 0));
    assert_eq!(error.errno(), Errno::NOENT);
    assert_eq!(error.path(), missing);
    assert!(entries.all(|entry| entry.is_ok()));
}
