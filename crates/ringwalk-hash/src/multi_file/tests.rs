#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;
use crate::OpenRoot;
use ringwalk::time_stamps::StampClocks;
use std::fs;
use std::path::Path;

fn contents(at: usize) -> Vec<u8> {
    // Some are larger than all that is read at once, and one is empty.
    let size = if at % 40 == 7 {
        MULTI_BYTES as usize + at
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
        OpenFile::open(&root, Path::new(&at.to_string()), &StampClocks::default()).unwrap()
    };
    let mut reader = MultiFileReader::default();
    for count in [0, 1, 2, 3 * MULTI_FILES + 5] {
        let files: Vec<OpenFile> = (0..count).map(open).collect();
        let mut given = vec![0; count];
        let mut read = 0;
        reader.read(&files, |at, bytes| {
            given[at] += 1;
            if let Some(bytes) = bytes {
                assert_eq!(bytes, contents(at), "{at}");
                read += 1;
            }
        });
        assert!(given.iter().all(|times| *times == 1));
        // A ring may be refused here.
        if count > 2 && matches!(reader.ring, Ring::Ready(_)) {
            let fits = |at: &usize| (1..=MULTI_BYTES).contains(&(contents(*at).len() as u64));
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
        OpenFile::open(&root, Path::new(name), &StampClocks::default()).unwrap()
    };
    let files: Vec<OpenFile> = names.iter().map(open).collect();
    fs::write(folder.path().join("longer"), "contents and more").unwrap();
    fs::write(folder.path().join("shorter"), "cont").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let mut found = [false; 4];
    let mut reader = MultiFileReader::default();
    reader.read(&files, |at, bytes| found[at] = bytes.is_some());
    let is_there = matches!(reader.ring, Ring::Ready(_));
    assert_eq!(found, [is_there, false, false, false]);
}

#[test]
fn one_call_takes_as_many_files_and_bytes_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = OpenRoot::open(folder.path()).unwrap();
    let size = MULTI_BYTES as usize / MULTI_FILES;
    let open = |at: usize| {
        fs::write(folder.path().join(at.to_string()), vec![1; size]).unwrap();
        OpenFile::open(&root, Path::new(&at.to_string()), &StampClocks::default()).unwrap()
    };
    let mut reader = MultiFileReader::default();
    // None of them is left alone.
    for count in [MULTI_FILES, MULTI_FILES + 2] {
        let files: Vec<OpenFile> = (0..count).map(open).collect();
        let mut read = 0;
        reader.read(&files, |_, bytes| read += usize::from(bytes.is_some()));
        if matches!(reader.ring, Ring::Ready(_)) {
            assert_eq!(read, count);
        }
    }
}

#[test]
fn limits_of_sizes() {
    let at_most = u32::try_from(MULTI_BYTES).unwrap();
    assert_eq!(length_of_read(0), None);
    assert_eq!(length_of_read(1), Some(2));
    assert_eq!(length_of_read(MULTI_BYTES), Some(at_most + 1));
    assert_eq!(length_of_read(MULTI_BYTES + 1), None);
    assert_eq!(length_of_read(u64::MAX - 1), None);
}
