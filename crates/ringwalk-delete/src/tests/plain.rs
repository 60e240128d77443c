//! Deletion where nobody interferes, refusals, and failures of single entries.

use super::super::testing::{Place, Results, Tree, as_nobody, identity};
use super::super::{Reason, Root, RootProblem, delete};
use super::run;
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn files_and_directories_are_deleted_with_what_is_below() {
    let place = Place::with(&["a/b/c", "a/b/d", "a/e", "f", "g"]);
    symlink(place.outside(), place.at("a/link")).unwrap();
    let tree = Tree::read(&place.root());
    let (outcome, results) = run(&place, &tree, &["a", "f"]);
    assert_eq!(results.kept, []);
    let deleted = ["a", "a/b", "a/b/c", "a/b/d", "a/e", "a/link", "f"];
    assert_eq!(results.deleted(&tree), deleted);
    assert!(!outcome.is_cancelled);
    let names: Vec<_> = fs::read_dir(place.root())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["g"]);
}

#[test]
fn an_entry_deep_below_the_root_can_be_selected() {
    let place = Place::with(&["a/b/c", "a/b/d"]);
    let tree = Tree::read(&place.root());
    let (_, results) = run(&place, &tree, &["a/b/c"]);
    assert_eq!(results.deleted(&tree), ["a/b/c"]);
    assert!(place.at("a/b/d").exists());
}

#[test]
fn a_new_entry_keeps_its_directory() {
    let place = Place::with(&["a/b/c", "a/d"]);
    let tree = Tree::read(&place.root());
    place.write("a/b/new");
    let (_, results) = run(&place, &tree, &["a"]);
    assert_eq!(results.deleted(&tree), ["a/b/c", "a/d"]);
    let kept = [
        ("a/b".into(), Reason::NotShown),
        ("a".into(), Reason::HoldsKept),
    ];
    assert_eq!(results.kept(&tree), kept);
    assert!(place.at("a/b/new").exists());
}

#[test]
fn an_entry_that_was_made_again_is_kept() {
    let place = Place::with(&["a/b", "a/c"]);
    let tree = Tree::read(&place.root());
    fs::remove_file(place.at("a/b")).unwrap();
    place.write("a/b");
    fs::remove_file(place.at("a/c")).unwrap();
    let (_, results) = run(&place, &tree, &["a"]);
    let mut kept = results.kept(&tree);
    kept.sort_by(|a, b| a.0.cmp(&b.0));
    let reasons = [
        ("a".into(), Reason::HoldsKept),
        ("a/b".into(), Reason::Replaced),
        ("a/c".into(), Reason::Missing),
    ];
    assert_eq!(kept, reasons);
    assert!(place.at("a/b").exists());
}

#[test]
fn a_time_of_birth_decides_where_the_inode_number_is_the_same() {
    let place = Place::with(&["a"]);
    let tree = Tree::read(&place.root());
    let mut selection = tree.select("a");
    // The number of a deleted file may be reused at once, which a test cannot force.
    let other = ringwalk::Timestamp { secs: 1, nanos: 1 };
    selection.entry.identity.mark = Some(super::super::Mark::of_birth(other));
    let mut results = Results::default();
    delete(
        &tree.root(),
        &[selection],
        &tree,
        &place.log(),
        &mut results,
    )
    .unwrap();
    assert_eq!(results.kept(&tree), [("a".into(), Reason::Replaced)]);
    assert!(place.at("a").exists());
}

#[test]
fn the_last_hard_link_frees_the_space() {
    let place = Place::with(&["a"]);
    fs::hard_link(place.at("a"), place.at("b")).unwrap();
    let allocated = place.at("a").metadata().unwrap().blocks() * 512;
    let tree = Tree::read(&place.root());
    let (outcome, results) = run(&place, &tree, &["a"]);
    assert_eq!((outcome.freed, results.kept.len()), (0, 0));
    let (outcome, _) = run(&place, &tree, &["b"]);
    assert_eq!(outcome.freed, allocated);
}

