//! Compares the answers of a search with a search that compares every file with every other file.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of test data are small"
)]

mod support;

use ringwalk_dupes::{Directories, Found, Search};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use support::search;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// Sizes around those at which reading changes.
const SIZES: [u64; 17] = [
    0,
    1,
    100,
    4095,
    4096,
    8192,
    8193,
    131_072,
    262_144,
    262_145,
    1 << 20,
    (1 << 20) + 1,
    (4 << 20) - 1,
    4 << 20,
    (4 << 20) + 1,
    (16 << 20) + 7,
    33 << 20,
];

/// Writes a file that differs from others of its size in the byte at one of few places, or not at
/// all.
fn write(path: &Path, size: u64, numbers: &mut Numbers) {
    let file = File::create(path).unwrap();
    if numbers.next(6) == 0 {
        file.set_len(size).unwrap();
    } else {
        let block: Vec<u8> = (0..65_536_u32).map(|at| (at % 251) as u8).collect();
        let mut at = 0;
        while at < size {
            let part = (size - at).min(block.len() as u64) as usize;
            file.write_all_at(&block[..part], at).unwrap();
            at += part as u64;
        }
    }
    if size > 0 {
        let place = match numbers.next(5) {
            0 => return,
            1 => size - 1,
            2 => 0,
            3 => size / 2,
            _ => size.saturating_sub(4097),
        };
        file.write_all_at(&[0xff], place).unwrap();
    }
}

fn make_tree(top: &Path, files: u64, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut directories = vec![top.to_owned()];
    let mut paths: Vec<PathBuf> = Vec::new();
    for at in 0..files {
        let directory = directories[numbers.next(directories.len() as u64) as usize].clone();
        if numbers.next(6) == 0 {
            let new = directory.join(format!("d{at}"));
            fs::create_dir(&new).unwrap();
            directories.push(new);
        }
        let path = directory.join(format!("f{at}"));
        let choice = numbers.next(10);
        if choice == 0 && !paths.is_empty() {
            let old = &paths[numbers.next(paths.len() as u64) as usize];
            fs::hard_link(old, &path).unwrap();
        } else {
            let size = SIZES[numbers.next(SIZES.len() as u64) as usize];
            write(&path, size, &mut numbers);
        }
        paths.push(path);
    }
}

/// Returns the groups of names of inodes, found by comparison of all contents.
fn brute_force(top: &Path, min: u64) -> BTreeSet<BTreeSet<BTreeSet<PathBuf>>> {
    let mut inodes: BTreeMap<u64, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut left = vec![top.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                let names = inodes.entry(entry.metadata().unwrap().ino()).or_default();
                names.insert(entry.path());
            }
        }
    }
    let mut groups: BTreeMap<Vec<u8>, BTreeSet<BTreeSet<PathBuf>>> = BTreeMap::new();
    for names in inodes.into_values() {
        let contents = fs::read(names.first().unwrap()).unwrap();
        if contents.len() as u64 >= min {
            groups.entry(contents).or_default().insert(names);
        }
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

fn groups(found: &Found) -> BTreeSet<BTreeSet<BTreeSet<PathBuf>>> {
    let path = |path: &[u8]| {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(std::ffi::OsStr::from_bytes(path))
    };
    found
        .groups()
        .map(|group| {
            let copies = group.copies.iter();
            copies
                .map(|copy| copy.names.iter().map(|name| path(name.path())).collect())
                .collect()
        })
        .collect()
}

#[test]
fn the_answer_is_that_of_brute_force() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        make_tree(folder.path(), 150, seed);
        for min in [1, 4096, 1 << 20] {
            let expected = brute_force(folder.path(), min);
            assert!(expected.len() > 3);
            let found = search(folder.path(), |search| search.min(min));
            assert_eq!(
                groups(&found),
                expected,
                "seed {seed}, at least {min} bytes"
            );
            for group in found.groups() {
                let contents =
                    fs::read(std::str::from_utf8(group.copies[0].path()).unwrap()).unwrap();
                assert_eq!(contents.len() as u64, group.size);
                let hash: [u8; 32] = blake3::hash(&contents).into();
                assert_eq!(group.hash, Some(hash));
            }
        }
        let with_directories = search(folder.path(), |search| {
            search.directories(Directories::Same);
        });
        assert_eq!(
            groups(&with_directories),
            brute_force(folder.path(), 1),
            "seed {seed}"
        );
    }
}

#[test]
fn a_tree_given_twice_is_searched_once() {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path(), 60, 9);
    let top = folder.path();
    let below = fs::read_dir(top)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let search = Search::new([top, top, &below]).unwrap();
    let walk = search.walk();
    let found = search.run(walk, &|_| {}).unwrap();
    assert_eq!(groups(&found), brute_force(top, 1));
}

#[test]
fn with_a_reference_its_files_come_first() {
    let folder = tempfile::tempdir().unwrap();
    make_tree(folder.path(), 60, 9);
    let top = folder.path();
    let reference = top.join("reference");
    fs::create_dir(&reference).unwrap();
    for (at, group) in brute_force(top, 1).into_iter().enumerate().take(3) {
        let file = group.first().unwrap().first().unwrap();
        fs::copy(file, reference.join(format!("r{at}"))).unwrap();
    }
    let mut expected = brute_force(top, 1);
    expected.retain(|group| {
        group
            .iter()
            .flatten()
            .any(|path| path.starts_with(&reference))
    });
    assert_eq!(expected.len(), 3);
    let found = search(top, |search| search.keep_in(&reference).unwrap());
    assert_eq!(groups(&found), expected);
    for group in found.groups() {
        let first = std::str::from_utf8(group.copies[0].path()).unwrap();
        assert!(Path::new(first).starts_with(&reference) && group.copies[0].is_reference);
    }
}
