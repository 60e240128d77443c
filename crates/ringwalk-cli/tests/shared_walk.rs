//! The folder of a walk that several processes shared, in place of a snapshot.

use ringwalk::Budget;
use ringwalk_snapshot::cluster::{Task, TaskNumber};
use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroU64;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Makes a tree, a snapshot of it, and the folder of a walk of it.
struct Saved {
    _all: tempfile::TempDir,
    tree: PathBuf,
    snapshot: PathBuf,
    shared: PathBuf,
}

impl Saved {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let path = |name| all.path().canonicalize().unwrap().join(name);
        let (tree, snapshot, shared) = (path("tree"), path("snapshot"), path("shared"));
        for name in ["a/b", "a/c", "d"] {
            fs::create_dir_all(tree.join(name)).unwrap();
            fs::write(tree.join(name).join("file.txt"), name).unwrap();
        }
        let done = ringwalk([
            "snapshot".as_ref(),
            tree.as_os_str(),
            "-o".as_ref(),
            snapshot.as_ref(),
        ]);
        assert!(done.status.success());
        share(&tree, &shared);
        Self {
            _all: all,
            tree,
            snapshot,
            shared,
        }
    }
}

/// Does what the driver of a walk does, with one task.
fn share(tree: &Path, folder: &Path) {
    for name in ["parts", "todo", "errors"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let number = TaskNumber {
        task: 1,
        epoch: 1,
        attempt: 0,
    };
    let task = Task::new(folder, [tree], number).unwrap();
    let budget = Budget {
        time: None,
        entries: NonZeroU64::new(1_000_000),
    };
    let report = task.run(task.walk().budget(budget)).unwrap();
    assert_eq!(report.left, 0);
    let (part, rows, bytes) = (&report.part, report.rows, report.bytes);
    let manifest = format!("{{\"path\": {part:?}, \"rows\": {rows}, \"bytes\": {bytes}}}\n");
    fs::write(folder.join("manifest.jsonl"), manifest).unwrap();
    fs::write(folder.join("snapshot.json"), "{\"format\": 1}").unwrap();
    fs::write(folder.join("verdict.json"), "{}").unwrap();
}

/// Makes a folder look as if one task of the walk, which should have read `a`, was set aside.
fn set_aside(folder: &Path) {
    let row = r#"{"root": 0, "path": "a", "operation": "task", "errno": 5, "message": "failed"}"#;
    fs::write(folder.join("errors/aside.errors"), format!("{row}\n")).unwrap();
}

/// Runs `ringwalk sql` with a program `duckdb` that is this script.
fn sql(saved: &Saved, script: &str) -> Output {
    let bin = saved.shared.with_file_name("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("duckdb");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_ringwalk"))
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .args([
            "sql".as_ref(),
            saved.shared.as_os_str(),
            "SELECT 1".as_ref(),
        ])
        .output()
        .unwrap()
}

fn ringwalk<'a>(arguments: impl IntoIterator<Item = &'a OsStr>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ringwalk"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Commands with an answer that may lack something. `sql` is another one.
const READERS: &[&[&str]] = &[
    &["find", "--from", "FROM", "TREE"],
    &["du", "--from", "FROM", "TREE"],
    &["count", "--from", "FROM", "TREE"],
    &["report", "FROM", "--by", "ext"],
    &["diff", "SNAPSHOT", "FROM"],
    &["diff", "FROM", "SNAPSHOT"],
    &["diff", "FROM", "TREE"],
];

/// The answers of a command from the snapshot and from the folder.
fn both(saved: &Saved, arguments: &[&str]) -> [Output; 2] {
    [&saved.snapshot, &saved.shared].map(|from| {
        let words = arguments.iter().map(|word| match *word {
            "FROM" => from.as_os_str(),
            "SNAPSHOT" => saved.snapshot.as_os_str(),
            "TREE" => saved.tree.as_os_str(),
            word => OsStr::new(word),
        });
        ringwalk(words)
    })
}

#[test]
fn each_command_answers_from_the_folder_as_from_a_snapshot() {
    let saved = Saved::new();
    for arguments in [
        &["find", "--from", "FROM", "TREE", "-name", "*.txt"][..],
        &["du", "-ab", "--from", "FROM", "TREE"],
        &["count", "--from", "FROM", "TREE"],
        &["report", "FROM", "--by", "ext", "--format=csv"],
        &["export", "FROM", "--format", "csv"],
        &["diff", "SNAPSHOT", "FROM"],
        &["diff", "FROM", "TREE"],
    ] {
        let [snapshot, shared] = both(&saved, arguments);
        let error = String::from_utf8_lossy(&shared.stderr);
        assert!(snapshot.status.success(), "{arguments:?}");
        assert!(shared.status.success(), "{arguments:?}: {error}");
        // `diff` of the same trees says when they were read, and nothing else.
        if arguments[0] != "diff" {
            assert!(!snapshot.stdout.is_empty(), "{arguments:?}");
            assert_eq!(snapshot.stdout, shared.stdout, "{arguments:?}");
        }
    }
}

#[test]
fn a_walk_that_is_not_over_is_no_snapshot() {
    let saved = Saved::new();
    fs::remove_file(saved.shared.join("verdict.json")).unwrap();
    let sql = ["sql", "FROM", "SELECT 1"];
    for arguments in READERS.iter().copied().chain([&sql[..]]) {
        let [_, shared] = both(&saved, arguments);
        assert!(!shared.status.success() && shared.stdout.is_empty());
        let error = String::from_utf8_lossy(&shared.stderr);
        let wanted = format!("'{}': the walk is not finished", saved.shared.display());
        assert!(error.contains(&wanted), "{arguments:?}: {error}");
    }
}

#[test]
fn a_part_that_is_missing_is_named() {
    let saved = Saved::new();
    fs::remove_dir_all(saved.shared.join("tmp")).unwrap();
    let [_, shared] = both(&saved, &["find", "--from", "FROM", "TREE"]);
    assert!(!shared.status.success() && shared.stdout.is_empty());
    let error = String::from_utf8_lossy(&shared.stderr);
    assert!(error.contains(".parquet"), "{error}");
}

#[test]
fn what_a_task_that_was_set_aside_should_have_read_is_no_status_0() {
    let saved = Saved::new();
    set_aside(&saved.shared);
    for arguments in READERS {
        let [snapshot, shared] = both(&saved, arguments);
        let error = String::from_utf8_lossy(&shared.stderr);
        assert!(snapshot.status.success(), "{arguments:?}");
        assert!(!shared.status.success(), "{arguments:?}");
        let named = error.contains("Input/output error") || error.contains("is incomplete");
        assert!(named, "{arguments:?}: {error}");
    }
    let asked = sql(&saved, "exit 0");
    let error = String::from_utf8_lossy(&asked.stderr);
    assert_eq!(asked.status.code(), Some(1), "{error}");
    assert!(error.contains("is incomplete: 1 error; see the view errors"));
}

/// The program `duckdb` of the Python package `duckdb-cli` is a script that closes descriptors.
#[test]
fn duckdb_reads_a_folder_also_behind_a_script() {
    let script = r#"
        path=$(printf %s "$2" | sed -n "s/.*read_parquet('\([^']*\)').*/\1/p" | head -n 1)
        for number in 3 4 5 6 7 8 9; do eval "exec $number<&-"; done
        exec head -c 4 "$path""#;
    let answer = sql(&Saved::new(), script);
    let error = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{error}");
    assert_eq!(answer.stdout, b"PAR1");
}
