//! Random expressions over random trees: `ringwalk find` and GNU find print the same and end alike.
//!
//! `PROPTEST_CASES` sets how many there are.

mod tree;
mod words;

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// How many trees there are.
const TREES: u64 = 8;

/// The directory in which the tree of this seed lies; made when it is first asked for.
fn with_tree<R>(seed: u64, work: impl FnOnce(&Path) -> R) -> R {
    static MADE: Mutex<BTreeMap<u64, TempDir>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = made.entry(seed).or_insert_with(|| {
        let folder = tempfile::tempdir().expect("a directory for a tree");
        tree::make(folder.path(), seed);
        folder
    });
    work(folder.path())
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

/// The pieces between newlines, in sorted order. Names with newlines give the same pieces on both sides.
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_expressions_give_what_gnu_find_gives(
        line in words::command_line(),
        seed in 0..TREES,
        locale in prop_oneof![Just("C"), Just("C.UTF-8")],
        workers in 1..5_u8,
    ) {
        prop_assume!(gnu_find_is_here());
        let (expected, got) = with_tree(seed, |folder| {
            let expected = run("find".as_ref(), &[], &line, folder, locale, workers);
            let ours = std::env::var_os("RINGWALK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_ringwalk").into());
            (expected, run(&ours, &["find"], &line, folder, locale, workers))
        });
        let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        prop_assert_eq!(
            expected.status.code(), got.status.code(), "GNU: {}\nours: {}", told(&expected), told(&got)
        );
        let (wanted, printed) = (pieces(&expected.stdout), pieces(&got.stdout));
        if wanted != printed {
            let show = |all: &[&[u8]], without: &[&[u8]]| -> String {
                let missing = all.iter().filter(|piece| !without.contains(piece)).take(8);
                missing.map(|piece| piece.escape_ascii().to_string() + "\n").collect()
            };
            prop_assert!(
                false, "missing:\n{}surplus:\n{}(of {} and {})",
                show(&wanted, &printed), show(&printed, &wanted), wanted.len(), printed.len()
            );
        }
    }
}
