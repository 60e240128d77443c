//! Random expressions over random trees: `ringwalk find` and GNU find print the same and end alike.
//! So does `ringwalk find --from` a snapshot of the tree, if a snapshot has all that is asked for.
//!
//! `PROPTEST_CASES` sets the number of expressions.

mod tree;
mod words;

use proptest::prelude::*;
use ringwalk::sync::lock;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// The number of trees.
const TREES: u64 = 8;

/// A tree, and the snapshot of it in another directory.
struct Made {
    folder: TempDir,
    saved: TempDir,
}

impl Made {
    fn new(seed: u64) -> Self {
        let directory = || tempfile::tempdir().expect("a directory");
        let (folder, saved) = (directory(), directory());
        tree::make(folder.path(), seed);
        let output = Command::new(ours())
            .args(["snapshot", "--atime", "-o"])
            .arg(saved.path().join("snapshot"))
            .arg(folder.path())
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{output:?}");
        Self { folder, saved }
    }
}

/// Returns the program under test.
fn ours() -> OsString {
    std::env::var_os("RINGWALK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_ringwalk").into())
}

/// Calls `work` with the directory of the tree of this seed, and with the snapshot. The first call
/// makes both.
fn with_tree<R>(seed: u64, work: impl FnOnce(&Path, &Path) -> R) -> R {
    static MADE: Mutex<BTreeMap<u64, Made>> = Mutex::new(BTreeMap::new());
    let mut made = lock(&MADE);
    let made = made.entry(seed).or_insert_with(|| Made::new(seed));
    work(made.folder.path(), &made.saved.path().join("snapshot"))
}

/// Returns true if a snapshot has all that a line asks for.
fn is_answered(line: &[String]) -> bool {
    let needs_files = |word: &String| {
        matches!(
            &**word,
            "-L" | "-xtype" | "-readable" | "-writable" | "-executable"
        )
    };
    let follows_start = |word: &String| word == "-H" && line.contains(&"t/links/l0".to_owned());
    !line
        .iter()
        .any(|word| needs_files(word) || follows_start(word) || word.contains("%Y"))
}

fn run(
    program: &OsStr,
    first: &[&str],
    line: &[String],
    folder: &Path,
    locale: &str,
    workers: u8,
) -> Output {
    Command::new(program)
        .args(first)
        .args(line)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", locale)
        .env("TZ", "UTC0")
        .env("RINGWALK_WORKERS", workers.to_string())
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

/// Returns the pieces between newlines, sorted. Names with newlines give the same pieces on both
/// sides.
fn pieces(output: &[u8]) -> Vec<&[u8]> {
    let mut pieces: Vec<_> = output.split(|&byte| byte == b'\n').collect();
    pieces.sort_unstable();
    pieces
}

fn gnu_find_is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    *HERE.get_or_init(|| {
        let version = Command::new("find").arg("--version").output();
        let here = version.is_ok_and(|done| done.stdout.starts_with(b"find (GNU findutils) 4.9"));
        if !here {
            eprintln!("skipped: find is not GNU find 4.9");
        }
        here
    })
}

/// Returns true if an expression has a class of characters in the syntax `emacs`, which knows
/// classes since findutils 4.11.
fn has_newer_class(line: &[String]) -> bool {
    let mut is_emacs = true;
    line.windows(2).any(|pair| {
        if pair[0] == "-regextype" {
            is_emacs = pair[1] == "emacs";
        }
        is_emacs && pair[0].ends_with("regex") && pair[1].contains("[[:")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_expressions_give_what_gnu_find_gives(
        line in words::command_line(),
        seed in 0..TREES,
        locale in prop_oneof![Just("C"), Just("C.UTF-8")],
        workers in 1..5_u8,
    ) {
        prop_assume!(gnu_find_is_here() && !has_newer_class(&line));
        let (expected, got, saved) = with_tree(seed, |folder, snapshot| {
            let expected = run("find".as_ref(), &[], &line, folder, locale, workers);
            let got = run(&ours(), &["find"], &line, folder, locale, workers);
            let from = ["find", "--from", snapshot.to_str().expect("UTF-8")];
            let saved = is_answered(&line).then(|| run(&ours(), &from, &line, folder, locale, workers));
            (expected, got, saved)
        });
        compare(&expected, &got)?;
        if let Some(saved) = saved {
            compare(&expected, &saved)?;
        }
    }
}

/// Checks that two programs have printed the same and ended alike.
fn compare(expected: &Output, got: &Output) -> Result<(), TestCaseError> {
    let messages = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    prop_assert_eq!(
        expected.status.code(),
        got.status.code(),
        "GNU: {}\nours: {}",
        messages(expected),
        messages(got)
    );
    let (wanted, printed) = (pieces(&expected.stdout), pieces(&got.stdout));
    if wanted != printed {
        let show = |all: &[&[u8]], without: &[&[u8]]| -> String {
            let missing = all.iter().filter(|piece| !without.contains(piece)).take(8);
            missing
                .map(|piece| piece.escape_ascii().to_string() + "\n")
                .collect()
        };
        prop_assert!(
            false,
            "missing:\n{}surplus:\n{}(of {} and {})",
            show(&wanted, &printed),
            show(&printed, &wanted),
            wanted.len(),
            printed.len()
        );
    }
    Ok(())
}
