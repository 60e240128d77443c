//! A program edits the files while an action runs. **Each edit that its system calls have
//! acknowledged must be found afterwards, under the name that was edited.**
//!
//! `RINGWALK_TEST_ROUNDS` is the number of rounds of each test.

use super::support::{Place, mounted};
use crate::act::{Action, Reason};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

const FILES: usize = 24;
const EDITORS: usize = 2;
const LENGTH: usize = 60_000;

/// How a program changes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// Opens it, appends, closes it.
    Append,
    /// Opens and truncates it, writes all of it, closes it.
    Rewrite,
    /// Writes another file, and renames that to its name.
    Rename,
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Edits a file that exists.
fn edit(path: &Path, how: Edit, token: &str) -> io::Result<()> {
    match how {
        Edit::Append => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            file.write_all(token.as_bytes())
        }
        Edit::Rewrite => {
            let mut contents = fs::read(path)?;
            contents.extend_from_slice(token.as_bytes());
            let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
            file.write_all(&contents)
        }
        Edit::Rename => {
            let mut contents = fs::read(path)?;
            contents.extend_from_slice(token.as_bytes());
            let new = path.with_extension("new");
            fs::write(&new, &contents)?;
            fs::rename(&new, path)
        }
    }
}

/// Edits files until the flag is set. Returns what was acknowledged.
fn editor(
    paths: &[PathBuf],
    edits: &[Edit],
    mut random: Random,
    is_over: &AtomicBool,
) -> Vec<(PathBuf, String)> {
    let mut acknowledged = Vec::new();
    let mut number = 0;
    // A few edits may come when all is over.
    let mut more = 3;
    while more > 0 {
        more -= i32::from(is_over.load(Ordering::Relaxed));
        let path = &paths[random.below(paths.len())];
        let how = edits[random.below(edits.len())];
        number += 1;
        let token = format!("<{} {number} {how:?}>\n", path.display());
        match edit(path, how, &token) {
            Ok(()) => acknowledged.push((path.clone(), token)),
            // It was deleted before this edit.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => panic!("{path:?}: {error}"),
        }
        if random.below(3) == 0 {
            thread::sleep(Duration::from_micros(random.below(400) as u64));
        }
    }
    acknowledged
}

/// What happened in all rounds.
#[derive(Debug, Default)]
struct Sum {
    edits: usize,
    done: u64,
    kept: u64,
    displaced: usize,
}

fn round(place: &Place, action: Action, edits: &[Edit], seed: u64, sum: &mut Sum) {
    let contents = vec![b'x'; LENGTH];
    let names: Vec<String> = (0..FILES).map(|n| format!("{}/{n}", n % 3)).collect();
    for name in names.iter().map(String::as_str).chain(["keep"]) {
        place.write(name, &contents);
    }
    let others: Vec<&str> = names.iter().map(String::as_str).collect();
    let group = place.group("keep", &others);
    let mut paths: Vec<PathBuf> = names.iter().map(|name| place.at(name)).collect();
    // In one of four rounds the file to keep is edited, too.
    if seed.is_multiple_of(4) {
        paths.push(place.at("keep"));
    }
    let is_over = AtomicBool::new(false);
    let (acknowledged, results) = thread::scope(|scope| {
        let is_over = &is_over;
        let editors: Vec<_> = paths
            .chunks(paths.len().div_ceil(EDITORS))
            .zip(1..)
            .map(|(paths, number)| {
                let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | number);
                scope.spawn(move || editor(paths, edits, random, is_over))
            })
            .collect();
        let results = place.act(&group, action);
        is_over.store(true, Ordering::Relaxed);
        let acknowledged = editors
            .into_iter()
            .flat_map(|editor| editor.join().unwrap());
        (acknowledged.collect::<Vec<_>>(), results)
    });
    let displaced: Vec<PathBuf> = results
        .reasons()
        .into_iter()
        .filter_map(|reason| match reason {
            Reason::Displaced(path) => Some(path),
            _ => None,
        })
        .collect();
    // All displaced files were reported, and nothing else is left.
    let mut leftovers = place.leftovers();
    leftovers.sort();
    let mut expected = displaced.clone();
    expected.sort();
    assert_eq!(leftovers, expected);
    for (path, token) in &acknowledged {
        let has = |path: &PathBuf| {
            let contents = fs::read(path).unwrap_or_default();
            contents
                .windows(token.len())
                .any(|part| part == token.as_bytes())
        };
        let is_there = has(path) || displaced.iter().any(has);
        assert!(is_there, "{action:?}: {token} is lost: {:?}", results.kept);
    }
    sum.edits += acknowledged.len();
    sum.done += results.outcome.done;
    sum.kept += results.outcome.kept;
    sum.displaced += displaced.len();
    for entry in fs::read_dir(&place.root).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() != "lost+found" => fs::remove_dir_all(entry.path()).unwrap(),
            true => {}
            false => fs::remove_file(entry.path()).unwrap(),
        }
    }
}

fn rounds(place: &Place, action: Action, edits: &[Edit]) {
    let rounds = std::env::var("RINGWALK_TEST_ROUNDS");
    let rounds = rounds.map_or(8, |rounds| rounds.parse().unwrap());
    let mut sum = Sum::default();
    for seed in 1..=rounds * 50 {
        round(place, action, edits, seed, &mut sum);
        // Otherwise this test shows nothing: on a busy machine edits come late.
        if seed >= rounds && sum.edits > 0 && sum.done > 0 && sum.kept > 0 {
            eprintln!("{action:?} {edits:?}: {sum:?} after {seed} rounds");
            return;
        }
    }
    panic!("{action:?} {edits:?}: {sum:?}");
}

#[test]
fn no_edit_is_lost_while_files_are_deleted() {
    let place = Place::in_memory();
    rounds(&place, Action::Delete, &[Edit::Append]);
    rounds(&place, Action::Delete, &[Edit::Rename]);
    rounds(
        &place,
        Action::Delete,
        &[Edit::Append, Edit::Rewrite, Edit::Rename],
    );
}

#[test]
fn no_edit_is_lost_while_files_go_to_the_trash() {
    let place = Place::in_memory();
    rounds(
        &place,
        Action::Trash,
        &[Edit::Append, Edit::Rewrite, Edit::Rename],
    );
}

/// Names of one file share edits of its contents. A program that writes back what it has read can
/// undo an edit under another name, so no file is rewritten here.
#[test]
fn no_edit_is_lost_while_files_become_hard_links() {
    let place = Place::in_memory();
    rounds(&place, Action::Hardlink, &[Edit::Append]);
    rounds(&place, Action::Hardlink, &[Edit::Rename]);
    rounds(&place, Action::Hardlink, &[Edit::Append, Edit::Rename]);
}

#[test]
fn no_edit_is_lost_while_files_share_blocks() {
    for make in [
        &["mkfs.btrfs", "-q"][..],
        &["mkfs.xfs", "-q", "-m", "reflink=1"],
    ] {
        if let Some(mounted) = mounted(make) {
            let place = Place::at_root(&mounted.point());
            rounds(
                &place,
                Action::Dedupe,
                &[Edit::Append, Edit::Rewrite, Edit::Rename],
            );
        }
    }
}
