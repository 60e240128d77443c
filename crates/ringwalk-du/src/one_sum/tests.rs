use super::*;
use ringwalk::{Errno, Follow};
use std::os::unix::fs::{MetadataExt as _, symlink};

fn measure(root: &Path, follow: Follow, report: &Report<'_>) -> Usage {
    let walk = Walk::new(root).fields(Usage::FIELDS).follow(follow);
    Usage::measure(walk, None, &Rule::new(follow), report, &|| false)
}

fn no_error(error: ReadError<'_>) {
    panic!("{error:?}");
}

#[test]
fn a_file_with_two_names_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("one"), [7; 5000]).unwrap();
    std::fs::hard_link(dir.path().join("one"), dir.path().join("sub/two")).unwrap();
    let files = ["", "sub", "one"].map(|name| dir.path().join(name).metadata().unwrap());
    let usage = measure(dir.path(), Follow::Never, &no_error);
    assert_eq!(usage.files, 3);
    assert_eq!(usage.apparent, 5000, "directories have no apparent size");
    let blocks = files.iter().map(|m| u128::from(m.blocks()) * 512).sum();
    assert_eq!(usage.allocated, blocks);
}

#[test]
fn targets_of_links_count_once_and_loops_end() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    std::fs::write(dir.path().join("a/file"), [7; 100]).unwrap();
    for (target, name) in [
        ("../a", "b/a"),
        ("..", "a/up"),
        ("a/file", "file"),
        ("b", "c"),
    ] {
        symlink(target, dir.path().join(name)).unwrap();
    }
    for _ in 0..20 {
        let usage = measure(dir.path(), Follow::Always, &no_error);
        assert_eq!(usage.files, 4, "the root, a, b and the file");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let link = dir.path().join("link");
    for (target, errno) in [("missing", Errno::NOENT), ("file/below", Errno::NOTDIR)] {
        symlink(target, &link).unwrap();
        let reported = Mutex::new(Vec::new());
        let usage = measure(dir.path(), Follow::Always, &|error| {
            let error = (error.path.to_owned(), error.errno);
            reported.lock().unwrap().push(error);
        });
        assert_eq!(usage.files, 2);
        assert_eq!(*reported.lock().unwrap(), [(link.clone(), errno)]);
        let usage = measure(dir.path(), Follow::Never, &no_error);
        assert_eq!(usage.files, 3);
        std::fs::remove_file(&link).unwrap();
    }
}

#[test]
fn an_inode_sweep_adds_a_file_once_or_by_each_name() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    std::fs::write(&one, [7; 500]).unwrap();
    std::fs::hard_link(&one, two).unwrap();
    let files =
        [dir.path(), &one].map(|path| Metadata::of_path(None, path, false, Usage::FIELDS).unwrap());
    for (count_links, expected) in [(false, (500, 2)), (true, (1000, 3))] {
        let rule = Rule::new(Follow::Never).count_links(count_links);
        let adding = Adding::new(&rule, &Space, &no_error, &|| false);
        let mut adder = Adder::new(&adding);
        adder.files(&files);
        assert_eq!((adder.sum.apparent, adder.sum.files), expected);
    }
}

#[test]
#[should_panic(expected = "needs the whole tree")]
fn a_walk_that_may_leave_something_out_has_no_sum() {
    let walk = Walk::new(".").resume(Vec::new());
    let rule = Rule::new(Follow::Never);
    Usage::measure(walk, None, &rule, &|_| {}, &|| false);
}
