//! Closures in place of visitors: one for each worker, and the filter.

mod support;

use ringwalk::{Fields, FileType, Flow, Metadata, Operation, Walk};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Creates the files `a/b/c`, `d/e` and `f`.
fn small_tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a/b/c", "d/e", "f"] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    dir
}

#[test]
fn a_filter_sees_paths() {
    let dir = small_tree();
    let hidden = dir.path().join("a/b");
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&seen);
    let walk = support::walk(dir.path()).filter(move |candidate| {
        let path = candidate.path();
        assert!(candidate.depth() == 0 || path.file_name() == Some(candidate.file_name()));
        noted.lock().unwrap().insert(path.clone());
        path != hidden
    });
    let found: BTreeSet<_> = walk
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .collect();
    let paths = |names: &[&str]| -> BTreeSet<_> {
        let below = names.iter().map(|name| dir.path().join(name));
        below.chain([dir.path().to_owned()]).collect()
    };
    assert_eq!(found, paths(&["a", "a/b", "d", "d/e", "f"]));
    assert_eq!(*seen.lock().unwrap(), paths(&["a", "a/b", "d"]));
}

#[test]
fn types_and_names_are_those_of_the_standard_library() {
    let dir = small_tree();
    symlink("f", dir.path().join("link")).unwrap();
    for entry in support::walk(dir.path()) {
        let entry = entry.unwrap();
        let expected = entry.path().symlink_metadata().unwrap().file_type();
        let found: FileType = entry.file_type();
        assert_eq!(found.is_dir(), expected.is_dir());
        assert_eq!(found.is_file(), expected.is_file());
        assert_eq!(found.is_symlink(), expected.is_symlink());
        assert_eq!(Some(entry.file_name()), entry.path().file_name());
    }
    for (root, name) in [("/", "/"), ("..", ".."), ("src/", "src")] {
        let mut entries = support::walk(root).max_depth(0).into_iter();
        assert_eq!(entries.next().unwrap().unwrap().file_name(), name);
    }
}

#[test]
fn each_worker_has_a_closure() {
    let dir = tempfile::tempdir().unwrap();
    support::grow(dir.path(), &mut support::Random::new(15), 3000);
    let found = Mutex::new(Vec::new());
    let closures = AtomicUsize::new(0);
    let walk = support::walk(dir.path()).fields(Fields::SIZE);
    let summary = walk.workers(NonZeroUsize::new(4)).run_each(|| {
        closures.fetch_add(1, Ordering::Relaxed);
        |entry| {
            let entry = entry.unwrap();
            let size = entry.metadata().and_then(Metadata::size);
            let seen = (entry.path(), size.unwrap(), entry.depth());
            found.lock().unwrap().push(seen);
            Flow::Continue
        }
    });
    assert_eq!(closures.into_inner(), summary.workers);
    let found: BTreeSet<_> = found.into_inner().unwrap().into_iter().collect();
    assert!(found == support::expected(dir.path()));
}

#[test]
fn a_closure_prunes_and_stops() {
    let dir = small_tree();
    symlink(".", dir.path().join("link")).unwrap();
    let found = Mutex::new(Vec::new());
    support::walk(dir.path()).run_each(|| {
        |entry| {
            let entry = entry.unwrap();
            found.lock().unwrap().push(entry.file_name().to_owned());
            if entry.file_name() == "a" {
                Flow::Prune
            } else {
                Flow::Continue
            }
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.iter().all(|name| name != "b" && name != "c"));
    assert_eq!(found.len(), 1 + 4 + 1);
    let one = NonZeroUsize::new(1);
    let calls = AtomicUsize::new(0);
    let stopped = support::walk(dir.path()).workers(one).run_each(|| {
        |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            Flow::Stop
        }
    });
    assert!(stopped.stopped);
    assert_eq!(calls.into_inner(), 1);
    // An error stops the walk as well.
    let errors = AtomicUsize::new(0);
    let walk = Walk::new(dir.path()).follow_links(true).workers(one);
    let stopped = walk.run_each(|| {
        |entry| match entry {
            Ok(_) => Flow::Continue,
            Err(error) => {
                assert_eq!((error.operation(), error.depth()), (Operation::Loop, 1));
                errors.fetch_add(1, Ordering::Relaxed);
                Flow::Stop
            }
        }
    });
    assert_eq!(errors.into_inner(), 1);
    assert_eq!(stopped.errors, 1);
}
