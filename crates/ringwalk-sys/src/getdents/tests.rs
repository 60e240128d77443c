//! Unit tests of `getdents.rs`.

use super::*;
use crate::Dirents;
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn small_and_large_buffers_agree_with_read_dir() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..300 {
        fs::write(dir.path().join(format!("file-{i}")), b"").unwrap();
    }
    let expected: BTreeSet<Vec<u8>> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_encoded_bytes())
        .collect();
    for size in [280, 4096, 1 << 20] {
        let fd = open(
            dir.path(),
            OFlags::RDONLY | OFlags::DIRECTORY,
            Mode::empty(),
        )
        .unwrap();
        let mut buffer = vec![0; size];
        let mut names = BTreeSet::new();
        loop {
            let filled = getdents64(&fd, &mut buffer).unwrap();
            if filled == 0 {
                break;
            }
            for dirent in Dirents::new(&buffer[..filled]) {
                let dirent = dirent.unwrap();
                if !dirent.is_dot() {
                    assert!(names.insert(dirent.name().to_bytes().to_vec()));
                }
            }
        }
        assert_eq!(names, expected);
    }
}

#[test]
fn errors_are_the_kernels() {
    let dir = tempfile::tempdir().unwrap();
    let fd = open(
        dir.path(),
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
    )
    .unwrap();
    assert_eq!(getdents64(&fd, &mut [0; 8]), Err(Errno::INVAL));
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let fd = open(&file, OFlags::RDONLY, Mode::empty()).unwrap();
    assert_eq!(getdents64(&fd, &mut [0; 512]), Err(Errno::NOTDIR));
    let gone = dir.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let fd = open(&gone, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    fs::remove_dir(&gone).unwrap();
    assert_eq!(getdents64(&fd, &mut [0; 512]), Err(Errno::NOENT));
}
