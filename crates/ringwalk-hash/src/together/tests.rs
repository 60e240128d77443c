#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;
use crate::OpenRoot;
use std::fs;
use std::path::Path;

fn contents(at: usize) -> Vec<u8> {
    // Some are larger than all that is read at once, and one is empty.
    let size = if at % 40 == 7 {
        BYTES_TOGETHER + at
    } else {
        at * 997 % 30_000
    };
    (0..size).map(|byte| (byte / 100 + at) as u8).collect()
}

#[test]
fn each_file_is_given_once_with_its_contents() {
    let folder = tempfile::tempdir().unwrap();
    let root = OpenRoot::open(folder.path()).unwrap();
    let open = |at: usize| {
        fs::write(folder.path().join(at.to_string()), contents(at)).unwrap();
        OpenFile::open(&root, Path::new(&at.to_string())).unwrap()
    };
    let mut together = Together::default();
    for count in [0, 1, 2, 3 * MOST_TOGETHER + 5] {
        let files: Vec<OpenFile> = (0..count).map(open).collect();
        let mut given = vec![0; count];
        let mut read = 0;
        together.read(&files, |at, bytes| {
            given[at] += 1;
            if let Some(bytes) = bytes {
                assert_eq!(bytes, contents(at), "{at}");
                read += 1;
            }
        });
        assert!(given.iter().all(|times| *times == 1));
        // A ring may be refused here.
        if count > 2 && matches!(together.ring, Ring::Ready(_)) {
            let fits = |at: &usize| (1..BYTES_TOGETHER).contains(&contents(*at).len());
            assert_eq!(read, (0..count).filter(fits).count());
        }
    }
}

#[test]
fn a_file_of_another_length_by_now_is_read_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let root = OpenRoot::open(folder.path()).unwrap();
    let names = ["same", "longer", "shorter", "empty"];
    let open = |name: &&str| {
        fs::write(folder.path().join(name), "contents").unwrap();
        OpenFile::open(&root, Path::new(name)).unwrap()
    };
    let files: Vec<OpenFile> = names.iter().map(open).collect();
    fs::write(folder.path().join("longer"), "contents and more").unwrap();
    fs::write(folder.path().join("shorter"), "cont").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let mut found = [false; 4];
    let mut together = Together::default();
    together.read(&files, |at, bytes| found[at] = bytes.is_some());
    let is_there = matches!(together.ring, Ring::Ready(_));
    assert_eq!(found, [is_there, false, false, false]);
}

#[test]
fn spare_files_come_back() {
    let spare = SpareFiles(AtomicUsize::new(10));
    let first = spare.take(7);
    assert_eq!(first.count(), 7);
    {
        let second = spare.take(7);
        assert_eq!((second.count(), spare.take(1).count()), (3, 0));
    }
    assert_eq!(spare.take(7).count(), 3);
    drop(first);
    assert_eq!(spare.take(usize::MAX).count(), 10);
}
