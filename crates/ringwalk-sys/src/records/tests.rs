//! Unit tests of `records.rs`.

use super::*;
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::DirEntryExt;

#[test]
fn a_directory_in_many_calls_is_that_of_the_standard_library() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..200 {
        fs::write(
            dir.path().join(format!("{i:0width$}", width = 1 + i % 40)),
            b"",
        )
        .unwrap();
    }
    fs::create_dir(dir.path().join("dir")).unwrap();
    let expected: BTreeSet<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_encoded_bytes(), entry.ino()))
        .collect();
    let fd = open(
        dir.path(),
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
    )
    .unwrap();
    let mut records = Records::default();
    records.reserve(1024);
    while records.fill(&fd).unwrap() > 0 {
        records.index().unwrap();
        records.reserve(records.room() + 1024 - records.room_left());
    }
    let found: BTreeSet<_> = (0..records.len())
        .map(|index| (records.name(index).to_bytes().to_vec(), records.ino(index)))
        .collect();
    assert_eq!(found.len(), records.len());
    assert_eq!(found, expected);
    assert!(records.has_type(RawFileType::Directory));
    assert!(!records.has_type(RawFileType::Symlink));
    records.clear();
    assert!(records.is_empty() && records.room_left() == records.room());
}

#[test]
fn inode_numbers_in_order() {
    let mut records = Records::default();
    for (ino, name) in [(30, c"a"), (7, c"b"), (12, c"c")] {
        records.push(name, RawFileType::Regular, ino, 0);
    }
    records.sort_by_ino();
    let found: Vec<_> = (0..3).map(|i| (records.name(i), records.ino(i))).collect();
    assert_eq!(found, [(c"b", 7), (c"c", 12), (c"a", 30)]);
}

#[test]
fn what_is_pushed_sorted_and_split_stays_itself() {
    let mut records = Records::default();
    for (ino, name) in [(3, c"c"), (2, c"bb"), (1, c"aaa")] {
        records.push(name, RawFileType::Regular, ino, -5);
    }
    records.sort_by_name();
    let part = records.split_off(1);
    assert_eq!(
        (records.len(), records.name(0), records.ino(0)),
        (1, c"aaa", 1)
    );
    let names: Vec<_> = (0..2)
        .map(|i| (part.name(i), part.ino(i), part.cookie(i)))
        .collect();
    assert_eq!(names, [(c"bb", 2, -5), (c"c", 3, -5)]);
}

#[test]
fn bytes_that_are_no_records_are_an_error_and_what_was_before_stays() {
    let mut records = Records::default();
    records.push(c"before", RawFileType::Regular, 1, 1);
    records.bytes.extend([0; 40]);
    records.filled += 40;
    assert_eq!(records.index(), Err(DirentError::BadLength));
    assert_eq!(records.len(), 1);
    assert_eq!(records.index(), Ok(()));
}

/// A record of `getdents64`.
fn record(name: &[u8], cookie: i64) -> Vec<u8> {
    let length = (HEADER + name.len() + 1).next_multiple_of(ALIGN);
    let mut bytes = 7_u64.to_ne_bytes().to_vec();
    bytes.extend(cookie.to_ne_bytes());
    bytes.extend(u16::try_from(length).unwrap().to_ne_bytes());
    bytes.push(libc::DT_REG);
    bytes.extend(name);
    bytes.resize(length, 0);
    bytes
}

#[test]
fn a_cookie_is_that_of_the_entry_that_follows() {
    let mut records = Records::default();
    records.reserve(1024);
    let listed = [
        (&b"."[..], 10),
        (b"a", 20),
        (b"..", 30),
        (b"b", 40),
        (b"c", 50),
        (b".", 60),
        (b"..", 70),
    ];
    for (name, cookie) in listed {
        let bytes = record(name, cookie);
        let filled = records.fill_with(|room| {
            room[..bytes.len()].copy_from_slice(&bytes);
            Ok::<_, ()>(bytes.len())
        });
        filled.unwrap();
    }
    records.index().unwrap();
    let found: Vec<_> = (0..records.len())
        .map(|index| (records.name(index), records.cookie(index)))
        .collect();
    assert_eq!(found, [(c"a", 30), (c"b", 40), (c"c", 70)]);
}