#[test]
fn the_root_another_root_and_names_that_are_paths_are_refused() {
    let place = Place::with(&["a/b/c", "file"]);
    let tree = Tree::read(&place.root());
    let mut root = tree.root();
    root.protect(identity(&place.at("a/b")));
    let mut selections = vec![tree.select("a")];
    for name in ["", ".", "..", "a/b", "../outside/file", "/", "file\0"] {
        let mut selection = tree.select("file");
        selection.entry.name = name.into();
        selections.push(selection.clone());
        selection.entry.is_directory = true;
        selection.entry.identity = identity(&place.root());
        selections.push(selection.clone());
        selection.parents = tree.select("a/b").parents;
        selections.push(selection);
    }
    let mut results = Results::default();
    delete(&root, &selections, &tree, &place.log(), &mut results).unwrap();
    assert!(results.deleted.is_empty());
    let mut kept = results.kept(&tree);
    let first = [
        ("a/b".into(), Reason::Root),
        ("a".into(), Reason::HoldsKept),
    ];
    assert_eq!(kept.drain(..2).collect::<Vec<_>>(), first);
    assert!(
        kept.iter().all(|(_, reason)| *reason == Reason::Name),
        "{kept:?}"
    );
    assert!(place.at("a/b/c").exists() && place.at("file").exists());
    place.check_outside();
}

#[test]
fn a_root_that_is_another_directory_now_is_not_opened() {
    let place = Place::new();
    let shown = identity(&place.root());
    let error = Root::open(&place.outside(), shown).unwrap_err();
    assert_eq!(error.problem, RootProblem::Replaced);
    let error = Root::open(&place.at("none"), shown).unwrap_err();
    assert_eq!(error.problem, RootProblem::Open(Errno::NOENT));
}

#[test]
fn an_immutable_file_is_kept_with_the_reason() {
    let place = Place::with(&["a/b", "a/c"]);
    let set = |flag: &str| {
        let status = Command::new("chattr")
            .arg(flag)
            .arg(place.at("a/b"))
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !set("+i") {
        eprintln!("skipped: chattr +i is not possible here");
        return;
    }
    let tree = Tree::read(&place.root());
    let (_, results) = run(&place, &tree, &["a"]);
    assert!(set("-i"));
    let failed = Reason::Failed {
        action: "remove",
        errno: Errno::PERM,
    };
    let kept = [("a/b".into(), failed), ("a".into(), Reason::HoldsKept)];
    assert_eq!(results.kept(&tree), kept);
    assert_eq!(failed.to_string(), "cannot remove: Operation not permitted");
}

#[test]
fn a_directory_without_permission_is_kept_with_the_reason() {
    let place = Place::with(&["a/b", "c"]);
    let tree = Tree::read(&place.root());
    fs::set_permissions(place.directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let results = as_nobody(|| {
        let (_, results) = run(&place, &tree, &["a", "c"]);
        results.kept(&tree)
    });
    let Some(kept) = results else { return };
    let failed = Reason::Failed {
        action: "remove",
        errno: Errno::ACCESS,
    };
    let expected = [
        ("a/b".into(), failed),
        ("a".into(), Reason::HoldsKept),
        ("c".into(), failed),
    ];
    assert_eq!(kept, expected);
}

#[test]
fn a_deletion_stops_between_entries_when_it_is_cancelled() {
    let files: Vec<String> = (0..100).map(|number| format!("a/{number}")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let place = Place::with(&files);
    let tree = Tree::read(&place.root());
    let mut results = Results {
        cancel: Some(Box::new(|before| before == 31)),
        ..Results::default()
    };
    let selections = [tree.select("a"), tree.select("a/7")];
    let outcome = delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
    assert!(outcome.is_cancelled);
    assert_eq!((results.deleted.len(), results.kept.len()), (30, 0));
    assert_eq!(fs::read_dir(place.at("a")).unwrap().count(), 70);
    assert_eq!(results.questions, 32);
}

#[test]
fn the_log_is_never_deleted() {
    let place = Place::with(&["a/log", "a/b"]);
    let tree = Tree::read(&place.root());
    let log = super::super::Log::open(&place.at("a/log")).unwrap();
    let mut results = Results::default();
    delete(&tree.root(), &[tree.select("a")], &tree, &log, &mut results).unwrap();
    let kept = [
        ("a/log".into(), Reason::Log),
        ("a".into(), Reason::HoldsKept),
    ];
    assert_eq!(results.kept(&tree), kept);
    assert!(place.at("a/log").exists());
}

#[test]
fn names_of_any_bytes_are_deleted_and_logged() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"x\xff\n\x1b[31m");
    fs::write(place.root().join(name), "").unwrap();
    let tree = Tree::read(&place.root());
    let selection = tree.select(Path::new(name));
    delete(
        &tree.root(),
        &[selection],
        &tree,
        &place.log(),
        &mut Results::default(),
    )
    .unwrap();
    assert!(!place.root().join(name).exists());
    let lines = place.lines();
    let path = lines[1]["path"].as_str().unwrap();
    assert!(path.ends_with("root/x\\xff\n\u{1b}[31m"), "{path}");
    let raw = lines[1]["path_raw"].as_str().unwrap();
    assert!(raw.ends_with("2f78ff0a1b5b33316d"), "{raw}");
}
