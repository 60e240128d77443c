use super::*;
use crate::{Entry, TreeBuilder, WriteOptions};
use ringwalk::FileType;
use std::fs;

fn snapshot(path: &Path) {
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
        .unwrap();
    tree.file(&Entry::new(b"f", FileType::Regular)).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), path).unwrap();
}

fn reason(path: &Path) -> String {
    let error = Snapshot::open(path).unwrap_err();
    assert!(error.to_string().contains(path.to_str().unwrap()));
    error.reason()
}

#[test]
fn files_that_are_no_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    assert!(reason(&path).contains("No such file"));
    assert!(reason(folder.path()).contains("no regular file"));
    for text in [
        "",
        "PAR1",
        "no snapshot at all, but long enough to be one",
        "PAR1\0\0\0\0PAR1",
    ] {
        fs::write(&path, text).unwrap();
        let reason = reason(&path);
        assert!(
            reason.contains("no snapshot") || reason.contains("damaged"),
            "{reason}"
        );
    }
}

#[test]
fn files_that_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        reason(&path);
    }
}

#[test]
fn unsigned_numbers_of_32_bits_have_no_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut entry = Entry::new(b"", FileType::Directory);
    entry.attributes.uid = Some(u32::MAX);
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &entry).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let mut scan = snapshot.scan(0..1, &[Column::Uid]).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.integer(Column::Uid, 0), Some(u32::MAX.into()));
}
