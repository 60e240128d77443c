use super::*;
use ringwalk::{Fields, Follow, Summary, Walk};
use std::path::PathBuf;
use std::sync::Mutex;

/// A directory with a file of 5 bytes that has two names, and a link to it.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    std::fs::create_dir(path.join("sub")).unwrap();
    std::fs::write(path.join("file"), "12345").unwrap();
    std::fs::hard_link(path.join("file"), path.join("sub/again")).unwrap();
    std::os::unix::fs::symlink("file", path.join("link")).unwrap();
    dir
}

fn walk<'t>(roots: &[PathBuf], fields: Fields, report: &'t Report<'t>) -> (Tally<'t>, Summary) {
    let walk = Walk::from_roots(roots.iter().map(PathBuf::as_path)).fields(fields);
    let outcome = walk.follow(Follow::CommandLine).run(|_| Tally::new(report));
    let none = Tally::new(report);
    (
        outcome.visitors.iter().fold(none, Tally::plus),
        outcome.summary,
    )
}

fn quiet(_: ReadError<'_>) {}

#[test]
fn every_name_below_counts_with_its_size() {
    let tree = tree();
    let sub = std::fs::symlink_metadata(tree.path().join("sub"))
        .unwrap()
        .len();
    let (tally, summary) = walk(&[tree.path().to_owned()], Fields::SIZE, &quiet);
    assert_eq!(
        (tally.files(), tally.bytes),
        (4, u128::from(5 + 5 + 4 + sub))
    );
    let of = |file_type| tally.of(file_type);
    assert_eq!(
        [FileType::Regular, FileType::Symlink, FileType::Directory].map(of),
        [2, 1, 1]
    );
    assert_eq!(summary.directories, 2);
}

#[test]
fn each_type_comes_up_once() {
    let mut tally = Tally::new(&quiet);
    for (d_type, files) in (0..).zip(&mut tally.types) {
        *files = u64::from(FileType::from_d_type(d_type) as u8 == d_type);
    }
    let all: Vec<_> = tally.by_type().collect();
    assert_eq!(all.len() as u64, tally.files());
    assert!(all.contains(&(FileType::Unknown, 1)) && all.contains(&(FileType::Socket, 1)));
}

#[test]
fn without_metadata_names_count() {
    let tree = tree();
    let roots = [tree.path().to_owned(), tree.path().join("sub")];
    let (tally, _) = walk(&roots, Fields::empty(), &quiet);
    assert_eq!((tally.files(), tally.bytes), (5, 0));
}

#[test]
fn a_link_that_leads_nowhere_is_told_from_a_file() {
    let tree = tree();
    let nowhere = tree.path().join("nowhere");
    std::os::unix::fs::symlink("missing", &nowhere).unwrap();
    assert_eq!(no_directory(&nowhere), Errno::NOENT);
    assert_eq!(no_directory(&tree.path().join("link")), Errno::NOTDIR);
}

#[test]
fn roots_that_are_no_directories_are_told_of() {
    let tree = tree();
    let reported = Mutex::new(Vec::new());
    let report = |error: ReadError<'_>| {
        let name = error.path.file_name().unwrap().to_owned();
        reported.lock().unwrap().push((name, error.errno));
    };
    let roots = ["file", "missing"].map(|name| tree.path().join(name));
    let (tally, summary) = walk(&roots, Fields::SIZE, &report);
    assert_eq!((tally.files(), tally.no_directories), (0, 1));
    assert_eq!(summary.errors, 1);
    let mut reported = reported.lock().unwrap().clone();
    reported.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        reported,
        [
            ("file".into(), Errno::NOTDIR),
            ("missing".into(), Errno::NOENT)
        ]
    );
}
