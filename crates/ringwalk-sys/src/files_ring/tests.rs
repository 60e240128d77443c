use super::*;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns a ring, or `None` where the system refuses rings.
fn ring(depth: u32, size: usize) -> Option<FilesRing> {
    match FilesRing::new(depth, size) {
        Ok(ring) => Some(ring),
        Err(Errno::NOSYS | Errno::PERM | Errno::NOMEM) => None,
        Err(errno) => panic!("{errno}"),
    }
}

fn file_of(byte: u8, size: usize) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![byte; size]).unwrap();
    file
}

fn reads(files: &[File], len: u32) -> Vec<FileRead<'_>> {
    let read = |file| FileRead { file, len };
    files.iter().map(|file| read(file.as_fd())).collect()
}

#[test]
fn each_file_has_its_own_bytes() {
    let Some(mut ring) = ring(8, 8192) else {
        return;
    };
    let mut results = Vec::new();
    // Also again with the same ring, and with other files.
    for round in 0..3 {
        let files: Vec<File> = (0..8).map(|at| file_of(round * 8 + at, 100)).collect();
        ring.read(&reads(&files, 1000), &mut results).unwrap();
        assert_eq!(results.len(), 8);
        for (result, byte) in results.iter().zip(round * 8..) {
            let range = result.clone().unwrap();
            // Less than what was asked for: the file ends there.
            assert_eq!(range.len(), 100);
            assert!(ring.bytes()[range].iter().all(|found| *found == byte));
        }
    }
    ring.read(&[], &mut results).unwrap();
    assert!(results.is_empty());
}

#[test]
fn a_file_that_fails_leaves_the_others() {
    let Some(mut ring) = ring(4, 4096) else {
        return;
    };
    let folder = File::open("/").unwrap();
    let files = [file_of(1, 10), folder, file_of(2, 0), file_of(3, 10)];
    let mut results = Vec::new();
    ring.read(&reads(&files, 10), &mut results).unwrap();
    assert_eq!(
        results,
        [Ok(0..10), Err(Errno::ISDIR), Ok(128..128), Ok(192..202)]
    );
    assert_eq!(ring.bytes()[192..202], [3; 10]);
}

#[test]
fn more_than_the_ring_has_room_for_is_refused() {
    let Some(mut ring) = ring(2, 4096) else {
        return;
    };
    let files: Vec<File> = (0..3).map(|byte| file_of(byte, 10)).collect();
    let mut results = Vec::new();
    for (files, len) in [(&files[..], 10), (&files[..2], 2049)] {
        let refused = AssertUnwindSafe(|| ring.read(&reads(files, len), &mut results));
        assert!(catch_unwind(refused).is_err());
    }
    // Nothing was submitted.
    ring.read(&reads(&files[1..], 2048), &mut results).unwrap();
    assert_eq!(results, [Ok(0..10), Ok(2048..2058)]);
}

#[test]
fn wrong_sizes_are_refused() {
    for (depth, size) in [(0, 100), (1, 0), (u32::MAX, 100)] {
        match FilesRing::new(depth, size) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::PERM) => {}
            other => panic!("{other:?}"),
        }
    }
}
