//! Directories with the same contents, and with much in common.

mod support;

use ringwalk_dupes::{Directories, Found};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use support::search;

/// Returns the names of the directories below `top`, group by group.
fn same(top: &Path, found: &Found) -> Vec<Vec<String>> {
    let name = |path: &Vec<u8>| {
        let path = String::from_utf8(path.clone()).unwrap();
        path.strip_prefix(top.to_str().unwrap())
            .unwrap()
            .trim_start_matches('/')
            .to_owned()
    };
    found
        .directories
        .iter()
        .map(|group| group.paths.iter().map(name).collect())
        .collect()
}

fn write(top: &Path, path: &str, contents: &str) {
    let path = top.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

fn tree(top: &Path, name: &str) {
    write(top, &format!("{name}/readme"), "text");
    write(top, &format!("{name}/src/main"), "program");
    write(top, &format!("{name}/src/empty"), "");
    symlink("main", top.join(name).join("src/link")).unwrap();
}

#[test]
fn only_the_topmost_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for name in ["a", "b", "deep/er/c"] {
        tree(top, name);
    }
    // Like the `src` of the others, but in a directory that is like none.
    tree(top, "other");
    write(top, "other/more", "something else");
    let found = search(top, |search| search.directories(Directories::Same));
    assert_eq!(
        same(top, &found),
        [
            vec!["a", "b", "deep/er/c"],
            vec!["a/src", "b/src", "deep/er/c/src", "other/src"]
        ]
    );
    assert_eq!(
        (found.directories[0].files, found.directories[0].size),
        (3, 11)
    );
}

type Change = fn(&Path);

#[test]
fn every_difference_counts() {
    let changes: [(&str, Change); 7] = [
        ("a byte", |b| {
            fs::write(b.join("src/main"), "Program").unwrap();
        }),
        ("a name", |b| {
            fs::rename(b.join("readme"), b.join("README")).unwrap();
        }),
        ("one more empty file", |b| {
            fs::write(b.join("new"), "").unwrap();
        }),
        ("one more directory", |b| {
            fs::create_dir(b.join("src/new")).unwrap();
        }),
        ("the target of a link", |b| {
            fs::remove_file(b.join("src/link")).unwrap();
            symlink("niam", b.join("src/link")).unwrap();
        }),
        ("a type", |b| {
            fs::remove_file(b.join("src/empty")).unwrap();
            fs::create_dir(b.join("src/empty")).unwrap();
        }),
        ("a missing file", |b| {
            fs::remove_file(b.join("src/empty")).unwrap();
        }),
    ];
    for (what, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        tree(top, "a");
        tree(top, "b");
        assert_eq!(
            same(
                top,
                &search(top, |search| search.directories(Directories::Same))
            ),
            [["a", "b"]]
        );
        change(&top.join("b"));
        let found = search(top, |search| search.directories(Directories::Same));
        assert!(
            !same(top, &found).contains(&vec!["a".to_owned(), "b".to_owned()]),
            "{what}"
        );
    }
}

#[test]
fn hard_links_are_the_same_contents() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top, "a/file", "contents");
    fs::create_dir(top.join("b")).unwrap();
    fs::hard_link(top.join("a/file"), top.join("b/file")).unwrap();
    let found = search(top, |search| search.directories(Directories::Same));
    assert_eq!(same(top, &found), [["a", "b"]]);
    assert_eq!(found.groups().count(), 0);
}

#[test]
fn similar_directories_have_their_share_in_common() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for at in 0..10 {
        let contents = format!("{at}").repeat(100);
        write(top, &format!("a/x/{at}"), &contents);
        write(top, &format!("b/x/{at}"), &contents);
    }
    write(top, "b/x/3", &"!".repeat(100));
    // The same file twice is in common once.
    write(top, "b/x/4 again", &"4".repeat(100));
    let percent = |share| {
        let found = search(top, |search| {
            search.directories(Directories::Similar(share));
        });
        found
            .similar
            .iter()
            .map(|pair| (pair.percent(), pair.common))
            .collect::<Vec<_>>()
    };
    // 9 of the 11 files of the larger one.
    assert_eq!(percent(81), [(81, 900)]);
    assert_eq!(percent(82), []);
    let found = search(top, |search| search.directories(Directories::Similar(50)));
    let pair = &found.similar[0];
    assert_eq!(pair.sizes, [1000, 1100]);
    assert!(pair.paths[0].ends_with(b"/a") && pair.paths[1].ends_with(b"/b"));
}
